"""Archives of torch.jit.save and torch.export.save: names and values are those that PyTorch gives; and
the files of FLAMBEAU_FIXTURES that come with an expectation of theirs."""
import hashlib
import json
import os
import tempfile
import unittest
import warnings
from typing import Dict, List, Optional, Tuple

import program
import torch
from loaded import elements
from torch import nn

FLAMBEAU = os.environ["FLAMBEAU_PROGRAM"]
# Names of fixtures whose kind is read.
READ = ("script", "traced", "frozen", "lite", "cpp_", "exported", "hf_bin", "dcp_consolidated", "sharded_tensor",
        "fsdp")


def ramp(*shape):
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(ramp(2, 3))
        self.register_buffer("count", torch.tensor(3))

    def forward(self, x):
        return x @ self.weight.t() + self.count


class Attributes(nn.Module):
    """Typed lists, dicts and tuples of tensors, tied modules, views of one storage, odd dtypes."""
    tensors: List[torch.Tensor]
    named: Dict[str, torch.Tensor]
    pair: Tuple[torch.Tensor, int]
    maybe: Optional[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.tied = self.inner
        base = ramp(3, 4)
        self.tensors = [base, base.t(), base[1:]]
        self.named = {"a": ramp(2), "b.c": ramp(1)}
        self.pair = (ramp(2), 5)
        self.maybe = None
        self.small = ramp(4).to(torch.bfloat16)
        self.eight = ramp(4).to(torch.float8_e4m3fn)
        self.wide = ramp(2).to(torch.uint16)
        self.conjugated = torch.complex(ramp(2), ramp(2)).conj()
        self.sizes = [1, 2]
        self.rates = [0.5]
        self.flags = [True]

    def forward(self, x):
        return self.inner(x) + torch.tensor([1.0, 2.0])


EXPECTED = {
    "inner.weight": ramp(2, 3), "inner.count": torch.tensor(3), "tied.weight": ramp(2, 3),
    "tied.count": torch.tensor(3), "tensors.0": ramp(3, 4), "tensors.1": ramp(3, 4).t(),
    "tensors.2": ramp(3, 4)[1:], "named.a": ramp(2), "named.b.c": ramp(1), "pair.0": ramp(2),
    "small": ramp(4).to(torch.bfloat16), "eight": ramp(4).to(torch.float8_e4m3fn),
    "wide": ramp(2).to(torch.uint16), "conjugated": torch.complex(ramp(2), ramp(2)).conj(),
}


def sha(tensor):
    return hashlib.sha256(elements(tensor.detach())).hexdigest()


def rows(path):
    """Name -> (dtype, shape, digest), of parts, too."""
    found = {}

    def add(name, row):
        found[name] = (row["dtype"], row["shape"], row["sha256"])
        for part, inner in row.get("parts", {}).items():
            add(f"{name}.{part}", inner)
    document = program.document(FLAMBEAU, "ls", "--json", "--digest", path)
    for row in document["tensors"]:
        add(row["name"], row)
    return document, found


def fixtures():
    for top, folders, names in os.walk(os.environ.get("FLAMBEAU_FIXTURES", "")):
        for name in sorted(names):
            if name.endswith(".expected.json") and name.startswith(READ):
                yield os.path.join(top, name.removesuffix(".expected.json"))


class Script(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "model.pt")

    def check(self, container, expected):
        document, found = rows(self.path)
        self.assertEqual(document["container"], container)
        wanted = {name: (str(tensor.dtype).removeprefix("torch."), list(tensor.shape), sha(tensor))
                  for name, tensor in expected.items()}
        self.assertEqual(found, wanted)
        return document

    def test_scripted(self):
        torch.jit.save(torch.jit.script(Attributes()), self.path)
        document = self.check("torchscript", EXPECTED)
        storage = {row["name"]: row["storage"] for row in document["tensors"]}
        self.assertEqual(storage["tensors.0"], storage["tensors.1"])
        self.assertEqual(storage["inner.weight"], storage["tied.weight"])
        paths = {row["name"]: row["path"] for row in document["tensors"]}
        self.assertEqual(paths["tensors.1"], ".tensors[1]")
        self.assertEqual(paths["named.b.c"], ".named['b.c']")

    def test_constants(self):
        model = torch.jit.freeze(torch.jit.script(Inner().eval()))
        torch.jit.save(model, self.path)
        document, found = rows(self.path)
        self.assertTrue(all(row["record"] == "constants.pkl" for row in document["tensors"]))
        digests = {digest for _, _, digest in found.values()}
        # Freezing folds the transposition.
        self.assertIn(sha(ramp(2, 3).t()), digests)
        name = document["tensors"][0]["name"]
        self.assertEqual(name, "constants.0")
        shown = program.document(FLAMBEAU, "show", "--json", self.path, name)
        self.assertEqual(shown["name"], name)

    def test_traced(self):
        traced = torch.jit.trace(Inner(), ramp(1, 3))
        torch.jit.save(traced, self.path)
        self.check("torchscript", dict(traced.state_dict()))

    def test_mobile(self):
        torch.jit.script(Attributes())._save_for_lite_interpreter(self.path)
        self.check("lite", EXPECTED)

    def test_exported(self):
        """Weights, non-persistent buffers and captured tensors of torch.export, tied and viewed."""
        class Exported(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()
                self.tied = nn.Linear(3, 2)
                self.tied.weight = self.inner.weight
                self.small = nn.Parameter(ramp(4).to(torch.bfloat16))
                self.register_buffer("view", ramp(2, 4).t())
                self.register_buffer("temporary", ramp(2), persistent=False)

            def forward(self, x):
                made = self.inner(x) + self.tied(x) + self.temporary + self.small.float().sum()
                return made + self.view.sum()
        program_ = torch.export.export(Exported(), (ramp(1, 3),))
        self.path += "2"
        torch.export.save(program_, self.path)
        self.check("pt2", {**program_.state_dict,
                           **{"constants/" + name: tensor
                              for name, tensor in program_.constants.items()}})

    def test_they_are_not_saved_again(self):
        torch.jit.save(torch.jit.script(Inner()), self.path)
        for command in (["resave"], ["edit"]):
            with self.assertRaisesRegex(RuntimeError, "exit 2.*cannot be written again"):
                program.call(FLAMBEAU, *command, self.path, self.path + ".out")

    def test_expectations(self):
        for path in fixtures():
            with open(path + ".expected.json", encoding="utf-8") as file:
                expected = json.load(file)
            _, found = rows(path)
            for name, want in expected.items():
                entry = (want["dtype"], want["shape"], want["sha256"])
                # Local chunks, and what a class packs, have names of their own.
                free = os.path.basename(path).startswith(
                    ("fsdp", "sharded", "script_packed", "script_getstate"))
                with self.subTest(path, tensor=name):
                    self.assertTrue(found.get(name) == entry or
                                    (free and entry in found.values()))


if __name__ == "__main__":
    unittest.main()
