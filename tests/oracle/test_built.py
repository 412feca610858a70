"""Graphs that C++ builds from nothing are saved with the bytes that torch.save writes for the same
graphs, and PyTorch loads them.

The program `build_graphs`, which the environment variable FLAMBEAU_BUILD_GRAPHS names, saves them;
the functions here make the twin of each. Strings that C++ makes anew are made anew here, too:
Python has one object for equal literals, and the memo of a pickle shows it.
"""
import argparse
import collections
import datetime
import os
import subprocess
import tempfile
import unittest

import torch

PROGRAM = os.environ["FLAMBEAU_BUILD_GRAPHS"]


def numbers(*shape, dtype=None):
    count = 1
    for size in shape:
        count *= size
    return torch.arange(count, dtype=dtype or torch.float32).view(shape)


def bytes_as(dtype, *shape, size):
    return torch.arange(size, dtype=torch.uint8).view(dtype).view(shape)


def adam():
    state = {i: {"step": numbers(), "exp_avg": numbers(size), "exp_avg_sq": numbers(size)}
             for i, size in enumerate((6, 3))}
    group = {"lr": 0.001, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "amsgrad": False,
             "maximize": False, "foreach": None, "params": [0, 1]}
    model = collections.OrderedDict(weight=numbers(3, 2), bias=numbers(3))
    return {"model": model, "optimizer": {"state": state, "param_groups": [group]}, "epoch": 3}


def views():
    matrix = numbers(2, 3)
    single = numbers(1, dtype=torch.float64)
    return [matrix, matrix[1], matrix.t(), single.as_strided((2, 3), (0, 0)), matrix]


def nested():
    shared = [1, 2]
    loop = ["self"]
    loop.append(loop)
    return {"none": None, "truth": (True, False),
            "integers": [0, 255, 256, 65535, 65536, -1, 2**31 - 1, 2**31, -2**31, -2**63],
            "floats": [0.0, -0.0, 1.5, 1e300], "texts": ["", "é", "\U0001f600"],
            "empty": ([], (), {}), "shared": [shared, shared], "loop": loop,
            "deep": {"er": {(1, "two"): [None]}}}


def long_containers():
    return [dict.fromkeys(range(1000)), collections.OrderedDict.fromkeys(range(1001)),
            list(range(1000)), list(range(1001)), tuple(range(1000))]


def quantized():
    integers = numbers(2, 3)
    return [torch._make_per_tensor_quantized_tensor(integers.to(torch.int8), 0.5, 2),
            torch._make_per_channel_quantized_tensor(
                integers.to(torch.uint8), numbers(2, dtype=torch.float64),
                numbers(2, dtype=torch.int64), 0),
            torch._make_per_tensor_quantized_tensor(numbers(2).to(torch.int32), 0.25, 0)]


def sparse():
    def index(*shape):
        return numbers(*shape, dtype=torch.int64)
    return {"coo": torch.sparse_coo_tensor(index(2, 2), numbers(2), (4, 5), is_coalesced=True),
            "csr": torch.sparse_csr_tensor(index(5), index(4), numbers(4), (4, 5)),
            "csc": torch.sparse_csc_tensor(index(6), index(5), numbers(5, dtype=torch.float64),
                                           (5, 5))}


def small_types():
    return [*(numbers(2, dtype=dtype) for dtype in (
        torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)),
            torch.tensor([False, True]), bytes_as(torch.float16, 2, size=4),
            bytes_as(torch.bfloat16, 2, 2, size=8), numbers(2, dtype=torch.float64),
            bytes_as(torch.complex64, 1, size=8), bytes_as(torch.complex128, 1, size=16)]


def untyped():
    return [bytes_as(torch.float8_e5m2, 3, size=3), bytes_as(torch.float8_e4m3fn, 2, 1, size=2),
            bytes_as(torch.uint16, 2, size=4), bytes_as(torch.uint32, 2, size=8),
            bytes_as(torch.uint64, 1, size=8), bytes_as(torch.complex32, 2, size=8)]


def parameters():
    parameter = torch.nn.Parameter(numbers(2, 2))
    return collections.OrderedDict(
        a=parameter, b=torch.nn.Parameter(numbers(2), requires_grad=False), tied=parameter,
        grad=numbers(1).requires_grad_())


def shapes():
    return [numbers(), numbers(0), numbers(0, 3), numbers(1, 1, 1, 1, 2),
            numbers(300, dtype=torch.int64)]


def meta():
    return (torch.empty(1000, 3, device="meta"),
            torch.empty((), dtype=torch.bfloat16, device="meta"))


def python_values():
    return [bytes([0, 255]), b"", bytes([0, 255]), complex(1.5, -2), {7}, set(),
            datetime.timedelta(1, 2, 3)]


def instance():
    space = argparse.Namespace(lr=0.1, layers=[1])
    return {"args": space, "again": space}


def linear():
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(numbers(1, 2))
        model.bias.zero_()
    return model.state_dict()


def devices():
    """There is no such hardware here: PyTorch is told other locations than it would find."""
    return [numbers(4, dtype=torch.uint8) for _ in range(4)]


TWINS = {
    "adam": adam, "views": views, "nested": nested,
    "long_dict": lambda: {"key%d" % i: i for i in range(1001)},
    "long_containers": long_containers, "quantized": quantized, "sparse": sparse,
    "small_types": small_types, "untyped": untyped, "parameters": parameters, "shapes": shapes,
    "conjugate": lambda: [bytes_as(torch.complex64, 2, size=16).conj()], "meta": meta,
    "torch_values": lambda: [torch.float16, torch.float16, torch.Size([2, 3]), torch.Size([]),
                             torch.device("cpu"), torch.device("cuda", 1), torch.Tensor],
    "python_values": python_values, "instance": instance, "linear": linear,
    "keys": lambda: {1: "int", "1": "text", 1.5: "float", None: "none", (1, 2): "tuple",
                     False: "bool"},
    "edited": lambda: [["z", "y", "c", "end"], {"two": 22, "drei": 3, "four": 4}],
    "many": lambda: collections.OrderedDict(
        ("layer.%d" % i, numbers(i % 5)) for i in range(300)),
    "devices": devices,
    "state_dict": lambda: collections.OrderedDict(
        [("layer1.weight", numbers(2, 3)), ("layer1.bias", numbers(2))]),
}
# What weights_only lets through only after `add_safe_globals`.
UNSAFE = {"instance", "python_values", "sparse", "torch_values", "conjugate", "quantized"}


class BuiltGraphs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([PROGRAM, cls.folder.name], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name + ".pt")

    def test_all_are_compared(self):
        names = {name[:-3] for name in os.listdir(self.folder.name)}
        self.assertEqual(names, set(TWINS))
        self.assertGreaterEqual(len(names), 20)

    def expected(self, name):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name + ".pt")
            torch.save(TWINS[name](), path)
            with open(path, "rb") as file:
                return file.read()

    def test_bytes(self):
        tags = ["cuda:%d" % 0, "cuda:%d" % 0, "cpu", "mps"]
        for name in TWINS:
            with self.subTest(name):
                tag = torch.serialization.location_tag
                if name == "devices":
                    torch.serialization.location_tag = lambda _: tags.pop(0)
                try:
                    expected = self.expected(name)
                finally:
                    torch.serialization.location_tag = tag
                with open(self.path(name), "rb") as file:
                    actual = file.read()
                same = len(os.path.commonprefix([actual, expected]))
                self.assertTrue(actual == expected, "from byte %d on: %r, PyTorch writes %r" % (
                    same, actual[same:same + 60], expected[same:same + 60]))

    def test_pytorch_loads_them(self):
        for name in TWINS:
            for mmap in (False, True):
                with self.subTest(name, mmap=mmap):
                    torch.load(self.path(name), weights_only=name not in UNSAFE, mmap=mmap,
                               map_location="cpu" if name == "devices" else None)

