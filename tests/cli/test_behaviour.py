"""What golden files cannot show: streams that fail, terminals, odd file names, and scripts that are
made from the tables. Run with FLAMBEAU_PROGRAM set."""
import fcntl
import hashlib
import json
import os
import pty
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import make_odd_files

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
DATA = os.environ.get("FLAMBEAU_TEST_DATA", os.path.join(HERE, "..", "data"))
PROGRAM = os.path.abspath(os.environ.get("FLAMBEAU_PROGRAM", "flambeau"))
CHECKPOINT = os.path.join(DATA, "2.15.0", "checkpoint.pt")


def run(*arguments, **options):
    options = {"capture_output": True, "timeout": 120, "check": False, **options}
    return subprocess.run([PROGRAM, *arguments], **options)


def run_on_terminal(*arguments, columns=60, variables=None):
    """What a terminal of so many columns is sent."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", **(variables or {})}
    process = subprocess.Popen([PROGRAM, *arguments], stdout=follower, stderr=subprocess.PIPE,
                               env=environment)
    os.close(follower)
    output = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not part:
            break
        output += part
    os.close(leader)
    process.communicate()
    return output.decode().replace("\r\n", "\n"), process.returncode


def digest_of(path):
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).digest()


def no_literal(name):
    raise ValueError(f"{name} is no JSON")


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        make_odd_files.make(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)


class Streams(Folder):
    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = run("ls", CHECKPOINT, stdout=full, stderr=subprocess.PIPE, capture_output=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"flambeau: standard output: No space left on device\n")

    def test_closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = run("ls", "--json", CHECKPOINT, stdout=writer, stderr=subprocess.PIPE,
                   capture_output=False)
        os.close(writer)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"flambeau: standard output: Broken pipe\n")

    def test_closed_output(self):
        done = run("ls", CHECKPOINT, stdout=None, stderr=subprocess.PIPE, capture_output=False,
                   preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"flambeau: standard output: ", done.stderr)

    def test_closed_output_does_not_write_into_files(self):
        out = self.path("out.bin")
        for options, status in ((["--json"], 2), (["--force"], 0)):
            done = run("get", self.path("unreached.pt"), "w", "-o", out, *options, stdout=None,
                       stderr=subprocess.PIPE, capture_output=False,
                       preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, status, options)
            with open(out, "rb") as stream:
                self.assertEqual(stream.read(), make_odd_files.floats(1, 2))

    def test_closed_error(self):
        done = run("ls", "nowhere.pt", stdout=subprocess.PIPE, stderr=None, capture_output=False,
                   preexec_fn=lambda: os.close(2))
        self.assertEqual(done.returncode, 2)

    def test_standard_input_from_a_pipe(self):
        with open(self.path("unreached.pt"), "rb") as stream:
            done = run("ls", "--digest", "--json", "-", input=stream.read())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["file"], "-")

    def test_standard_input_that_cannot_be_read(self):
        folder = os.open(self.folder, os.O_RDONLY)
        done = run("ls", "-", stdin=folder)
        os.close(folder)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith(b"flambeau: "), done.stderr)

    def test_standard_input_that_memory_has_no_room_for(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
        if run("help", preexec_fn=limit).returncode != 0:
            self.skipTest("the program itself needs more, as with sanitizers")
        large = os.path.join(self.folder, "large")
        with open(large, "wb") as stream:
            stream.write(b"PK\x03\x04")
            stream.truncate(1 << 30)
        with open(large, "rb") as stream:
            done = run("ls", "--json", "-", stdin=stream, preexec_fn=limit)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"flambeau: standard input: out of memory\n")
        self.assertEqual(json.loads(done.stdout)["error"]["code"], "limit")

    def test_no_standard_input(self):
        done = run("ls", "-", stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"flambeau: standard input: this is an empty file\n")


class Terminal(Folder):
    def test_names_give_way(self):
        output, status = run_on_terminal("ls", self.path("names.pt"), CHECKPOINT, columns=30)
        self.assertEqual(status, 1)
        output, status = run_on_terminal("ls", CHECKPOINT, columns=40)
        self.assertEqual(status, 0)
        rows = [line for line in output.splitlines() if "float32" in line]
        self.assertTrue(rows)
        self.assertLessEqual(max(map(len, rows)), 40)
        self.assertTrue(any("…" in row for row in rows))

    def test_colour(self):
        self.assertIn("\x1b[1m", run_on_terminal("ls", CHECKPOINT)[0])
        self.assertNotIn("\x1b", run_on_terminal("ls", CHECKPOINT, variables={"NO_COLOR": "1"})[0])
        self.assertNotIn("\x1b", run_on_terminal("ls", CHECKPOINT, variables={"TERM": "dumb"})[0])
        self.assertNotIn(b"\x1b", run("ls", CHECKPOINT).stdout)

    def test_nothing_from_a_file_is_obeyed(self):
        for arguments in (["ls"], ["ls", "-l"], ["ls", "--json"], ["tree"], ["tree", "--json"],
                          ["info"], ["dis"]):
            output, status = run_on_terminal(*arguments, self.path("names.pt"),
                                             variables={"NO_COLOR": "1"})
            self.assertEqual(status, 0)
            bad = [c for c in output if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)
                   or 0x202A <= ord(c) <= 0x202E]
            self.assertEqual(bad, [], arguments)


class Files(Folder):
    def test_odd_names(self):
        for name in (b"-dash.pt", b"two words.pt", b"\xff\xfe.pt", b"@file.pt", b"[b].pt",
                     "žluť.pt".encode()):
            path = os.path.join(os.fsencode(self.folder), name)
            shutil.copy(self.path("unreached.pt"), path)
            for arguments in ((path,), (b"--", name)):
                done = run("ls", "--json", *arguments, cwd=self.folder)
                self.assertEqual(done.returncode, 0, (name, done.stderr))
                self.assertEqual(len(json.loads(done.stdout)["tensors"]), 1)

    def test_empty_name(self):
        done = run("ls", "")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_names_with_controls_in_messages(self):
        done = run("ls", "no\x1b[31m\nwhere.pt")
        self.assertIn(b"no\\x1b[31m\\nwhere.pt", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_output_replaced_only_by_force(self):
        path = self.path("model.npy")
        shutil.copy(self.path("unreached.pt"), path)
        before = digest_of(path)
        done = run("get", path, "w", "-o", path)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(digest_of(path), before)
        done = run("get", "--force", path, "w", "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as stream:
            content = stream.read()
        self.assertTrue(content.startswith(b"\x93NUMPY"))
        self.assertTrue(content.endswith(make_odd_files.floats(1, 2)))

    def test_long_names_do_not_flood_messages(self):
        path = self.path("long.pt")
        make_odd_files.checkpoint(path, {"n" * 1000000 + "." + str(i): i for i in range(2)})
        done = run("show", path, "['" + "n" * 100000)
        self.assertEqual(done.returncode, 1)
        self.assertLess(len(done.stderr), 5000)

    def test_failures_leave_nothing(self):
        before = sorted(os.listdir(self.folder))
        for arguments in (("flipped.pt", "bad", "-o", "out.npy"),
                          ("missing.pt", "gone", "-o", "out.bin"),
                          ("expanded.pt", "huge", "-o", "out.bin"),
                          ("unreached.pt", "nothing", "-o", "out.npy")):
            self.assertNotEqual(run("get", *arguments, cwd=self.folder).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class Documents(Folder):
    def checkpoints(self):
        for top in (DATA, self.folder):
            for folder, _, names in os.walk(top):
                yield from (os.path.join(folder, name) for name in sorted(names)
                            if name.endswith(".pt"))

    def test_every_answer_is_one_document(self):
        for path in self.checkpoints():
            for command in ("ls", "tree", "info", "dis"):
                done = run(command, "--json", path)
                self.assertIn(done.returncode, (0, 1, 2), (command, path))
                document = json.loads(done.stdout, parse_constant=no_literal)
                self.assertEqual("error" in document, done.returncode != 0, (command, path))
                self.assertEqual(done.stderr.count(b"\n"), int(done.returncode != 0))

    def test_every_row_can_be_shown(self):
        for name in ("views", "sparse", "quantized", "math_bits", "checkpoint"):
            path = os.path.join(DATA, "2.15.0", name + ".pt")
            for row in json.loads(run("ls", "--json", path).stdout)["tensors"]:
                for way in (row["name"], row["path"]):
                    done = run("show", "--json", path, way)
                    self.assertEqual(done.returncode, 0, (path, way, done.stderr))
                    self.assertEqual(json.loads(done.stdout)["shape"], row["shape"])


class Tables(unittest.TestCase):
    def test_version(self):
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"^flambeau \d+\.\d+\.\d+\n$")

    def test_man_page_is_current(self):
        with open(os.path.join(TOP, "docs", "man", "flambeau.1"), "rb") as stream:
            carried = stream.read()
        self.assertEqual(run("help", "--man").stdout, carried,
                         "`flambeau help --man > docs/man/flambeau.1` makes it anew")

    def test_man_page_is_roff(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        page = run("help", "--man").stdout
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True,
                              check=True)
        self.assertEqual(done.stderr, b"")
        self.assertIn(b"flambeau get", done.stdout)

    def test_help_fits_80_columns(self):
        commands = [line.split()[0] for line in run("help").stdout.decode().splitlines()
                    if line.startswith("  ")]
        self.assertIn("ls", commands)
        for command in commands:
            text = run("help", command).stdout.decode()
            self.assertIn(f"Usage: flambeau {command}", text)
            self.assertEqual(text, run(command, "--help").stdout.decode())
            wide = [line for line in text.splitlines() if len(line) > 80]
            self.assertEqual(wide, [], command)

    def complete_in_bash(self, *words):
        script = run("completions", "bash").stdout.decode()
        quoted = " ".join(f"'{word}'" for word in words)
        script += f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _flambeau\n"
        script += 'echo "${COMPREPLY[@]}"\n'
        done = subprocess.run(["bash", "--norc"], input=script.encode(), capture_output=True,
                              check=True)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().split()

    def test_bash_completes(self):
        self.assertEqual(self.complete_in_bash("flambeau", "sh"), ["show"])
        self.assertEqual(self.complete_in_bash("flambeau", "ls", "--di"), ["--digest"])
        self.assertEqual(self.complete_in_bash("flambeau", "get", "--durability", ""),
                         ["none", "file", "full"])
        self.assertEqual(self.complete_in_bash("flambeau", "completions", "z"), ["zsh"])
        self.assertEqual(self.complete_in_bash("flambeau", "help", "in"), ["info"])

    def test_other_shells_take_their_scripts(self):
        for shell in ("zsh", "fish"):
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=run("completions", shell).stdout, check=True)


if __name__ == "__main__":
    sys.exit(unittest.main())
