"""Makes files as PyTorch 1.4 to 1.8 wrote them out of files of 1.13: make_address_keys.py FOLDER.

Those releases used the address of a storage as its key, written in full at each reference, and had
neither a byte order record nor an id. Their pickles are otherwise the same, so FOLDER/1.13.1/NAME.pt
is rewritten, instruction by instruction, to FOLDER/address_keys/NAME.pt. Needs Python only.
"""
import io
import os
import pickletools
import struct
import sys
import zipfile

from torch_zip import TorchZip

NAMES = ("views", "parameters", "quantized", "checkpoint", "many", "sparse", "storages")
FIRST_ADDRESS, STEP = 94_318_202_675_904, 0x2E40
PUTS = ("BINPUT", "LONG_BINPUT")


def address(key):
    """An address in user space, as 64-bit Linux would give; not in the order of the keys."""
    return str(FIRST_ADDRESS + (int(key) * 7 % 31) * STEP)


class Rewriter:
    def __init__(self, data):
        self.data, self.out, self.slots, self.count = data, io.BytesIO(), {}, 0
        self.ops = list(pickletools.genops(data))
        self.keys = self.find_keys()

    def find_keys(self):
        """Positions in `ops` of the operands that are storage keys, with the key's text."""
        found, recent, memo, last = {}, [], {}, None
        for index, (op, argument, _) in enumerate(self.ops):
            if op.name in PUTS:
                memo[argument] = last
                continue
            last = argument if op.name == "BINUNICODE" else None
            recent.append((index, memo.get(argument) if op.name.endswith("BINGET") else argument))
            if op.name == "BINPERSID":  # MARK 'storage' class KEY location numel TUPLE BINPERSID
                place, key = recent[-5]
                found[place] = key
        return found

    def rewrite(self):
        ends = [position for _, _, position in self.ops[1:]] + [len(self.data)]
        for index, ((op, argument, start), end) in enumerate(zip(self.ops, ends)):
            if index in self.keys:
                self.put_key(self.keys[index], op.name == "BINUNICODE")
            elif op.name in PUTS:
                self.slots[argument] = self.put()
            elif op.name in ("BINGET", "LONG_BINGET"):
                self.index(self.slots[argument], b"h", b"j")
            else:
                self.out.write(self.data[start:end])
        return self.out.getvalue()

    def put_key(self, key, has_own_put):
        text = address(key).encode()
        self.out.write(b"X" + struct.pack("<I", len(text)) + text)
        if not has_own_put:
            self.put()

    def put(self):
        self.index(self.count, b"q", b"r")
        self.count += 1
        return self.count - 1

    def index(self, number, short, long):
        small = number < 256
        self.out.write(short + bytes([number]) if small else long + struct.pack("<I", number))


def rewrite_file(source, target, version):
    archive = zipfile.ZipFile(source)
    folder = archive.namelist()[0].split("/")[0]
    keys = {name.split("/")[-1] for name in archive.namelist() if "/data/" in name}
    records = {address(key): archive.read(f"{folder}/data/{key}") for key in keys}
    with TorchZip(target, folder) as out:
        out.add("data.pkl", Rewriter(archive.read(f"{folder}/data.pkl")).rewrite())
        for key in sorted(records):
            out.add(f"data/{key}", records[key])
        out.add("version", version)


def main():
    folder = sys.argv[1]
    os.makedirs(os.path.join(folder, "address_keys"), exist_ok=True)
    for name in NAMES:
        rewrite_file(os.path.join(folder, "1.13.1", name + ".pt"),
                     os.path.join(folder, "address_keys", name + ".pt"), b"3\n")
    rewrite_file(os.path.join(folder, "1.13.1", "views.pt"),
                 os.path.join(folder, "address_keys", "views_of_1.4.pt"), b"2\n")


if __name__ == "__main__":
    main()
