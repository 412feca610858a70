"""Files that PyTorch wrote come out byte for byte the same when they are decoded and encoded again.

Of the carried files those of libtorch's C++ pickler do not, which writes storages before the pickle
and has a memo and batches of its own.
"""
import os
import tempfile
import unittest
import warnings

import compare_resave
import make_fresh
import program
from archive import Archive, is_stream

FLAMBEAU = os.environ["FLAMBEAU_PROGRAM"]


def is_of_cpp_pickler(path):
    if is_stream(path):
        return False
    names = Archive(path).names
    return any(name.split("/", 1)[-1].startswith("data/")
               for name in names[:names.index(f"{names[0].split('/')[0]}/data.pkl")])


class Resave(unittest.TestCase):
    def test_carried_files(self):
        files = program.carried_files()
        self.assertGreater(len(files), 50)
        files = [path for path in files if not is_of_cpp_pickler(path)]
        lines = program.failures(compare_resave.compare, FLAMBEAU, files)
        self.assertEqual(lines, [], "\n".join(lines[:40]))
        print(len(files), "files")

    def test_fresh_files(self):
        warnings.simplefilter("ignore")
        with tempfile.TemporaryDirectory() as folder:
            files, _ = make_fresh.write(folder)
            # Those whose archive was changed by hand are no longer as PyTorch writes them.
            files = [path for path in files
                     if not os.path.basename(path).startswith("archive_")]
            self.assertGreater(len(files), 500)
            lines = program.failures(compare_resave.compare, FLAMBEAU, files)
            self.assertEqual(lines, [], "\n".join(lines[:40]))
