#!/usr/bin/env python3
"""Compares flambeau's pickle machine and disassembler with CPython's own.

The program `pickle_dump` (environment variable FLAMBEAU_PICKLE_DUMP, or the first argument) answers
for each pickle with its graph and its disassembly. Here the same pickle goes through
`pickle.Unpickler`, with classes that only record what is done to them, and `pickletools.dis`. The
texts must be equal, identity of objects included, and so must be the decision whether a pickle is
accepted. What may differ stands in reviewed_differences.py, with the reason.

Which CPython runs this matters little: the rules compared have been the same since 3.8.
"""
import itertools
import os
import pickle
import random
import resource
import struct
import subprocess
import sys
import threading
import unicodedata
import unittest
import warnings

import sample_pickles
from recorded_unpickling import CUnpickler, disassembly, outcome
from reviewed_differences import REVIEWED, refused

PROGRAM = os.environ.get("FLAMBEAU_PICKLE_DUMP", "")
SEED = int(os.environ.get("FLAMBEAU_SEED", "1"))
REFUSALS = ("!malformed_pickle\n", "!truncated\n", "!limit\n", "!unsupported\n")
# CPython's memo is an array as long as the largest index: it must not take all memory.
MOST_MEMORY = 4 << 30


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, questions):
        """The answers to (letter, pickle) pairs, as text."""
        return [answer.decode("utf-8", "surrogatepass") for answer in self.ask_bytes(questions)]

    def ask_bytes(self, questions):
        """The answers as they come. A thread writes, lest both pipes get stuck."""
        writer = threading.Thread(target=self.write, args=(questions,))
        writer.start()
        answers = [self.read() for _ in questions]
        writer.join()
        return answers

    def write(self, questions):
        for letter, data in questions:
            self.process.stdin.write(letter + struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()

    def read(self):
        size, = struct.unpack("<I", self.process.stdout.read(4))
        return self.process.stdout.read(size)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


class Differential(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(PROGRAM)
        cls.all_used = set()
        cls.tests = 0
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.RLIM_INFINITY))
        warnings.simplefilter("ignore")  # Python warns of `\q` in strings.

    @classmethod
    def tearDownClass(cls):
        assert cls.program.close() == 0
        unused = [name for name, _, _ in REVIEWED if name not in cls.all_used]
        ran_all = cls.tests == len(unittest.TestLoader().getTestCaseNames(cls))
        assert not (ran_all and unused), "no pickle shows these differences: %s" % unused

    def setUp(self):
        type(self).tests += 1

    def check(self, pickles, may_differ=True):
        """How many of the pickles are accepted, and how many there are."""
        accepted = total = 0
        self.differences = []
        self.used = set()
        pickles = iter(pickles)
        while batch := list(itertools.islice(pickles, 200)):
            total += len(batch)
            questions = [(letter, data) for data in batch for letter in (b"d", b"g")]
            answers = self.program.ask(questions)
            for data, lines, graph in zip(batch, answers[::2], answers[1::2]):
                self.check_disassembly(data, lines)
                accepted += self.check_graph(data, graph)
        self.assertTrue(may_differ or not self.used, self.used)
        self.all_used.update(self.used)
        if self.differences:
            shown = "\n".join(self.differences[:20])
            self.fail("%d differences\n%s" % (len(self.differences), shown))
        return accepted, total

    def expect_equal(self, what, data, ours, theirs):
        if ours == theirs:
            return
        same = len(os.path.commonprefix([ours, theirs]))
        start = ours.rfind("\n", 0, same) + 1
        self.differences.append("%s of %r\n  ours   %.500s\n  theirs %.500s" % (
            what, data[:500], ours[start:], theirs[start:]))

    def check_disassembly(self, data, lines):
        expected, ended_well = disassembly(data)
        if not ended_well:
            end = lines.rfind("!")
            self.assertIn(lines[end:], REFUSALS, data)
            lines = lines[:end]
        self.expect_equal("disassembly", data, lines, expected)

    def check_graph(self, data, ours):
        """Whether flambeau accepts the pickle."""
        theirs = outcome(CUnpickler, data)
        if refused(ours):
            self.assertIn(ours, REFUSALS, data)
        if ours == theirs or (refused(ours) and refused(theirs)):
            return not refused(ours)
        reviewed = [name for name, _, applies in REVIEWED if applies(data, ours, theirs)]
        self.used.update(reviewed)
        if not reviewed:
            self.expect_equal("graph", data, ours, repr(theirs))
        return not refused(ours)

    def test_graphs(self):
        accepted, _ = self.check(sample_pickles.pickles_of_graphs(random.Random(SEED), 2000),
                                 may_differ=False)
        self.assertGreater(accepted, 3000)

    def check_written(self, pickles):
        """Writing what was read gives the same bytes, where the C pickler wrote them."""
        total = 0
        pickles = iter(pickles)
        while batch := list(itertools.islice(pickles, 200)):
            total += len(batch)
            answers = self.program.ask_bytes([(b"w", data) for data in batch])
            for data, ours in zip(batch, answers):
                if ours != data and not sample_pickles.drops_a_call(data):
                    same = len(os.path.commonprefix([ours, data]))
                    self.fail("from byte %d on\n  ours   %r\n  theirs %r\n%s" % (
                        same, ours[same:same + 200], data[same:same + 200],
                        disassembly(data)[0][:5000]))
        return total

    def test_written_graphs(self):
        pickles = list(sample_pickles.pickles_of_graphs(
            random.Random(SEED + 1), 6000, protocols=range(1, 6), pure_python=False))
        dropping = sum(map(sample_pickles.drops_a_call, pickles))
        self.assertLess(dropping, len(pickles) / 20)
        self.assertGreater(self.check_written(pickles), 5000)

    def test_written_batches(self):
        self.check_written(sample_pickles.batches())

    def test_written_frames(self):
        self.check_written(sample_pickles.frames())

    def test_written_recursions(self):
        self.check_written(sample_pickles.recursions())

    def test_long_containers(self):
        accepted, total = self.check(sample_pickles.long_containers(), may_differ=False)
        self.assertEqual(accepted, total)

    def test_short_sequences(self):
        accepted, _ = self.check(sample_pickles.short_sequences(random.Random(SEED), 20000))
        self.assertGreater(accepted, 1000)

    def test_programs(self):
        accepted, _ = self.check(sample_pickles.programs(random.Random(SEED), 20000))
        self.assertGreater(accepted, 2000)

    def test_mutations(self):
        accepted, total = self.check(sample_pickles.mutations(random.Random(SEED), 6000))
        self.assertGreater(accepted, 500)
        self.assertGreater(total - accepted, 500)

    def test_lines(self):
        accepted, _ = self.check(sample_pickles.lines())
        self.assertGreater(accepted, 100)

    def test_printable_characters(self):
        """`repr` of every character. Later versions of Unicode may print what Python's escapes."""
        for first in range(0, 0x110000, 0x1000):
            codes = range(first, first + 0x1000)
            data = b"(" + b"".join(pickle.dumps(chr(code), 4)[11:-2] for code in codes) + b"t."
            theirs = disassembly(data)[0].split("\n")
            ours = self.program.ask([(b"d", data)])[0].split("\n")
            self.assertEqual(len(ours), len(theirs))
            for code, mine, expected in zip(codes, ours[1:], theirs[1:]):
                if mine != expected:
                    self.assertEqual(unicodedata.category(chr(code)), "Cn", hex(code))

    def test_odd_operands(self):
        self.check(sample_pickles.ODD_OPERANDS)


if __name__ == "__main__":
    if not PROGRAM and len(sys.argv) > 1:
        PROGRAM = sys.argv.pop(1)
    if not PROGRAM:
        sys.exit("FLAMBEAU_PICKLE_DUMP does not name the program pickle_dump")
    unittest.main()
