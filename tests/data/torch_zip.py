"""Writes a zip as PyTorch lays it out (docs/format.md), record by record, any order and content.

    with TorchZip("out.pt", folder="archive") as out:
        out.add("data.pkl", pickle_bytes)
        out.add("version", b"3\\n")
"""
import struct
import zlib

UTF8, DESCRIPTOR = 0x0800, 0x0008


class TorchZip:
    def __init__(self, path, folder="archive", alignment=64, checksums=True):
        self.file = open(path, "wb")
        self.folder, self.alignment, self.checksums = folder, alignment, checksums
        self.directory, self.offset = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0] is None:
            self.finish()
        self.file.close()

    def put(self, data):
        self.file.write(data)
        self.offset += len(data)

    def add(self, record, data, deflate=False):
        """Local header, name, padding extra, data, and a descriptor unless the record is empty."""
        name = f"{self.folder}/{record}".encode()
        body = raw_deflate(data) if deflate else data
        crc = zlib.crc32(data) if self.checksums else 0
        needed, method = (20, 8) if deflate else (0, 0)
        flags = UTF8 | (DESCRIPTOR if data else 0)
        header = self.offset
        pad = -(header + 30 + len(name) + 4) % self.alignment
        self.put(struct.pack("<4s5H3I2H", b"PK\x03\x04", needed, flags, method, 0, 0, 0, 0, 0,
                             len(name), pad + 4) + name)
        self.put(struct.pack("<2sH", b"FB", pad) + b"Z" * pad)
        self.put(body)
        if data:
            self.put(struct.pack("<4s3I", b"PK\x07\x08", crc, len(body), len(data)))
        self.directory.append(struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 0, needed, flags, method, 0,
                                          0, crc, len(body), len(data), len(name), 0, 0, 0, 0, 0,
                                          header) + name)

    def finish(self):
        """Directory, ZIP64 end record and its locator, end record."""
        start, count = self.offset, len(self.directory)
        for entry in self.directory:
            self.put(entry)
        size, end = self.offset - start, self.offset
        self.put(struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 0x031E, 45, 0, 0, count, count, size,
                             start))
        self.put(struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1))
        self.put(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, min(count, 0xFFFF),
                             min(count, 0xFFFF), size, start, 0))


def raw_deflate(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()
