"""Compares `flambeau ls --json --digest` with what PyTorch loads.

python compare_ls.py PROGRAM FILE...
"""
import program
from differences import differences
from listing import expected_ls

FREE = ("file", "producer")


def compare(flambeau, path):
    actual = program.document(flambeau, "ls", "--json", "--digest", path)
    expected = expected_ls(path)
    lines = differences(expected, {key: value for key, value in actual.items() if key not in FREE})
    return lines + [f"no {key}" for key in FREE if not isinstance(actual.get(key), str)]


if __name__ == "__main__":
    program.main(compare)
