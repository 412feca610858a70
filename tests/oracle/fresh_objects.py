"""Objects that test_fresh.py saves: every dtype, layout, view, container and kind of checkpoint."""
import argparse
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import pathlib
import types
import uuid

import torch
from torch import nn

OBJECTS = {}
PROTOCOLS = (2, 3, 4, 5)


def add(name, make, protocols=(2,)):
    """Registers an object; one file for each protocol."""
    OBJECTS[name] = (make, protocols)


# ---- dtypes × views

def eager_dtypes():
    """The dtypes of which a plain tensor can be saved."""
    from recognise import DTYPES
    return [name for name in DTYPES if hasattr(torch, name) and not name.startswith("q")
            and name.removeprefix("u").removeprefix("int") not in "1234567"]


def base_of(name, numel):
    dtype = getattr(torch, name)
    if name == "bool":
        return torch.arange(numel) % 3 == 0
    count = numel * torch.empty(0, dtype=dtype).element_size()
    return (torch.arange(count, dtype=torch.int64) * 37 % 251).to(torch.uint8).view(dtype)


def views_of(name):
    base = base_of(name, 60)
    cube = base.view(3, 4, 5)
    return {"whole": base, "cube": cube, "transposed": cube.transpose(0, 2), "row": cube[1],
            "column": cube[:, :, 2], "steps": cube[::2, 1::2], "element": cube[2, 3, 4],
            "empty": cube[:, 4:], "last": base[60:], "repeated": cube[0, 0].expand(2, 3, 5),
            "overlapping": base.as_strided((7, 6), (5, 2)), "offset": base[13:29],
            "reordered": cube.permute(1, 2, 0)[1:3], "one": base[5:6].view(1, 1, 1),
            "own": base_of(name, 7)}


for dtype_name in eager_dtypes():
    add(f"dtype_{dtype_name}", functools.partial(views_of, dtype_name))
for dtype_name in ("float32", "bfloat16", "int64", "float8_e4m3fn", "bool"):
    for place, wrap in {"list": lambda v: list(v.values()), "tuple": lambda v: tuple(v.values()),
                        "nested": lambda v: {"a": [v, {"b": tuple(v.values())}]},
                        "ordered": collections.OrderedDict}.items():
        add(f"views_{dtype_name}_{place}",
            lambda name=dtype_name, wrap=wrap: wrap(views_of(name)), PROTOCOLS)


# ---- kinds

def dense(dtype):
    return torch.tensor([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0], [0, 4, 5, 0]]).to(dtype)


def sparse(convert, dtype):
    return {"t": convert(dense(dtype)), "list": [convert(dense(dtype)[:2])]}


for dtype_name in ("float32", "float64", "bfloat16", "complex64", "int32", "bool"):
    for layout, convert in {
            "coo": lambda t: t.to_sparse(), "coo_rows": lambda t: t.to_sparse(1),
            "csr": lambda t: t.to_sparse_csr(), "csc": lambda t: t.to_sparse_csc(),
            "bsr": lambda t: t.to_sparse_bsr((2, 2)),
            "bsc": lambda t: t.to_sparse_bsc((1, 2))}.items():
        add(f"sparse_{layout}_{dtype_name}",
            lambda convert=convert, name=dtype_name: sparse(convert, getattr(torch, name)))


def sparse_others():
    uncoalesced = torch.sparse_coo_tensor([[1, 1, 0], [2, 2, 0]], [1.0, 2.0, 4.0], (3, 4))
    return {"uncoalesced": uncoalesced, "trained": uncoalesced.clone().requires_grad_(),
            "empty": torch.sparse_coo_tensor(torch.empty(2, 0), torch.empty(0), (2, 2)),
            "short_indices": torch.sparse_csr_tensor(
                torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32),
                torch.ones(2), (2, 2)),
            "batch": torch.stack([dense(torch.float32)] * 2).to_sparse_csr()}


def quantized(dtype):
    values = torch.arange(15.0).view(3, 5) / 4 - 1
    one = torch.quantize_per_tensor(values, 0.037, 5, dtype)
    made = {"tensor": one, "transposed": torch.quantize_per_tensor(values, 0.5, 0, dtype).t(),
            "rows": one[1:], "element": one[2, 3]}
    for axis in (0, 1):
        scales = torch.linspace(0.01, 0.3, values.shape[axis], dtype=torch.float64)
        zeros = torch.arange(values.shape[axis])
        made[f"axis{axis}"] = torch.quantize_per_channel(values, scales, zeros, axis, dtype)
    return made


def packed(dtype):
    values = torch.arange(15.0).view(3, 5) / 8
    return torch.quantize_per_channel(values, torch.full((3,), 0.125), torch.zeros(3), 0, dtype)


add("sparse_others", sparse_others)
for dtype in (torch.qint8, torch.quint8, torch.qint32):
    add(f"quantized_{str(dtype)[6:]}", functools.partial(quantized, dtype))
for dtype in (torch.quint4x2, torch.quint2x4):
    add(f"quantized_{str(dtype)[6:]}", functools.partial(packed, dtype))
add("nested", lambda: [torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(4, 3)])])
add("jagged", lambda: {"j": torch.nested.nested_tensor([torch.ones(2, 3), torch.zeros(4, 3)],
                                                       layout=torch.jagged)})
add("meta", lambda: {"m": torch.empty(3, 4, device="meta", dtype=torch.float16),
                     "p": nn.Parameter(torch.empty(2, device="meta")), "t": torch.ones(1)})


def math_bits():
    def z(dtype=torch.complex64):
        return torch.arange(12, dtype=torch.float32).view(6, 2).to(dtype.to_real()).view(dtype)
    flat = z()
    return {"plain": flat, "conj": flat.conj(), "steps": flat[1::2].conj(),
            "imag": z().conj().imag, "real": z().conj().real,
            "negative": torch._neg_view(z().conj()), "double": z(torch.complex128).conj()}


def parameters():
    plain = nn.Parameter(torch.arange(6.0).view(2, 3))
    marked = nn.Parameter(torch.ones(2), requires_grad=False)
    marked.tag = {"why": [1, 2]}
    view = nn.Parameter(plain.data.t())
    return {"plain": plain, "again": plain, "data": plain.data, "marked": marked, "view": view,
            "leaf": torch.ones(2).requires_grad_(), "buffer": nn.Buffer(torch.ones(3)),
            "lazy": nn.parameter.UninitializedParameter()}


def attributes():
    first, second = torch.ones(2), torch.zeros(2)
    first.partner, second.partner = second, first
    return [first, {"note": second}]


class Labelled(torch.Tensor):
    """A subclass of the ordinary kind: a tensor with another name."""


class Pair(torch.Tensor):
    """A wrapper around two tensors, with no elements of its own."""

    @staticmethod
    def __new__(cls, left, right):
        return torch.Tensor._make_wrapper_subclass(cls, left.shape, dtype=left.dtype)

    def __init__(self, left, right):
        self.left, self.right = left, right

    @classmethod
    def __torch_dispatch__(cls, function, types_, args=(), kwargs=None):
        raise NotImplementedError(str(function))


def subclasses():
    marked = torch.ones(3).as_subclass(Labelled)
    marked.note = "kept"
    return {"plain": torch.arange(4.0).as_subclass(Labelled), "marked": marked,
            "view": torch.arange(6.0).view(2, 3).t().as_subclass(Labelled)}


add("math_bits", math_bits)
add("parameters", parameters, PROTOCOLS)
add("attributes", attributes)
add("subclasses", subclasses)
add("wrapper", lambda: {"pair": Pair(torch.ones(2), torch.arange(2))})
add("storages", lambda: [torch.ones(3).storage(), torch.ones(3).untyped_storage(),
                         torch.empty(0).untyped_storage(), torch.ones(2, dtype=torch.bool).storage()])


# ---- containers and other objects, each with tensors inside

Point = collections.namedtuple("Point", "x y")


class Names(dict):
    """A dict of a class of its own."""


class Stack(list):
    """A list of a class of its own."""


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Both(Slots):
    """Slots, and attributes beside them."""


class OddState:
    """Gives a state that is no dict."""

    def __init__(self, *values):
        self.values = values

    def __getstate__(self):
        return self.values

    def __setstate__(self, state):
        self.values = state


class Keyword:
    """Is made with arguments by name."""

    def __new__(cls, *, size):
        made = super().__new__(cls)
        made.size = size
        return made

    def __getnewargs_ex__(self):
        return (), {"size": self.size}


@dataclasses.dataclass
class Settings:
    rate: float
    mask: torch.Tensor


class Color(enum.Enum):
    RED = 1


def tensor(n=2):
    return torch.arange(float(n))


def with_attribute(made, **attributes_):
    made.__dict__.update(attributes_)
    return made


def both():
    return with_attribute(Both(tensor(1), tensor(2)), c=tensor(3))


CONTAINERS = {
    "empty": lambda: [[], {}, (), set(), frozenset(), collections.OrderedDict()],
    "keys": lambda: {"": tensor(1), "a.b": tensor(2), 0: tensor(3), -7: tensor(4), 1.5: tensor(5),
                     None: tensor(6), (1, "x"): tensor(7), (2,): tensor(1), b"raw": tensor(8),
                     False: tensor(9), 2**70: tensor(1), "it's": tensor(2), 'a"b': tensor(3),
                     "new\nline\ttab\x00\x1b\x7f": tensor(4), "ř漢\U0001f525\u200b\xa0": tensor(5),
                     "both'\"": tensor(6), "back\\slash": tensor(7), 1e300: tensor(8)},
    "ordered": lambda: with_attribute(collections.OrderedDict(a=tensor(), b=1), extra=tensor(3)),
    "default": lambda: collections.defaultdict(list, a=[tensor()], b=[]),
    "deque": lambda: collections.deque([tensor(1), tensor(2)], maxlen=5),
    "counter": lambda: collections.Counter("hello"),
    "chain": lambda: collections.ChainMap({"a": tensor()}, {"b": 1}),
    "namedtuple": lambda: [Point(tensor(1), tensor(2))],
    "size_of_tensors": lambda: {"size": torch.Size([3, 0, 2**40]), "shape": tensor().shape},
    "dict_subclass": lambda: with_attribute(Names(a=tensor()), note=tensor(3)),
    "list_subclass": lambda: with_attribute(Stack([tensor(), 1]), note="x"),
    "slots": lambda: [Slots(tensor(1), 2), both()],
    "odd_state": lambda: [OddState(tensor(1), {"k": tensor(2)}), OddState(1), OddState()],
    "keyword": lambda: Keyword(size=tensor(2)),
    "dataclass": lambda: Settings(0.1, tensor()),
    "enum": lambda: [Color.RED, Color.RED],
    "namespace": lambda: argparse.Namespace(lr=1e-3, w=tensor()),
    "simple_namespace": lambda: types.SimpleNamespace(a=tensor(), b={"c": tensor(1)}),
    "partial": lambda: functools.partial(torch.add, tensor(), alpha=2),
    "set_of_values": lambda: [{1}, {"one"}, frozenset([(1, 2)]), {None}],
    "exception": lambda: ValueError("text", tensor(1)),
    "iterator": lambda: iter([tensor(1), 2]),
    "dates": lambda: [datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc),
                      datetime.date(1999, 1, 1), datetime.timedelta(days=-1)],
    "numbers": lambda: [decimal.Decimal("-0.1"), fractions.Fraction(1, 3), uuid.UUID(int=5),
                        range(3), slice(1, None, 2), Ellipsis, NotImplemented],
    "paths": lambda: [pathlib.PurePosixPath("/a/b"), pathlib.PurePosixPath(".")],
    "torch_values": lambda: [torch.float32, torch.device("cuda:3"), torch.device("cpu"),
                             torch.device("meta"), torch.strided, torch.sparse_csr,
                             torch.per_channel_affine, torch.int3, torch.uint7],
    "classes": lambda: [int, list, nn.Linear, torch.Tensor, nn.Parameter, collections.OrderedDict,
                        type(None), torch.FloatStorage, torch.relu, nn.functional.gelu, len],
    "generator": lambda: torch.Generator().manual_seed(3),
    "integers": lambda: [sign * (2**bits + step) for bits in (7, 8, 15, 16, 31, 32, 53, 63, 64, 2039,
                                                              2040, 3000) for step in (-1, 0, 1)
                         for sign in (1, -1)],
    "reals": lambda: [0.0, -0.0, 1.0, 0.1, 1e16, 1e15, 123456789.125, 1e-5, 1e-4, 5e-324,
                      1.7976931348623157e308, float("inf"), float("-inf"), float("nan"), 1 / 3],
    "complex": lambda: [1j, -1.5 + 2j, complex("nan"), complex("-inf-0j")],
    "strings": lambda: ["", "a", "a" * 255, "b" * 256, "c" * 70_000, "é", "\ud83d", "\udc00x",
                        "\U0010ffff", "\x00", "\u2028"],
    "bytes": lambda: [b"", b"\x00", bytes(range(256)), b"z" * 70_000, bytearray(), bytearray(b"q"),
                      bytearray(range(256))],
}
for container_name, make in CONTAINERS.items():
    add(f"python_{container_name}", make, PROTOCOLS)


def shared():
    one, pair, name = tensor(), (1, tensor(1)), "".join(["sh", "ared"])
    inner = {"t": one, "again": one, name: pair}
    return {"a": inner, "b": inner, "pairs": [pair, pair], name: one, "views": [one[1:], one[:1]],
            "bytes": [b"same"] * 2}


def cyclic():
    top, items = {"t": tensor()}, []
    top["self"], top["items"] = top, items
    items += [top, (items, tensor(1)), with_attribute(argparse.Namespace(), up=top)]
    return top


def doubling():
    """Thirty lists, each twice in the next: 2^30 paths lead to one tensor."""
    made = [tensor(1)]
    for _ in range(30):
        made = [made, made]
    return made


add("shared", shared, PROTOCOLS)
add("cyclic", cyclic, PROTOCOLS)
add("doubling", doubling)


def deep(levels):
    made = tensor(1)
    for level in range(levels):
        made = [made] if level % 2 else {"k": made}
    return made


add("deep", functools.partial(deep, 200), PROTOCOLS)
add("long_list", lambda: list(range(100_000)))
add("long_strings", lambda: [f"text {i}" for i in range(70_000)])
add("many_tensors", lambda: {f"layer{i}.w": torch.full((3,), float(i)) for i in range(5_000)})
add("big_tensor", lambda: {"big": torch.arange(3_000_000), "tail": torch.arange(9)[3:]})
for count in (999, 1000, 1001, 2000, 2001):
    add(f"batches_{count}", lambda n=count: [list(range(n)), {i: i for i in range(n)},
                                             collections.OrderedDict((i, i) for i in range(n)),
                                             set(range(n))], PROTOCOLS)


# ---- checkpoints

def trained(make_optimizer, model):
    torch.manual_seed(5)
    optimizer = make_optimizer(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(4, 6)).square().mean().backward()
        optimizer.step()
        scheduler.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(), "epoch": 2, "rng": torch.get_rng_state()}


def perceptron():
    return nn.Sequential(nn.Linear(6, 5), nn.LayerNorm(5), nn.ReLU(), nn.Linear(5, 2))


OPTIMIZERS = {"adam": lambda p: torch.optim.Adam(p, amsgrad=True), "adamw": torch.optim.AdamW,
              "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
              "rmsprop": torch.optim.RMSprop, "adagrad": torch.optim.Adagrad}
for optimizer_name, make in OPTIMIZERS.items():
    add(f"checkpoint_{optimizer_name}", lambda make=make: trained(make, perceptron()), PROTOCOLS)


def tied():
    model = nn.ModuleDict({"embed": nn.Embedding(7, 4), "out": nn.Linear(4, 7, bias=False)})
    model["out"].weight = model["embed"].weight
    return model


MODULES = {"perceptron": perceptron, "tied": tied, "conv": lambda: nn.Sequential(
               nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.Dropout(0.5)),
           "lstm": lambda: nn.LSTM(3, 4, 2, bidirectional=True),
           "transformer": lambda: nn.TransformerEncoderLayer(8, 2, 16),
           "lazy": lambda: nn.LazyLinear(3),
           "bfloat16": lambda: nn.Linear(3, 3, dtype=torch.bfloat16)}
for module_name, make in MODULES.items():
    add(f"module_{module_name}", make, PROTOCOLS)
    add(f"state_{module_name}", lambda make=make: make().state_dict())
