"""Files that this PyTorch has just written: listing, values, graph and disassembly."""
import os
import tempfile
import unittest
import warnings

import compare_dis
import compare_ls
import compare_resave
import compare_tree
import fresh_streams
import make_fresh
import program


class Fresh:
    """Tests of the files that `write` gives."""

    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        cls.folder = tempfile.TemporaryDirectory()
        cls.write()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def same(self, compare):
        lines = program.failures(compare, os.environ["FLAMBEAU_PROGRAM"], self.files)
        self.assertEqual(lines, [], "\n".join(lines[:40]))

    def test_listing(self):
        self.same(compare_ls.compare)

    def test_graph(self):
        self.same(compare_tree.compare)

    def test_disassembly(self):
        self.same(compare_dis.compare)


class FreshFiles(Fresh, unittest.TestCase):
    @classmethod
    def write(cls):
        cls.files, cls.left_out = make_fresh.write(cls.folder.name)

    def test_all_were_written(self):
        self.assertEqual(self.left_out, [])
        self.assertGreater(len(self.files), 500)


class FreshStreams(Fresh, unittest.TestCase):
    @classmethod
    def write(cls):
        cls.files = fresh_streams.write(cls.folder.name)

    def test_all_were_written(self):
        self.assertGreater(len(self.files), 400)

    def test_saved_again(self):
        self.same(compare_resave.compare)
