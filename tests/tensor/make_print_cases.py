"""Writes print_cases.txt: tensors and what PyTorch prints for them.

    python make_print_cases.py OUT [--seed N] [--count N] [--longest N]

A case is a block of lines; blocks are separated by an empty line.

    = KIND key=value …        the tensor (bytes: its storage in hexadecimal)
    + NAME key=value …        one line per part
    : key=value …             print options, if any
    |text                     the expected lines
"""

import argparse
import random
import warnings

import torch

warnings.simplefilter("ignore")

REAL = ["float16", "float32", "float64", "bfloat16"]
FLOAT8 = ["float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"]
INTEGER = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool"]
COMPLEX = ["complex32", "complex64", "complex128", "bcomplex32"]
LAYOUT_PARTS = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def sizes_text(sizes):
    return ",".join(map(str, sizes)) or "-"


def fields(t, **more):
    """The keys of a tensor with a storage."""
    storage = bytes(t.untyped_storage())
    keys = {"dtype": dtype_name(t.dtype), "shape": sizes_text(t.shape),
            "stride": sizes_text(t.stride()), "offset": t.storage_offset(), "bytes": storage.hex() or "-"}
    if t.is_conj():
        keys["conj"] = 1
    if t.is_neg():
        keys["neg"] = 1
    if t.requires_grad:
        keys["grad"] = 1
    keys |= more
    return " ".join(f"{k}={v}" for k, v in keys.items())


class Cases:
    def __init__(self, seed, longest):
        self.random = random.Random(seed)
        self.longest = longest
        self.blocks = []

    def add(self, lines, text, options=None):
        if len(text) > self.longest:
            return
        if options:
            lines = lines + [": " + " ".join(f"{k}={v}" for k, v in options.items())]
        self.blocks.append("\n".join(lines + ["|" + line for line in text.split("\n")]) + "\n")

    def strided(self, t, options=None):
        names = {"precision": "precision", "threshold": "threshold", "edge": "edgeitems",
                 "width": "linewidth", "scientific": "sci_mode"}
        torch.set_printoptions(profile="default")
        if options:
            torch.set_printoptions(**{names[k]: (bool(v) if k == "scientific" else v) for k, v in options.items()})
        parameter = {"parameter": 1} if isinstance(t, torch.nn.Parameter) else {}
        self.add(["= strided " + fields(t.detach() if parameter else t, **parameter,
                                        **({"grad": 1} if parameter and t.requires_grad else {}))], str(t), options)
        torch.set_printoptions(profile="default")

    def raw(self, dtype, size):
        """`size` items of any bits, or of numbers such as people store."""
        r = self.random
        item = torch.empty(0, dtype=dtype).element_size()
        style = r.randrange(6)
        name = dtype_name(dtype)
        if name in FLOAT8 + ["float4_e2m1fn_x2"] or style == 0:
            data = bytes(r.choice((0, 1, 255, r.randrange(256))) if style == 1 else r.randrange(256)
                         for _ in range(size * item))
            if name == "bool":
                data = bytes(b & 1 for b in data)
            return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(dtype) if size else torch.empty(0, dtype=dtype)
        if name in INTEGER:
            bound = r.choice((2, 10, 100, 128))
            low = -bound if name.startswith("int") else 0
            return torch.tensor([r.randrange(low, bound) for _ in range(size)]).to(dtype)
        parts = 2 if name in COMPLEX else 1
        scale = r.choice((1, 1, 10, 1e-5, 1e4, 1e9))
        pick = {1: lambda: float(r.randrange(-50, 50)), 2: lambda: r.gauss(0, 1), 3: lambda: r.gauss(0, 1) * scale,
                4: lambda: r.choice((0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf"), 3.0)),
                5: lambda: r.choice((0.0, 1.0, 1234567.0, 1e8, 1e-4, 9.9999e-5, 99999.5, 1000.0, 1.0))}[style]
        numbers = [pick() for _ in range(size * parts)]
        if parts == 1:
            return torch.tensor(numbers, dtype=torch.float64).to(dtype)
        half = {"complex32": torch.float16, "complex64": torch.float32, "complex128": torch.float64,
                "bcomplex32": torch.bfloat16}[name]
        return torch.tensor(numbers, dtype=torch.float64).to(half).view(dtype) if size else torch.empty(0, dtype=dtype)

    def view(self, dtype):
        """A view of few bytes, which may be large all the same."""
        r = self.random
        rank = r.choice((0, 1, 1, 1, 2, 2, 2, 3, 4))
        if r.random() < 0.12:
            shape = [r.choice((7, 11, 40, 1500)) for _ in range(rank)]
        else:
            shape = [r.choice((0, 1, 2, 3, 3, 5)) if r.random() < 0.9 else 9 for _ in range(rank)]
        while rank and torch.Size(shape).numel() > 5000:
            shape[r.randrange(rank)] = 2
        strides = [r.choice((0, 1, 1, 2, 3, 5)) for _ in range(rank)]
        while True:
            extent = 1 + sum((n - 1) * s for n, s in zip(shape, strides) if n)
            if extent <= 40:
                break
            strides[max(range(rank), key=lambda i: (shape[i] - 1) * strides[i])] //= 2
        offset = r.choice((0, 0, 0, 1, 3))
        base = self.raw(dtype, extent + offset).clone()
        return torch.as_strided(base, shape, strides, offset)

    def random_strided(self):
        r = self.random
        name = r.choice(REAL * 3 + FLOAT8 + INTEGER + COMPLEX * 2 + ["float4_e2m1fn_x2"])
        t = self.view(getattr(torch, name))
        if name == "float4_e2m1fn_x2" and t.dim() == 0:
            return
        if name in COMPLEX[:3] and r.random() < 0.3:
            t = t.conj()
            if r.random() < 0.5 and name in ("complex64", "complex128"):
                t = t.imag
        options = {}
        if r.random() < 0.15 and name not in FLOAT8:
            options = {r.choice(("precision", "threshold", "edge", "width", "scientific")): r.choice((0, 1, 2, 6))}
            if "width" in options:
                options["width"] = r.choice((20, 60, 120))
            if "scientific" in options:
                options["scientific"] &= 1
        elif r.random() < 0.1 and name in REAL + COMPLEX[1:3]:
            t = torch.nn.Parameter(t, requires_grad=r.random() < 0.5)
        elif r.random() < 0.1 and name in REAL:
            t = t.requires_grad_()
        self.strided(t, options)

    def sparse(self, t):
        """Any of the five sparse layouts."""
        names = LAYOUT_PARTS[t.layout]
        lines = [f"= {dtype_name(t.layout)} dtype={dtype_name(t.dtype)} shape={sizes_text(t.shape)}"
                 + (" grad=1" if t.requires_grad else "") + (" parameter=1" if isinstance(t, torch.nn.Parameter) else "")]
        for name in names:
            part = getattr(t.detach(), name)()
            lines.append(f"+ {name.lstrip('_')} {fields(part)}")
        self.add(lines, str(t))

    def all_sparse(self):
        r = self.random
        for _ in range(10):
            shape = [r.choice((2, 4, 6)) for _ in range(2)]
            dense = torch.tensor([[r.choice((0, 0, 1.5, r.randrange(9))) for _ in range(shape[1])] for _ in range(shape[0])])
            dense = dense.to(r.choice((torch.float32, torch.float64, torch.int32, torch.complex64)))
            self.sparse(dense.to_sparse())
            self.sparse(dense.to_sparse_csr())
            self.sparse(dense.to_sparse_csc())
            self.sparse(dense.to_sparse_bsr((2, 2)))
            self.sparse(dense.to_sparse_bsc((2, 2)))
        self.sparse(torch.zeros(3, 4).to_sparse())
        self.sparse(torch.zeros(3, 4).to_sparse_csr())
        self.sparse(torch.zeros(3, 4, dtype=torch.float64).to_sparse_csc().requires_grad_())
        self.sparse(torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0, 4), (2, 3, 4)))
        self.sparse(torch.nn.Parameter(torch.eye(3).to_sparse()))
        self.sparse(torch.eye(40).to_sparse().requires_grad_())
        self.sparse(torch.sparse_csr_tensor(torch.tensor([0, 1, 2], dtype=torch.int32),
                                            torch.tensor([1, 0], dtype=torch.int32), torch.tensor([1.0, 2.0]), (2, 2)))
        self.sparse(torch.eye(4).expand(2, 4, 4).to_sparse_csr())

    def quantized(self, t):
        lines = ["= quantized " + fields(t, scheme="per_tensor_affine")]
        if t.qscheme() == torch.per_tensor_affine:
            lines[0] += f" scale={t.q_scale()!r} zero_point={t.q_zero_point()}"
        else:
            lines[0] = "= quantized " + fields(t, scheme="per_channel_affine", axis=t.q_per_channel_axis())
            lines.append("+ scales " + fields(t.q_per_channel_scales()))
            lines.append("+ zero_points " + fields(t.q_per_channel_zero_points()))
        self.add(lines, str(t))

    def all_quantized(self):
        r = self.random
        for dtype in (torch.qint8, torch.quint8, torch.qint32, torch.quint4x2):
            for shape in ((), (3,), (2, 5), (2, 3, 2), (0, 3)):
                x = torch.tensor([r.gauss(0, 3) for _ in range(torch.Size(shape).numel())]).reshape(shape)
                if dtype == torch.quint4x2 and 0 in shape:
                    continue
                self.quantized(torch.quantize_per_tensor(x, r.choice((0.1, 1.0, 1e-05, 0.037, 1 / 3)), r.randrange(9), dtype))
        base = torch.quantize_per_tensor(torch.randn(4, 5), 0.05, 3, torch.qint8)
        self.quantized(base.t())
        self.quantized(base[1:, ::2])
        self.quantized(torch.as_strided(base, (1200,), (0,)))
        for dtype in (torch.qint8, torch.quint8, torch.qint32):
            for axis in (0, 1):
                x = torch.tensor([r.gauss(0, 3) for _ in range(12)]).reshape(3, 4)
                n = x.shape[axis]
                scales = torch.tensor([r.random() + 0.01 for _ in range(n)], dtype=torch.float64)
                points = torch.tensor([r.randrange(9) for _ in range(n)])
                self.quantized(torch.quantize_per_channel(x, scales, points, axis, dtype))
                if dtype != torch.qint32:
                    self.quantized(torch.quantize_per_channel(x, scales.float(), points.float(), axis, dtype))
        for dtype in (torch.quint4x2, torch.quint2x4):
            x = torch.tensor([r.gauss(0, 3) for _ in range(15)]).reshape(3, 5)
            self.quantized(torch.quantize_per_channel(x, torch.rand(3) + 0.1, torch.rand(3), 0, dtype))
        wide = torch.quantize_per_channel(torch.randn(20, 60), torch.rand(20).double() + 0.1, torch.arange(20), 0, torch.qint8)
        self.quantized(wide)

    def nested(self, tensors, **more):
        t = torch.nested.nested_tensor(tensors, **more)
        grad = " grad=1" if t.requires_grad else ""
        lines = [f"= nested dtype={dtype_name(t.dtype)}{grad}",
                 "+ buffer " + fields(t.detach().values()),
                 "+ sizes " + fields(t._nested_tensor_size()),
                 "+ strides " + fields(t._nested_tensor_strides()),
                 "+ storage_offsets " + fields(t._nested_tensor_storage_offsets())]
        self.add(lines, str(t))

    def all_nested(self):
        self.nested([torch.randn(2, 3), torch.randn(1, 3)])
        self.nested([torch.randn(2, 3), torch.randn(1, 3)], dtype=torch.float64, requires_grad=True)
        self.nested([torch.arange(4), torch.arange(2), torch.arange(0)])
        self.nested([torch.randn(0, 3), torch.randn(2, 0)])
        self.nested([])

    def meta(self, t):
        flags = (" grad=1" if t.requires_grad else "") + (" parameter=1" if isinstance(t, torch.nn.Parameter) else "")
        self.add([f"= meta dtype={dtype_name(t.dtype)} shape={sizes_text(t.shape)} stride={sizes_text(t.stride())}{flags}"], str(t))

    def all_meta(self):
        for shape in ((), (3,), (2, 3), (0,), (0, 2)):
            for dtype in (torch.float32, torch.int64, torch.bits8):
                self.meta(torch.empty(shape, dtype=dtype, device="meta"))
        self.meta(torch.nn.Parameter(torch.empty(2, 3, device="meta")))

    def fixed_strided(self):
        for name in ("bits8", "bits16", "bits1x8", "uint1", "int7", "float4_e2m1fn_x2", "complex32"):
            for shape in ((0,), (2, 0, 3)):
                self.strided(torch.empty(shape, dtype=getattr(torch, name)))
        self.strided(torch.zeros((1,) * 70))
        self.strided(torch.zeros(2, 3, 0, 5))
        self.strided(torch.tensor(1.5).expand(1100, 7, 1200))
        self.strided(torch.tensor(7).expand(2**40, 3))
        self.strided(torch.tensor([1.0, 2.0])._neg_view())
        for value in (0.0, -0.0, 1.0, 1e10, 1e-10, float("nan"), float("inf"), -float("inf"), 123456.789, 0.5):
            self.strided(torch.tensor(value))
            self.strided(torch.tensor(value, dtype=torch.float64))
            self.strided(torch.tensor([value, 1.0]))
            self.strided(torch.tensor(complex(value, -value)))
        for width in range(60, 81):
            self.strided(torch.zeros(2, dtype=torch.float64).requires_grad_(), {"width": width - 20})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=700)
    parser.add_argument("--longest", type=int, default=900, help="characters of a case's text")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    cases = Cases(args.seed, args.longest)
    cases.fixed_strided()
    cases.all_sparse()
    cases.all_quantized()
    cases.all_nested()
    cases.all_meta()
    for _ in range(args.count):
        cases.random_strided()
    with open(args.out, "w", encoding="utf-8") as out:
        out.write(f"# PyTorch {torch.__version__.split('+')[0]}\n\n" + "\n".join(cases.blocks))
    print(len(cases.blocks), "cases")


if __name__ == "__main__":
    main()
