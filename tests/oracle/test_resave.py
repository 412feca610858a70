"""Files that PyTorch wrote come out byte for byte the same when they are decoded and encoded again.

Of the carried files two kinds do not, and it is known why:
  - those of libtorch's C++ pickler, which writes storages before the pickle and has a memo and
    batches of its own;
  - those that PyTorch wrote on macOS: the first half of `.data/serialization_id` is made by hashes
    of the C++ standard library there.
"""
import os
import tempfile
import unittest
import warnings

import compare_resave
import make_fresh
import program
from archive import Archive

FLAMBEAU = os.environ["FLAMBEAU_PROGRAM"]
HALF = 20  # digits of the id that are made of names


def is_of_cpp_pickler(path):
    names = Archive(path).names
    return any(name.split("/", 1)[-1].startswith("data/")
               for name in names[:names.index(f"{names[0].split('/')[0]}/data.pkl")])


def records(path, folder):
    """Every record but the half of the id that the platform decides."""
    copy = os.path.join(folder, "copy.pt")
    program.call(FLAMBEAU, "resave", path, copy, "--durability", "none", "--force")
    both = []
    for each in (path, copy):
        archive = Archive(each)
        content = {name: archive.zip.read(name) for name in archive.names}
        identity = f"{archive.folder}/.data/serialization_id"
        content[identity] = content.get(identity, b"")[HALF:]
        both.append((archive.names, content))
    return both


class Resave(unittest.TestCase):
    def test_carried_files(self):
        files = program.carried_files()
        self.assertGreater(len(files), 50)
        other = [path for path in files if compare_resave.compare(FLAMBEAU, path)
                 and not is_of_cpp_pickler(path)]
        with tempfile.TemporaryDirectory() as folder:
            for path in other:
                original, copy = records(path, folder)
                self.assertEqual(original, copy, path)
        print(len(files), "files,", len(other), "with the id of another platform")

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
