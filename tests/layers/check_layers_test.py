"""Each rule of layers.txt is broken once, in a tree made for it: check_layers.py has to say so."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_layers.py")


def check(path, text):
    """The script's lines for a tree with this one file."""
    with tempfile.TemporaryDirectory() as top:
        full = os.path.join(top, path)
        os.makedirs(os.path.dirname(full))
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        run = subprocess.run([sys.executable, SCRIPT, top], capture_output=True, text=True)
        return run.returncode, run.stdout.splitlines()


class Rules(unittest.TestCase):
    def refused(self, path, text, message):
        status, lines = check(path, text)
        self.assertEqual(lines, [f"{path}:1: {message}", "1 files, 1 violations"])
        self.assertEqual(status, 1)

    def accepted(self, path, text):
        self.assertEqual(check(path, text), (0, ["1 files, 0 violations"]))

    def test_layers(self):
        self.accepted("src/torch/a.cc", '#include "zip/records.h"\n#include "torch/b.h"\n')
        self.refused("src/pickle/a.cc", '#include "zip/records.h"\n',
                     "pickle may not include zip/records.h (zip)")

    def test_installed_headers_belong_to_layers(self):
        self.accepted("src/zip/a.cc", '#include "flambeau/io.h"\n')
        self.refused("src/zip/a.cc", '#include "flambeau/pickle.h"\n',
                     "zip may not include flambeau/pickle.h (pickle)")
        self.refused("include/flambeau/io.h", '#include "flambeau/tensor.h"\n',
                     "io may not include flambeau/tensor.h (tensor)")
        self.refused("src/zip/a.cc", '#include "flambeau/secret.h"\n',
                     "flambeau/secret.h belongs to no layer of layers.txt")

    def test_operating_system(self):
        self.accepted("src/io/a.cc", "#include <sys/mman.h>\n")
        self.refused("src/zip/a.cc", "#include <unistd.h>\n",
                     "<unistd.h> is a header of the operating system")

    def test_third_party(self):
        self.accepted("src/zip/crc32.cc", "#include <isa-l/crc.h>\n")
        self.refused("src/zip/records.cc", "#include <isa-l/crc.h>\n",
                     "isa-l/crc.h may not be included here")
        self.refused("include/flambeau/io.h", "#include <fmt/format.h>\n",
                     "an installed header includes fmt/format.h")

    def test_users_see_installed_headers(self):
        self.accepted("cli/a.cc", "#include <flambeau/flambeau.h>\n#include <CLI/CLI.hpp>\n")
        self.refused("bench/a.cc", '#include "zip/records.h"\n',
                     "zip/records.h is not an installed header")

    def test_words(self):
        self.accepted("src/base/fail.h", "throw error;\n")
        self.refused("src/zip/a.cc", "throw 1;\n", "throw stands in src/base/fail.h only")
        self.refused("cli/a.cc", "isatty(1);\n", "isatty stands in cli/terminal.cc only")
        self.refused("src/pickle/a.cc", "// torch\n", "'torch' never stands in src/pickle")


if __name__ == "__main__":
    unittest.main()
