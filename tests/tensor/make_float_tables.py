"""Writes float_tables.txt: what PyTorch makes of every bit pattern of its small floats.

    python make_float_tables.py OUT

    NAME hex…          the 256 values of an 8-bit format as binary32, 8 digits each
    NAME sha256        SHA-256 of the 65,536 values of a 16-bit format as little-endian binary32
    to_NAME sha256     SHA-256 of 65,536 binary32 numbers converted to the format; the numbers have
                       the upper half i and the lower half i * 40503 mod 65536, for i from 0

NaN stands as 7fc00000 and, converted, as all exponent bits and the first fraction bit.
"""

import hashlib
import sys

import torch

EIGHT_BITS = ("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu")
SIXTEEN_BITS = {"float16": 0x7E00, "bfloat16": 0x7FC0}


def digest(t):
    return hashlib.sha256(bytes(t.contiguous().untyped_storage())).hexdigest()


def as_bits(values):
    return torch.where(values.isnan(), torch.tensor(float("nan")), values).view(torch.int32)


def main():
    patterns = torch.arange(65536)
    lines = [f"# PyTorch {torch.__version__.split('+')[0]}"]
    for name in EIGHT_BITS:
        values = torch.arange(256).to(torch.uint8).view(getattr(torch, name)).float()
        lines.append(name + " " + "".join(f"{bits & 0xFFFFFFFF:08x}" for bits in as_bits(values).tolist()))
    for name in SIXTEEN_BITS:
        values = patterns.to(torch.uint16).view(getattr(torch, name)).float()
        lines.append(f"{name} {digest(as_bits(values))}")
    numbers = ((patterns << 16) | (patterns * 40503 % 65536)).to(torch.int32).view(torch.float32)
    for name, nan in SIXTEEN_BITS.items():
        bits = numbers.to(getattr(torch, name)).view(torch.int16)
        bits = torch.where(numbers.isnan(), torch.tensor(nan, dtype=torch.int16), bits)
        lines.append(f"to_{name} {digest(bits)}")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
