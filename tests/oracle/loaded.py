"""Loads a checkpoint with PyTorch itself, and keeps what each operation of its pickle made.

`torch.load` is given a pickle module whose machine is Python's own, with two changes: results of
calls and of persistent ids are kept by the number of the operation, and a class that cannot be
imported, or a call that fails, gives an inert object instead of an error.
"""
import hashlib
import types

import torch
from recognise import DTYPES, item_bytes, row, storage_bytes
from recorder import Numbered, numbered

import pickle

GIB = 2**30
SAME_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Stub:
    """Takes everything, does nothing."""

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def __init__(self, *args, **kwargs):
        pass

    def __setstate__(self, state):
        pass

    def __setitem__(self, key, value):
        pass

    def append(self, item):
        pass

    def extend(self, items):
        pass


def sparse_csr(layout, data):
    """What 1.13 meant with a function that later releases no longer have."""
    return torch.sparse_csr_tensor(*data)


# PyTorch 2.15 writes streams with untyped storages and asks, when it reads them, for this attribute.
if not hasattr(torch.UntypedStorage, "dtype"):
    torch.UntypedStorage.dtype = torch.uint8

FORMER = {("torch._utils", "_rebuild_sparse_csr_tensor"): sparse_csr}


def tracing_module(trace):
    """A pickle module for torch.load that fills `trace`."""

    class Unpickler(Numbered):
        dispatch = dict(Numbered.dispatch)

        def find_class(self, module, name):
            try:
                return super().find_class(module, name)
            except (ImportError, AttributeError):
                return FORMER.get((module, name), Stub)

        def load_reduce(self):
            args = self.stack.pop()
            self.stack[-1] = self.keep(self.stack[-1], args)

        def load_newobj(self):
            args = self.stack.pop()
            class_ = self.stack[-1]
            self.stack[-1] = self.keep(lambda *a: class_.__new__(class_, *a), args)

        def keep(self, function, args):
            try:
                made = function(*args)
            except Exception as why:  # an object that this PyTorch cannot make
                made = Stub()
                trace.failures[self.position] = why
            trace.values[self.position] = made
            return made

        def load_build(self):
            try:
                super().load_build()
            except Exception as why:
                trace.failures[self.position] = why

        def load_binpersid(self):
            pid = self.stack.pop()
            storage = self.persistent_load(pid)
            if pid[0] != "module":
                trace.keep_storage(pid, storage)
            self.append(storage)

    for code, step in ((pickle.REDUCE, Unpickler.load_reduce),
                       (pickle.NEWOBJ, Unpickler.load_newobj),
                       (pickle.BUILD, Unpickler.load_build),
                       (pickle.BINPERSID, Unpickler.load_binpersid)):
        Unpickler.dispatch[code[0]] = numbered(step)
    module = types.ModuleType("tracing")
    module.Unpickler, module.UnpicklingError = Unpickler, pickle.UnpicklingError
    module.load = lambda file, **options: Unpickler(file, **options).load()
    return module


class Trace:
    """One load of a file: values, failures and storage keys."""

    def __init__(self, path):
        self.values, self.failures, self.keys, self.kept = {}, {}, {}, []
        self.root = torch.load(path, map_location="cpu", weights_only=False,
                               pickle_module=tracing_module(self))

    def keep_storage(self, pid, storage):
        untyped = storage._untyped_storage if hasattr(storage, "_untyped_storage") else storage
        self.kept.append(untyped)
        self.keys.setdefault(untyped._cdata, str(pid[2]))

    def key(self, tensor):
        return self.keys[tensor.untyped_storage()._cdata]

    # ---- rows

    def row(self, tensor, digest):
        """The row of a tensor (recognise.Tensor): the facts of the loaded one, and its digest."""
        made = row(tensor)
        if tensor.kind in ("strided", "quantized"):
            made.update(self.of_strided(tensor))
        elif tensor.kind == "meta":
            made.update(self.facts(self.values[tensor.position]))
        elif tensor.kind.startswith("sparse"):
            made.update(self.of_sparse(tensor))
        if "parts" in made:
            made["parts"] = {name: self.row(part, digest)
                             for name, part in tensor.parts.items()}
        if digest:
            flat = tensor.kind in ("strided", "quantized")
            made["sha256"] = self.sha256(tensor) if flat else None
        return made

    def real(self, tensor):
        if tensor.position in self.failures:
            raise RuntimeError(f"operation {tensor.position}: {self.failures[tensor.position]!r}")
        real = self.values[tensor.position]
        return real.as_subclass(torch.Tensor) if type(real) is not torch.Tensor and not \
            isinstance(real, torch.nn.Parameter) else real

    @staticmethod
    def facts(real):
        return {"dtype": str(real.dtype).removeprefix("torch."), "shape": list(real.shape),
                "requires_grad": real.requires_grad, "numel": real.numel(),
                "parameter": isinstance(real, torch.nn.Parameter)}

    def of_strided(self, tensor):
        real = self.real(tensor)
        made = {**self.facts(real), "stride": list(real.stride()),
                "offset": real.storage_offset(), "storage": self.key(real)}
        if real.untyped_storage().nbytes() != storage_bytes(tensor.storage):
            made["storage_bytes"] = real.untyped_storage().nbytes()
        if real.is_quantized:
            made.update(self.quantizer(real))
        return made

    @staticmethod
    def quantizer(real):
        if real.qscheme() == torch.per_tensor_affine:
            return {"scale": real.q_scale(), "zero_point": real.q_zero_point()}
        return {"axis": real.q_per_channel_axis()}

    def of_sparse(self, tensor):
        real = self.real(tensor)
        made = self.facts(real)
        if "is_coalesced" in tensor.extra:
            made["is_coalesced"] = real.is_coalesced()
        for name, part in tensor.parts.items():
            inner = getattr(real, f"_{name}" if tensor.kind == "sparse_coo" else name)()
            assert torch.equal(inner.to_dense(), self.real(part)), name
        return made

    # ---- digests

    def sha256(self, tensor):
        real = self.real(tensor).detach()
        size = item_bytes(tensor)
        if size > GIB and size > 16 * real.untyped_storage().nbytes():
            return None
        return hashlib.sha256(elements(real)).hexdigest()


def elements(real):
    """The bytes of the elements in row-major order, conjugate and negative bits resolved."""
    if real.dtype in (torch.quint4x2, torch.quint2x4):
        return stored(real)
    if real.is_quantized:
        real = real.int_repr()
    real = real.resolve_conj().resolve_neg()
    as_integers = SAME_SIZE.get(DTYPES[str(real.dtype).removeprefix("torch.")])
    if as_integers is not None:
        real = real.view(as_integers)
    return stored(real.contiguous())


def stored(real):
    """The bytes of a contiguous tensor, as they lie in its storage."""
    raw = torch.tensor([], dtype=torch.uint8).set_(real.untyped_storage())
    start = real.storage_offset() * real.element_size()
    size = real.numel() * real.element_size()
    if real.dtype in (torch.quint4x2, torch.quint2x4):
        size = raw.numel()
    return raw[start:start + size].numpy().tobytes()
