"""Decoding a file to its graph and encoding it again gives the same bytes.

python compare_resave.py PROGRAM FILE...
"""
import os
import subprocess
import tempfile

import program


def compare(flambeau, path):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "again.pt")
        done = subprocess.run([flambeau, "resave", path, out, "--durability", "none"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return [done.stderr.strip()]
        with open(path, "rb") as file, open(out, "rb") as copy:
            expected, actual = file.read(), copy.read()
    if actual == expected:
        return []
    same = len(os.path.commonprefix([actual, expected]))
    return [f"{len(actual)} bytes instead of {len(expected)}, other from byte {same} on: "
            f"{actual[same:same + 40]!r}, not {expected[same:same + 40]!r}"]


if __name__ == "__main__":
    program.main(compare)
