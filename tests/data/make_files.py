"""Writes the checkpoints of tests/data with whatever PyTorch runs it: make_files.py FOLDER.

They go to FOLDER/VERSION. What a release cannot make or save is left out and named. The carried
files were written by 1.13.1, 2.0.1, 2.4.1, 2.6.0 and 2.15.0 on CPython 3.11; each release lays out
its zip and its pickle a little differently.
"""
import collections
import datetime
import decimal
import os
import sys
import warnings

import torch
from torch import nn

FILES = {}


def file(make):
    """Registers a function whose result is saved under its name."""
    FILES[make.__name__] = make
    return make


def ramp(*shape, dtype=torch.float32):
    count = 1
    for size in shape:
        count *= size
    return torch.arange(count, dtype=dtype).reshape(shape)


@file
def views():
    base = ramp(4, 5)
    return {"whole": base, "transposed": base.t(), "column": base[:, 2], "block": base[1:3, 1:4],
            "every_second": base[:, ::2], "flat_tail": base.view(-1)[17:], "element": base[3, 4],
            "nothing": base[4:], "repeated": base[0].expand(3, 5),
            "windows": base.view(-1).as_strided((6, 5), (3, 1)), "empty": torch.empty(0, 3)}


@file
def parameters():
    trained = nn.Parameter(ramp(2, 3))
    marked = nn.Parameter(ramp(2))
    marked.group = "no_decay"
    leaf = ramp(3).requires_grad_()
    return [trained, nn.Parameter(ramp(3), requires_grad=False), marked, trained, leaf,
            (leaf * 2).detach(), nn.parameter.UninitializedParameter()]


@file
def dtypes():
    raw = torch.tensor(list(range(0, 256, 5)) + [255] * 12, dtype=torch.uint8)
    made = {}
    for name in sorted(dir(torch)):
        dtype = getattr(torch, name)
        if isinstance(dtype, torch.dtype) and str(dtype) == "torch." + name and name[0] != "q":
            try:
                made[name] = probe(raw, dtype)
            except (RuntimeError, KeyError, TypeError):
                continue
    return {name: tensor for name, tensor in made.items() if can_be_saved(tensor)}


def probe(raw, dtype):
    """A tensor of the dtype over the same bytes, copied so that each has a storage of its own."""
    if dtype is torch.bool:
        return torch.tensor([True, False, True])
    return raw.clone().view(dtype)


def can_be_saved(tensor):
    try:
        torch.save(tensor, os.devnull)
    except Exception:
        return False
    return True


@file
def sparse():
    dense = torch.tensor([[0.0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 0], [0, 4, 5, 0]])
    made = {"coo": dense.to_sparse(),
            "uncoalesced": torch.sparse_coo_tensor([[1, 1, 0]], [1.0, 2.0, 4.0], (3,)),
            "hybrid": torch.sparse_coo_tensor([[0, 2]], ramp(2, 3), (4, 3)),
            "no_values": torch.sparse_coo_tensor(torch.empty(2, 0, dtype=torch.int64),
                                                 torch.empty(0), (2, 2)),
            "csr": dense.to_sparse_csr()}
    for name, convert in (("csc", lambda: dense.to_sparse_csc()),
                          ("bsr", lambda: dense.to_sparse_bsr((2, 2))),
                          ("bsc", lambda: dense.to_sparse_bsc((2, 2)))):
        try:
            tensor = convert()
            if can_be_saved(tensor):
                made[name] = tensor
        except (RuntimeError, AttributeError):
            continue
    return made


@file
def quantized():
    values = ramp(3, 5) / 4
    scales, zeros = torch.tensor([0.5, 0.25, 0.125], dtype=torch.float64), torch.tensor([0, 1, -2])
    return {"int8": torch.quantize_per_tensor(values, 0.05, -3, torch.qint8),
            "uint8": torch.quantize_per_tensor(values, 0.05, 10, torch.quint8),
            "int32": torch.quantize_per_tensor(values, 1e-4, 0, torch.qint32),
            "transposed": torch.quantize_per_tensor(values, 0.05, 0, torch.qint8).t(),
            "channels": torch.quantize_per_channel(values, scales, zeros, 0, torch.qint8),
            "float_channels": torch.quantize_per_channel(
                values, scales.float(), torch.tensor([0.5, 0.0, 1.5]), 0, torch.quint8),
            "four_bits": torch.quantize_per_channel(
                values, scales.float(), torch.tensor([0.5, 0.0, 1.5]), 0, torch.quint4x2)}


@file
def nested():
    return [torch.nested.nested_tensor([ramp(2, 3), ramp(1, 3)]), {"inner": ramp(2)}]


@file
def jagged():
    return torch.nested.nested_tensor([ramp(2, 3), ramp(1, 3)], layout=torch.jagged)


@file
def meta():
    return {"shape": torch.empty(5, 2, device="meta"), "real": ramp(2)}


@file
def math_bits():
    def z():
        return torch.complex(ramp(2, 2), -ramp(2, 2) - 1)
    shared = z()
    return {"plain": shared, "conj": shared.conj(), "transposed": shared.mH,
            "negative": z().conj().imag, "real": z().conj().real,
            "negative_complex": torch._neg_view(z().conj())}


@file
def attributes():
    named = ramp(2)
    named.names_of_rows = ["a", "b"]
    holder = ramp(3)
    holder.inner = ramp(1)
    return [named, holder]


@file
def storages():
    tensor, other = ramp(6), ramp(2, dtype=torch.int16).storage()
    return {"typed": tensor.storage(), "tensor": tensor, "empty": torch.empty(0).storage(),
            "bytes": getattr(other, "untyped", getattr(other, "_untyped", None))()}


@file
def scalars():
    return {"none": None, "flags": (True, False),
            "integers": [0, -1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**53,
                         2**53 + 1, 2**63 - 1, -2**63, 2**64, 10**30, -10**30, 2**2040],
            "reals": [0.0, -0.0, 0.1, 1e22, 1e-300, 5e-324, float("inf"), float("-inf"),
                      float("nan")],
            "complex": [1j, complex("nan+infj")],
            "text": ["", "plain", "line\nbreak", "\x00\x1b", "ř", "漢字", "\U0001f525", "\ud800"],
            "bytes": [b"", b"x", bytes(range(256)), bytearray(b""), bytearray(b"\x80")]}


@file
def containers():
    shared = [1, ramp(2)]
    loop = {"list": [], "tuple": None}
    loop["list"].append(loop)
    loop["tuple"] = (loop["list"], loop)
    ordered = collections.OrderedDict([("b", ramp(1)), ("a", shared)])
    ordered.note = "an attribute of a dict"
    return {"shared": [shared, shared], "loop": loop, "ordered": ordered,
            "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), ((), ())],
            "keys": {1: "int", 2.5: "float", None: "none", (1, "a"): "tuple", b"k": "bytes",
                     "": "empty", "it's": "quote", 'say "hi"': "double", "a\nb": "line"},
            "sets": [set(), {1}, frozenset(), frozenset(["x"])],
            "batches": [list(range(1001)), {i: None for i in range(1000)}],
            "default": collections.defaultdict(list, a=[ramp(1)]),
            "deque": collections.deque([ramp(1), 2], maxlen=3), "counter": collections.Counter("aab")}


@file
def objects():
    return {"date": datetime.datetime(2021, 3, 4, 5, 6, 7, 8, datetime.timezone.utc),
            "decimal": decimal.Decimal("1.50"), "range": range(1, 9, 2), "slice": slice(None, 3),
            "size": torch.Size([2, 0, 3]), "dtype": torch.bfloat16, "device": torch.device("cuda", 1),
            "layout": torch.sparse_coo, "class": nn.Linear, "function": torch.relu,
            "qscheme": torch.per_tensor_affine, "exception": ValueError("why", 3)}


@file
def module():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.ModuleList([nn.Linear(2, 2)]))
    model[2][0].weight = nn.Parameter(model[2][0].weight.detach())
    model.register_buffer("steps", torch.tensor(4))
    model.tied = model[2][0]
    return model


@file
def checkpoint():
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(5, 4)).square().sum().backward()
        optimizer.step()
        scheduler.step()
    return {"epoch": 3, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(), "rng": torch.get_rng_state()[:16].clone()}


@file
def arrays():
    import numpy
    return {"matrix": numpy.arange(6.0).reshape(2, 3), "fortran": numpy.asfortranarray(
                numpy.arange(6, dtype="i2").reshape(2, 3)),
            "big_endian": numpy.arange(3, dtype=">u4"), "scalar": numpy.float32(0.1),
            "flag": numpy.bool_(True), "strings": numpy.array(["ab", "c"]), "none": numpy.array(5),
            "record": numpy.zeros(2, dtype=[("x", "i4"), ("y", "f8", (2,))]),
            "objects": numpy.array([None, "x"], dtype=object),
            "days": numpy.array(["2020-01-01"], dtype="datetime64[D]")}


@file
def many():
    """Enough storages that keys in order of their text are not in order of their number."""
    return [torch.tensor([float(i)]) for i in range(23)]


def save(path, make, **options):
    """Saves, or says why not."""
    try:
        torch.save(make(), path, **options)
    except Exception as why:
        if os.path.exists(path):
            os.remove(path)
        return f"{os.path.basename(path)} ({type(why).__name__})"
    return None


# Not `module`: in that format a class stands with its source and the path of that.
STREAMS = ("views", "parameters", "quantized", "containers", "checkpoint")


def save_streams(folder):
    """Some of the objects in the format before 1.6."""
    return [save(os.path.join(folder, name + ".legacy.pt"), FILES[name],
                 _use_new_zipfile_serialization=False) for name in STREAMS]


def main():
    warnings.simplefilter("ignore")
    folder = os.path.join(sys.argv[1], torch.__version__.split("+")[0])
    os.makedirs(folder, exist_ok=True)
    left_out = [save(os.path.join(folder, name + ".pt"), make) for name, make in FILES.items()]
    for protocol in (3, 4, 5):
        for name in ("scalars", "containers"):
            left_out.append(save(os.path.join(folder, f"{name}_protocol{protocol}.pt"), FILES[name],
                                 pickle_protocol=protocol))
    left_out += save_streams(folder)
    print(folder, "left out:", ", ".join(filter(None, left_out)) or "nothing")


if __name__ == "__main__":
    main()
