"""Compares `flambeau tree --json` with the graph that Python's pickle machine rebuilds.

python compare_tree.py PROGRAM FILE...
"""
import program
from differences import differences
from tree import expected_tree


def compare(flambeau, path):
    actual = program.document(flambeau, "tree", "--json", path)
    actual.pop("file")
    return differences({"": expected_tree(path)}, {"": actual})


if __name__ == "__main__":
    program.main(compare)
