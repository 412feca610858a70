"""`flambeau convert` writes what the safetensors package and torch.save write for the same tensors,
byte for byte, and they load what it writes."""
import json
import os
import subprocess
import tempfile
import unittest

import torch
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn

FLAMBEAU = os.environ["FLAMBEAU_PROGRAM"]
DTYPES = ("bool", "uint8", "int8", "int16", "uint16", "float16", "bfloat16", "int32", "uint32",
          "float32", "complex64", "float64", "int64", "uint64", "float8_e5m2", "float8_e4m3fn",
          "float8_e4m3fnuz", "float8_e5m2fnuz")


def every_dtype():
    made = {"n_" + name: (torch.arange(6) % 2).reshape(2, 3).to(getattr(torch, name))
            for name in DTYPES}
    bytes_ = torch.arange(6, dtype=torch.uint8).reshape(2, 3)
    made["n_float8_e8m0fnu"] = bytes_.view(torch.float8_e8m0fnu)
    made["n_float4"] = bytes_.clone().view(torch.float4_e2m1fn_x2)
    return {**made, "scalar": torch.tensor(1.5), "empty": torch.zeros(0, 3),
            "odd \"\\\n\x01é\U0001f600": torch.arange(3.0)}


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.b, self.a = nn.Linear(3, 3), nn.Linear(3, 3)
        self.b.weight = self.a.weight


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("twin"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def read(self, *names):
        with open(self.path(*names), "rb") as file:
            return file.read()

    def convert(self, source, out, *options):
        done = subprocess.run([FLAMBEAU, "convert", self.path(source), self.path(out), "--json",
                               "--force", "--durability", "none", *options], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Convert(Files):
    def test_every_dtype_there_and_back(self):
        tensors = every_dtype()
        torch.save(tensors, self.path("in.pt"))
        self.convert("in.pt", "out.safetensors")
        save_file(tensors, self.path("twin", "out.safetensors"))
        self.assertEqual(self.read("out.safetensors"), self.read("twin", "out.safetensors"))
        self.convert("out.safetensors", "back.pt")
        torch.save(load_file(self.path("out.safetensors")), self.path("twin", "back.pt"))
        self.assertEqual(self.read("back.pt"), self.read("twin", "back.pt"))

    def test_views_become_contiguous(self):
        base = torch.arange(12.0).reshape(3, 4)
        tensors = {"t": base.t(), "step": torch.arange(10)[::3], "conj": torch.tensor(
            [1 + 2j, 3 - 4j]).conj(), "repeated": torch.ones(1).expand(4)}
        torch.save(tensors, self.path("in.pt"))
        self.convert("in.pt", "out.safetensors", "--metadata", "k=v=w")
        save_file({name: tensor.resolve_conj().contiguous() for name, tensor in tensors.items()},
                  self.path("twin", "out.safetensors"), metadata={"k": "v=w"})
        self.assertEqual(self.read("out.safetensors"), self.read("twin", "out.safetensors"))

    def test_what_is_tied_stays_tied(self):
        model = Tied()
        save_model(model, self.path("twin", "out.safetensors"))
        torch.save(model.state_dict(), self.path("in.pt"))
        report = self.convert("in.pt", "out.safetensors")
        self.assertEqual(report["tied"], {"b.weight": "a.weight"})
        self.assertEqual(self.read("out.safetensors"), self.read("twin", "out.safetensors"))
        self.assertEqual(load_model(Tied(), self.path("out.safetensors")), (set(), []))
        self.convert("out.safetensors", "back.pt")
        back = torch.load(self.path("back.pt"))
        self.assertEqual(back["a.weight"].data_ptr(), back["b.weight"].data_ptr())

    def test_what_overlaps_is_copied(self):
        base = torch.arange(12.0).reshape(3, 4)
        torch.save({"model": {"all": base, "turned": base.t(), "part": base[1:]}, "epoch": 3,
                    "config": {"sizes": [1, 2]}}, self.path("in.pt"))
        report = self.convert("in.pt", "out.safetensors")
        self.assertEqual(report["copied"], ["model.all", "model.part", "model.turned"])
        self.assertEqual(report["left_out"], 3)
        self.assertIn("['epoch']", report["left_out_paths"])
        loaded = load_file(self.path("out.safetensors"))
        self.assertTrue(torch.equal(loaded["model.turned"], base.t()))
        self.assertTrue(torch.equal(loaded["model.part"], base[1:]))

    def test_casts(self):
        tensors = {"w": torch.randn(1000) * 100, "i": torch.arange(3), "t": torch.randn(5, 7).t(),
                   "e": torch.zeros(0), "odd": torch.tensor([float("nan"), float("inf"), -0.0,
                                                             1e-45, 3.4e38, 65520.0, 1 + 2**-8])}
        torch.save(tensors, self.path("in.pt"))
        for name in ("bfloat16", "float16", "float64", "float32"):
            dtype = getattr(torch, name)
            for out, load in (("out.safetensors", load_file), ("out.pt", torch.load)):
                self.convert("in.pt", out, "--dtype", name)
                loaded = load(self.path(out))
                for key, tensor in tensors.items():
                    wanted = tensor.to(dtype) if tensor.is_floating_point() else tensor
                    self.assertEqual(loaded[key].dtype, wanted.dtype)
                    self.assertTrue(torch.equal(loaded[key].nan_to_num(7), wanted.nan_to_num(7)),
                                    (name, out, key))

    def test_choices_and_refusals(self):
        tensors = {"a.w": torch.ones(2), "a.b": torch.ones(1), "c": torch.ones(3),
                   "s": torch.eye(2).to_sparse(), "c64": torch.ones(1, dtype=torch.complex128)}
        torch.save(tensors, self.path("in.pt"))
        report = self.convert("in.pt", "out.safetensors", "--select", "a.*", "--select", "c",
                              "--exclude", "*.b")
        self.assertEqual(report["tensors"], 2)
        self.assertEqual(set(load_file(self.path("out.safetensors"))), {"a.w", "c"})
        for options, message in ((["out.safetensors"], "1 of the tensors is not strided: s (sparse"),
                                 (["out.safetensors", "--exclude", "s"], "has no dtype complex128"),
                                 (["out.xyz"], "does not say what kind"),
                                 (["out.pt", "--dtype", "float31"], "there is no dtype")):
            done = subprocess.run([FLAMBEAU, "convert", self.path("in.pt"), self.path(options[0]),
                                   "--force", *options[1:]], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(message, done.stderr)


class Sharded(Files):
    """Folders of shards and their index, as transformers writes them."""

    def write(self, index=True):
        parts = {"m-00001-of-00002.bin": {"a.w": torch.ones(2, 3), "a.b": torch.zeros(1)},
                 "m-00002-of-00002.bin": {"c": torch.arange(4.0), "d": torch.ones(2)}}
        os.mkdir(self.path("set"))
        for name, tensors in parts.items():
            torch.save(tensors, self.path("set", name))
        if index:
            with open(self.path("set", "m.bin.index.json"), "w", encoding="utf-8") as file:
                json.dump({"metadata": {"total_size": 1}, "weight_map": {
                    key: name for name, tensors in parts.items() for key in tensors}}, file)
        return {key: tensor for tensors in parts.values() for key, tensor in tensors.items()}

    def rows(self, *names):
        done = subprocess.run([FLAMBEAU, "ls", "--json", "--digest", self.path(*names)],
                              capture_output=True, text=True, check=False)
        document = json.loads(done.stdout)
        return document.get("error") or document

    def test_folder_index_and_bare_shards(self):
        tensors = self.write()
        listed = self.rows("set")
        self.assertEqual(listed["container"], "sharded")
        self.assertEqual([row["name"] for row in listed["tensors"]], list(tensors))
        self.assertEqual(len({row["storage"] for row in listed["tensors"]}), 4)
        self.assertEqual(self.rows("set", "m.bin.index.json")["tensors"], listed["tensors"])
        done = subprocess.run([FLAMBEAU, "info", "--json", self.path("set")], capture_output=True,
                              text=True, check=False)
        facts = json.loads(done.stdout)
        self.assertEqual((facts["storages"], facts["storage_bytes"]), (4, 52))
        self.convert("set", "all.safetensors")
        loaded = load_file(self.path("all.safetensors"))
        self.assertEqual(set(loaded), set(tensors))
        for name, tensor in tensors.items():
            self.assertTrue(torch.equal(loaded[name], tensor))
        os.remove(self.path("set", "m.bin.index.json"))
        self.assertEqual(self.rows("set")["tensors"], listed["tensors"])

    def test_what_does_not_belong_together(self):
        self.write()
        index = self.path("set", "m.bin.index.json")
        for weight_map, code in (({"a.w": "m-00002-of-00002.bin"}, "malformed_tensor"),
                                 ({"a.w": "../twin"}, "malformed_json"), ({}, "malformed_json"),
                                 ({"a.w": "missing.bin"}, "not_found"), ({"a.w": 5}, "malformed_json")):
            with open(index, "w", encoding="utf-8") as file:
                json.dump({"weight_map": weight_map}, file)
            self.assertEqual(self.rows("set")["code"], code, weight_map)
        self.assertEqual(self.rows("twin")["code"], "not_a_checkpoint")
        os.remove(index)
        torch.save({"a.w": torch.ones(1)}, self.path("set", "z.bin"))
        self.assertEqual(self.rows("set")["code"], "ambiguous")


if __name__ == "__main__":
    unittest.main()
