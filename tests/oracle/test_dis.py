"""The disassembly equals the one of Python's pickletools."""
import os
import unittest

import program
from compare_dis import compare


class CarriedFiles(unittest.TestCase):
    def test_carried_files(self):
        files = program.carried_files()
        self.assertGreater(len(files), 50)
        lines = program.failures(compare, os.environ["FLAMBEAU_PROGRAM"], files)
        self.assertEqual(lines, [], "\n".join(lines[:40]))
        print(len(files), "files")
