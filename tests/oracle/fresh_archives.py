"""Sound archives that torch.save would not write today: other layouts, orders and tags."""
import io
import os
import struct
import sys
import zipfile

import torch
from torch.utils.serialization import config

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data"))
from torch_zip import TorchZip  # noqa: E402


def state():
    return {"w": torch.arange(12.0).view(3, 4), "t": torch.arange(12.0).view(3, 4).t(),
            "i": torch.arange(5), "e": torch.empty(0), "h": torch.ones(3, dtype=torch.float16),
            "z": torch.complex(torch.ones(2), torch.arange(2.0))}


def records(made):
    """(name, bytes) of what torch.save writes for an object."""
    buffer = io.BytesIO()
    torch.save(made, buffer)
    archive = zipfile.ZipFile(buffer)
    return [(name.split("/", 1)[1], archive.read(name)) for name in archive.namelist()]


def with_alignment(path, alignment):
    with config.patch("save.storage_alignment", alignment):
        torch.save(state(), path)


def without_checksums(path):
    with config.patch("save.compute_crc32", False):
        torch.save(state(), path)


def with_holes(path):
    with torch.serialization.skip_data():
        torch.save(state(), path)


def deflated(path):
    with TorchZip(path) as out:
        for name, data in records(state()):
            out.add(name, data, deflate=len(data) > 3)


def repacked(path):
    """By Python's zipfile: no padding, other versions and times, some records deflated."""
    with zipfile.ZipFile(path, "w") as out:
        for i, (name, data) in enumerate(records(state())):
            out.writestr(f"archive/{name}", data,
                         zipfile.ZIP_DEFLATED if i % 2 else zipfile.ZIP_STORED)


def with_folder(path, folder):
    with TorchZip(path, folder) as out:
        for name, data in records(state()):
            out.add(name, data)


def with_more_records(path):
    with TorchZip(path) as out:
        for name, data in records(state()):
            out.add(name, data)
            out.add(f"extra/{name}", b"")
        out.add("x" * 400, b"long name")


def backwards(path):
    """Records in the reverse order; the folder is that of the first entry all the same."""
    with TorchZip(path) as out:
        for name, data in reversed(records(state())):
            out.add(name, data)


def in_capitals(path):
    with TorchZip(path) as out:
        for name, data in records(state()):
            out.add(name.upper() if name == "data.pkl" else name, data)


def trailing(path):
    torch.save(state(), path)
    with open(path, "ab") as file:
        file.write(b"\0" * 1000)


def swapped(data, size):
    return b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))


def big_endian(path):
    """The storages of `state` in the other byte order; each half of a complex number by itself."""
    sizes = [4, 4, 8, 1, 2, 4]
    with TorchZip(path) as out:
        for name, data in records(state()):
            if name == "byteorder":
                data = b"big"
            elif name.startswith("data/"):
                data = swapped(data, sizes[int(name.split("/")[1])])
            out.add(name, data)


def with_tag(path, tag):
    """A file whose storages lived elsewhere: the location of `cpu` becomes another."""
    old, new = (b"X" + struct.pack("<I", len(text)) + text for text in (b"cpu", tag.encode()))
    with TorchZip(path) as out:
        for name, data in records(state()):
            out.add(name, data.replace(old, new) if name == "data.pkl" else data)


def python2(path):
    """Byte strings where Python 3 has text, as Python 2 pickled them."""
    old = b"X\x01\x00\x00\x00w"
    with TorchZip(path) as out:
        for name, data in records(state()):
            if name == "data.pkl":
                data = data.replace(old, b"U\x03\xc5\x99w")
            out.add(name, data)


def several_keys(path):
    """Two keys that differ in case only are one record for a reader that ignores case."""
    with TorchZip(path) as out:
        for name, data in records(state()):
            out.add(name.replace("data/", "DATA/"), data)


ARCHIVES = {
    "alignment_1": lambda path: with_alignment(path, 1),
    "alignment_4": lambda path: with_alignment(path, 4),
    "alignment_4096": lambda path: with_alignment(path, 4096),
    "no_checksums": without_checksums, "holes": with_holes, "deflated": deflated,
    "repacked": repacked, "folder_dots": lambda path: with_folder(path, "a.b c"),
    "folder_unicode": lambda path: with_folder(path, "žlutý"),
    "more_records": with_more_records, "backwards": backwards, "capitals": in_capitals,
    "capital_folder": several_keys, "trailing": trailing, "big_endian": big_endian,
    "tag_cuda": lambda path: with_tag(path, "cuda:1"), "tag_mps": lambda path: with_tag(path, "mps"),
    "tag_own": lambda path: with_tag(path, "my_backend:7"), "python2": python2,
}
