"""Writes the odd files that the golden cases look at: make_odd_files.py FOLDER. Needs no PyTorch.

Names that a terminal would obey, names that mean two things, deep nests, views that repeat one
element for ever, damage of several kinds, and files that are something else altogether.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data"))
from torch_zip import TorchZip  # noqa: E402


class Raw:
    """Opcodes that push one value, as they are."""

    def __init__(self, code):
        self.code = code


def text(value):
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def number(value):
    return b"J" + struct.pack("<i", value)


def encode(value):
    """Protocol 2 opcodes that push a value of Python's, or of ours."""
    if isinstance(value, Raw):
        return value.code
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    inside = b"".join(encode(item) for item in (sum(value.items(), ()) if isinstance(value, dict)
                                                 else value))
    start, end = {list: (b"](", b"e"), tuple: (b"(", b"t"), dict: (b"}(", b"u")}[type(value)]
    return start + inside + end


def storage(key, count, kind="FloatStorage"):
    inside = (text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu")
              + number(count))
    return Raw(b"(" + inside + b"tQ")


def tensor(key, count, shape, stride, offset=0):
    arguments = encode((storage(key, count), offset, shape, stride, False))
    hooks = b"ccollections\nOrderedDict\n)R"
    return Raw(b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments[:-1] + hooks + b"tR")


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def pickle(value):
    return b"\x80\x02" + encode(value) + b"."


def checkpoint(path, value, records=(), **layout):
    with TorchZip(path, **layout) as out:
        out.add("data.pkl", value if isinstance(value, bytes) else pickle(value))
        for key, data in records:
            out.add(f"data/{key}", data)
        out.add("version", b"3\n")


def pair(key="0"):
    return tensor(key, 2, (2,), (1,))


def names(path):
    """Keys with controls, line ends, overrides, a lone surrogate, and no characters at all."""
    keys = ["plain", "escape \x1b[31mred", "line\nend", "tab\tstop", "\u202eoverride", "nul\0",
            "\ud800", "žluťoučký", "", "quote'\"", "c1 \x9b1m"]
    checkpoint(path, {key: pair() for key in keys}, [("0", floats(1, 2))])


def root(path):
    """A tensor and nothing else."""
    checkpoint(path, pair(), [("0", floats(1, 2))])


def ambiguous(path):
    checkpoint(path, {"a.b": pair(), "a": {"b": pair()}, "unique": pair()}, [("0", floats(1, 2))])


def deep(path):
    """A list in a list, 600 times."""
    checkpoint(path, pickle(Raw(b"]" * 600 + b"a" * 599)))


def expanded(path):
    value = {"row": tensor("0", 4, (3, 4), (0, 1)), "huge": tensor("0", 4, (2**20, 2**20), (0, 0)),
             "wide": tensor("0", 4, (100, 4), (0, 1))}
    checkpoint(path, value, [("0", floats(1, 2, 3, 4))])


def endless(path):
    """2^61 elements: as float64 they are 2^64 bytes, which 64 bits do not hold."""
    value = {"w": tensor("0", 4, (2**20, 2**20, 2**21), (0, 0, 0))}
    checkpoint(path, value, [("0", floats(1, 2, 3, 4))])


def hollow(path):
    """Sizes that no element stands for."""
    huge = {"corner": tensor("0", 2, (2**30, 2**30, 0), (0, 0, 1)),
            "rows": tensor("0", 2, (2**22, 0), (1, 1)),
            "few": tensor("0", 2, (2, 0), (1, 1))}
    checkpoint(path, huge, [("0", floats(1, 2))])


def repeated(path):
    """Views that are small enough one by one, and together are not."""
    views = {"small": tensor("0", 2, (2,), (1,)), "gigabyte": tensor("0", 2, (2**27, 2), (0, 1)),
             "after": tensor("0", 2, (8, 2), (0, 1))}
    checkpoint(path, views, [("0", floats(1, 2))])


def flipped(path):
    """One bit of a storage differs from what its checksum says."""
    checkpoint(path, {"good": pair("0"), "bad": pair("1")},
               [("0", floats(1, 2)), ("1", floats(123, 456))])
    with open(path, "r+b") as stream:
        content = stream.read()
        stream.seek(content.index(floats(123, 456)))
        stream.write(floats(124, 456))


def missing(path):
    checkpoint(path, {"here": pair("0"), "gone": pair("1")}, [("0", floats(1, 2))])


def unreached(path):
    checkpoint(path, {"w": pair("0")}, [("0", floats(1, 2)), ("1", floats(3, 4, 5))])


def twice(path):
    """Two records of one name."""
    with TorchZip(path) as out:
        out.add("data.pkl", pickle({"w": pair()}))
        out.add("data/0", floats(1, 2))
        out.add("data/0", floats(3, 4))
        out.add("version", b"3\n")


def without_checksums(path):
    checkpoint(path, {"w": pair()}, [("0", floats(1, 2))], checksums=False)


def shared(path):
    """A list that two keys lead to, and lists of it that could multiply."""
    levels = b"](" + encode(pair()) + b"eq\x00"
    for level in range(1, 30):
        levels += b"](h" + bytes([level - 1]) + b"h" + bytes([level - 1]) + b"eq" + bytes([level])
    checkpoint(path, pickle(Raw(levels)), [("0", floats(1, 2))])


def values(path):
    value = {"none": None, "flags": [True, False], "real": 0.1, "tiny": 1e-05, "big": Raw(
        b"\x8a\x09" + (2**64).to_bytes(9, "little")), "long": "x" * 300, "many": list(range(60)),
        "nested": {"lr": 0.5, "betas": (0.9, 0.999)}, "one": ("only",), "empty": [{}, (), []],
        "class": Raw(b"cmy.module\nThing\n"),
        "object": Raw(b"cmy.module\nThing\n)\x81}(" + text("lr") + encode(0.25) + b"ub"),
        "call": Raw(b"cmy.module\nmake\n" + encode((1, "two")) + b"R")}
    checkpoint(path, value)


def broken_pickle(path):
    checkpoint(path, b"\x80\x02](K\x01K\x02e\x01.")


def plain_files(folder):
    contents = {
        "bare.pkl": pickle([1, "two"]),
        "taken.npy": b"something else",
        "broken.pkl": b"\x80\x02](K\x01h\x07e.",
        "lfs.pt": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64
                  + b"\nsize 1234\n",
        "page.pt": b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n",
        "empty.pt": b"",
        "text.pt": b"learning_rate = 0.1\n",
        "weights.gz": b"\x1f\x8b\x08\x00" + bytes(30),
    }
    for name, content in contents.items():
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(content)


def truncated(folder):
    with open(os.path.join(folder, "unreached.pt"), "rb") as stream:
        content = stream.read()
    with open(os.path.join(folder, "truncated.pt"), "wb") as stream:
        stream.write(content[:len(content) * 2 // 3])


CHECKPOINTS = (names, root, ambiguous, deep, expanded, endless, hollow, repeated, flipped, missing,
               unreached, twice, without_checksums, shared, values, broken_pickle)


def make(folder):
    os.makedirs(folder, exist_ok=True)
    for write in CHECKPOINTS:
        write(os.path.join(folder, f"{write.__name__}.pt"))
    plain_files(folder)
    truncated(folder)


if __name__ == "__main__":
    make(sys.argv[1])
