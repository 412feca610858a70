"""Compares `flambeau dis` with Python's pickletools, line by line.

python compare_dis.py PROGRAM FILE...
"""
import io
import itertools
import pickletools

import program
from archive import opened


def expected_dis(data):
    out = io.StringIO()
    pickletools.dis(data, out=out)
    return out.getvalue().encode("utf-8", "surrogatepass")


def compare(flambeau, path):
    expected = expected_dis(opened(path).pickle())
    actual = program.call(flambeau, "dis", path)
    if actual == expected:
        return []
    pairs = itertools.zip_longest(expected.split(b"\n"), actual.split(b"\n"))
    return [f"line {number}: expected {want!r}, got {got!r}"
            for number, (want, got) in enumerate(pairs, 1) if want != got][:3]


if __name__ == "__main__":
    program.main(compare)
