"""The oracle itself: it finds what is wrong, and Python's machine keeps what pickles keep."""
import collections
import pickle
import unittest

from differences import ANY, differences
from recorder import record
from tree import Tree

ROW = {"kind": "strided", "dtype": "float32", "shape": [2], "stride": [1]}


def tree(value, protocol=2):
    return Tree().value(record(pickle.dumps(value, protocol)))


class Differences(unittest.TestCase):
    def found(self, expected, actual):
        return differences({"top": expected}, {"top": actual})

    def test_equal_documents(self):
        self.assertEqual(self.found({"id": 0, "list": [1, "a", None]},
                                    {"list": [1, "a", None], "id": 0}), [])
        self.assertEqual(self.found([ANY, 1], [{"x": 2}, 1]), [])

    def test_values_and_their_types(self):
        self.assertEqual(self.found([1, 2], [1, 3]), [".top[1]: expected 2, got 3"])
        self.assertEqual(self.found(1, True), [".top: expected 1, got True"])
        self.assertEqual(self.found(1, 1.0), [".top: expected 1, got 1.0"])
        self.assertEqual(self.found("a", None), [".top: expected 'a', got None"])

    def test_lengths(self):
        self.assertEqual(self.found([1], [1, 2]), [".top: expected 1 items, got 2"])

    def test_keys(self):
        self.assertEqual(self.found({"a": 1}, {"a": 1, "b": 2}),
                         [".top: expected keys ['a'], got ['a', 'b']"])
        self.assertEqual(self.found({"a": 1}, {}), [".top: expected keys ['a'], got []"])

    def test_rows_may_have_more_keys(self):
        self.assertEqual(self.found(ROW, {**ROW, "producer": "x"}), [])
        self.assertEqual(len(self.found({**ROW, "offset": 0}, ROW)), 1)


class Identity(unittest.TestCase):
    def test_shared_and_cyclic(self):
        inner = [1]
        top = [inner, inner]
        top.append(top)
        self.assertEqual(tree(top), {"id": 0, "list": [{"id": 1, "list": [1]}, {"ref": 1},
                                                       {"ref": 0}]})

    def test_empty_tuples_and_short_bytes_are_objects(self):
        self.assertEqual(tree([(), ()]), {"id": 0, "list": [{"id": 1, "tuple": []},
                                                            {"id": 2, "tuple": []}]})
        self.assertEqual(tree([b"a", bytes([97])], 4)["list"][0], {"id": 1, "bytes": "YQ=="})

    def test_sets_keep_the_order_of_the_file(self):
        self.assertEqual(tree({3}, 4), {"id": 0, "set": [3]})
        self.assertEqual(tree(frozenset(["x"]), 2), {"id": 0, "frozenset": ["x"]})

    def test_objects_are_not_made(self):
        made = tree(collections.deque([1], 2))
        self.assertEqual(made["object"]["callable"], {"global": ["collections", "deque"]})
        self.assertEqual(made["object"]["list_items"], [1])


if __name__ == "__main__":
    unittest.main()
