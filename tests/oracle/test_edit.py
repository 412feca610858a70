"""`flambeau edit` writes what torch.save writes for the object that Python has changed alike."""
import ast
import collections
import os
import subprocess
import tempfile
import unittest

import torch
from torch import nn

FLAMBEAU = os.environ["FLAMBEAU_PROGRAM"]


def checkpoint():
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7,
            "config": {"lr": 1e-3, "name": "small", "sizes": [3, 2, 1], "flags": (True, None)}}


class Holder:
    """A class that only Python knows; its attributes are its state."""

    def __init__(self):
        self.weight = torch.arange(4.0)
        self.note = "text"
        self.table = {0: "zero", 1: "one"}


class Slots:
    __slots__ = ("first", "second", "__dict__")

    def __init__(self):
        self.first, self.second, self.third = 1, torch.ones(2), "three"


def odd():
    shared = {"a": torch.zeros(2), "b": 1}
    return collections.OrderedDict([
        ("holder", Holder()), ("slots", Slots()), ("one", shared), ("two", shared),
        ("list", [torch.ones(1), 2, 3, 4]), ("tuple", (1, torch.ones(1), "x")),
        ("set", {5}), ("size", torch.Size([2, 3])), ("a.b", 1), ("x[0]", 2),
        ("counter", collections.Counter("aab")), ("default", collections.defaultdict(list, q=[1])),
        ("module", nn.Linear(2, 2))])


def rename(mapping, old, new):
    """The same mapping with one key changed at its place."""
    items = [(new if key == old else key, value) for key, value in mapping.items()]
    mapping.clear()
    mapping.update(items)


def drop_matching(mapping, start):
    for key in [key for key in mapping if key.startswith(start)]:
        del mapping[key]


def change_tuple(root, index, value):
    items = list(root["tuple"])
    items[index] = value
    root["tuple"] = tuple(items)


# Name: what is made, what the program is told, what Python does.
CASES = {
    "drop_a_branch": (checkpoint, ["--drop", "optimizer*"], lambda o: o.pop("optimizer")),
    "drop_tensors": (checkpoint, ["--drop", "model.0.*"], lambda o: drop_matching(o["model"], "0.")),
    "drop_by_path": (checkpoint, ["--drop", "['config']['lr']"], lambda o: o["config"].pop("lr")),
    "drop_integer_key": (checkpoint, ["--drop", "optimizer.state.1"],
                         lambda o: o["optimizer"]["state"].pop(1)),
    "drop_list_items": (odd, ["--drop", "list.[02]"],
                        lambda o: o["list"].__setitem__(slice(None), [2, 4])),
    "drop_shared": (odd, ["--drop", "one.a"], lambda o: o["one"].pop("a")),
    "drop_attribute": (odd, ["--drop", "holder.note"], lambda o: delattr(o["holder"], "note")),
    "drop_all_of_it": (odd, ["--drop", "*"], lambda o: o.clear()),
    "drop_dotted_key": (odd, ["--drop", "a.b"], lambda o: o.pop("a.b")),
    "drop_bracketed_key": (odd, ["--drop", "x[0]"], lambda o: o.pop("x[0]")),
    "drop_counted": (odd, ["--drop", "counter.(0).a"], lambda o: o["counter"].pop("a")),
    "drop_parameter": (odd, ["--drop", "module._parameters.bias"],
                       lambda o: o["module"]._parameters.pop("bias")),
    "rename_keys": (checkpoint, ["--rename", "model.0.weight=model.in.weight",
                                 "--rename", "model.1.bias=model.out.bias"],
                    lambda o: (rename(o["model"], "0.weight", "in.weight"),
                               rename(o["model"], "1.bias", "out.bias"))),
    "rename_at_the_root": (checkpoint, ["--rename", "epoch=step"],
                           lambda o: rename(o, "epoch", "step")),
    "rename_swaps": (checkpoint, ["--rename", "epoch=config", "--rename", "config=epoch"],
                     lambda o: (rename(o, "epoch", "_"), rename(o, "config", "epoch"),
                                rename(o, "_", "config"))),
    "rename_an_integer": (checkpoint, ["--rename", "optimizer.state.1=optimizer.state.5"],
                          lambda o: rename(o["optimizer"]["state"], 1, 5)),
    "rename_by_path": (checkpoint, ["--rename", "['config']['lr']=['config']['rate']"],
                       lambda o: rename(o["config"], "lr", "rate")),
    "rename_attribute": (odd, ["--rename", "holder.note=holder.remark"],
                         lambda o: rename(o["holder"].__dict__, "note", "remark")),
    "set_number": (checkpoint, ["--set", "epoch=-12345678901234567890"],
                   lambda o: o.__setitem__("epoch", -12345678901234567890)),
    "set_many": (checkpoint, ["--set", "config={'a': [1, 2.5, -0.0], 'b': (True, None, 'é\\n')}",
                              "--set", "optimizer.param_groups.0.lr=1e-05", "--set", "epoch='x'"],
                 lambda o: (o.__setitem__("config", literal("{'a': [1, 2.5, -0.0], "
                                                            "'b': (True, None, 'é\\n')}")),
                            o["optimizer"]["param_groups"][0].__setitem__("lr", 1e-5),
                            o.__setitem__("epoch", "x"))),
    "set_tensor": (checkpoint, ["--set", "model.0.bias=None"],
                   lambda o: o["model"].__setitem__("0.bias", None)),
    "set_new": (checkpoint, ["--set", "config.depth=3", "--set", "model.extra.bias=b'\\x00\\xff'",
                             "--set", "optimizer.state.7={}", "--set", "whole=(1,)"],
                lambda o: (o["config"].__setitem__("depth", 3),
                           o["model"].__setitem__("extra.bias", b"\0\xff"),
                           o["optimizer"]["state"].__setitem__(7, {}),
                           o.__setitem__("whole", (1,)))),
    "set_attributes": (odd, ["--set", "holder.note=0", "--set", "holder.more=[]",
                             "--set", "slots.first='f'", "--set", "slots.third=3"],
                       lambda o: (setattr(o["holder"], "note", 0), setattr(o["holder"], "more", []),
                                  setattr(o["slots"], "first", fresh("f")),
                                  setattr(o["slots"], "third", 3))),
    "set_items": (odd, ["--set", "list.1={'k': 1}", "--set", "tuple.2=9", "--set", "holder.table.1=1j"],
                  lambda o: (o["list"].__setitem__(1, {fresh("k"): 1}), change_tuple(o, 2, 9),
                             o["holder"].table.__setitem__(1, 1j))),
    "set_and_drop": (checkpoint, ["--drop", "config.*", "--set", "config.lr=2", "--set", "epoch=8"],
                     lambda o: (o["config"].clear(), o["config"].__setitem__("lr", 2),
                                o.__setitem__("epoch", 8))),
    "set_one_letter": (odd, ["--set", "holder.note='x'", "--set", "z='z'"],
                       lambda o: (setattr(o["holder"], "note", literal("'x'")),
                                  o.__setitem__(fresh("z"), literal("'z'")))),
    "nothing": (odd, [], lambda o: None),
}


def literal(text):
    return ast.literal_eval(text)


def fresh(text):
    return "".join(list(text))


def save(value, path):
    torch.save(value, path)
    with open(path, "rb") as stream:
        return stream.read()


class Edit(unittest.TestCase):
    maxDiff = 400

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "python"))
        # One name, since it stands in the archive.
        self.path = os.path.join(self.folder, "same.pt")
        self.twin = os.path.join(self.folder, "python", "same.pt")
        self.out = os.path.join(self.folder, "out.pt")

    def edit(self, *options):
        return subprocess.run([FLAMBEAU, "edit", self.path, self.out, "--durability", "none",
                               *options], capture_output=True, text=True, check=False)

    def test_same_bytes(self):
        for name, (make, options, change) in CASES.items():
            with self.subTest(name):
                # Loaded once: what Python then has as one object is one in the file.
                save(make(), self.path)
                save(torch.load(self.path, weights_only=False), self.path)
                done = self.edit("--force", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                value = torch.load(self.path, weights_only=False)
                change(value)
                with open(self.out, "rb") as stream:
                    self.assertTrue(stream.read() == save(value, self.twin), name)

    def test_literals(self):
        torch.save({"a": 0}, self.path)
        for text in ("1_000", "0x1F", "-0b101", "1.", ".5e-3", "1e400", "-1e400", "2j", "-2j",
                     "1+2j", "-1.5-2J", "''", "'a' \"b\"  'c'", "r'\\n'", "'''a\nb'''", "u'x'",
                     "'\\x41\\u00e9\\U0001f600\\101\\q\\\n'", "b'\\x00' b'\\377'", "()", "(1)",
                     "(1,)", "1, 2", "[]", "[1, [2, [3,],],]", "{}", "{1: {2: 3}}", "set()",
                     "{'a'}", "(None, True, False)", "[" * 90 + "]" * 90, "9" * 400, " 5 ",
                     "{(1, 'x'): [b'', '']}", "+7", "- 7", "'\\ud800'"):
            with self.subTest(text):
                done = self.edit("--force", "--set", "a=" + text)
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = literal(text.strip())
                found = torch.load(self.out, weights_only=False)["a"]
                self.assertEqual(repr(found), repr(expected))

    def test_no_literals(self):
        torch.save({"a": 0}, self.path)
        for text in ("x", "", "1 2", "[1", "(1, 2", "{1: }", "{1: 2, 3}", "{1, 2: 3}", "'a", "'\\x4'",
                     "01", "1__0", "0x", "1e", "--1", "[]]", "{[]}", "{[]: 1}", "b'é'", "f'a'",
                     "'a' b'b'", "1+2", "2j+1", "set(", "{1: 2", ",", "[,]", "'\\N{BULLET}'", "1 +"):
            with self.subTest(text):
                done = self.edit("--force", "--set", "a=" + text)
                self.assertEqual(done.returncode, 2, text)
                self.assertFalse(os.path.exists(self.out))

    def test_names(self):
        torch.save({"a": {"b": 1}, "a.b": 2, "c": 3, "d": slice(1, 2)}, self.path)
        for code, options, message in (
                (2, ["--set", "a.b=1"], "'a.b' is ['a']['b'] and ['a.b']"),
                (1, ["--rename", "x=y"], "nothing is named 'x'"),
                (2, ["--rename", "c=a"], "the key 'a' is there already"),
                (2, ["--rename", "['a']['b']=['c']"], "does not begin with '['a']'"),
                (2, ["--drop", "d.(0)"], "is an argument"),
                (2, ["--rename", "c"], "--rename needs a name"),
                (2, ["--set", "['x']['y']=1"], "nothing is named"),
                (2, ["--drop", "a", "--set", "['a']['b']=1"], "in ['a'], which is dropped"),
                (2, ["--set", "c=nan"], "texts stand in quotes")):
            done = self.edit(*options)
            self.assertEqual(done.returncode, code, (options, done.stderr))
            self.assertIn(message, done.stderr)
            self.assertFalse(os.path.exists(self.out))
        done = self.edit("--drop", "nothing*", "--drop", "c", "--set", "new=1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing is named 'nothing*'", done.stderr)
        self.assertIn("['new'] is new", done.stderr)
        self.assertEqual(list(torch.load(self.out, weights_only=False)), ["a", "a.b", "d", "new"])


if __name__ == "__main__":
    unittest.main()
