"""What the records of a pickle mean: the few calls that a checkpoint reader has to know.

Everything here follows from the arguments alone; PyTorch is not asked. `loaded.py` asks it.
"""
import math

from recorder import MISSING, Call, Global, Persistent

# PyTorch's dtypes and the bytes of one item.
DTYPES = {"uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "float32": 4,
          "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16, "bool": 1, "qint8": 1,
          "quint8": 1, "qint32": 4, "bfloat16": 2, "quint4x2": 1, "quint2x4": 1, "bits1x8": 1,
          "bits2x4": 1, "bits4x2": 1, "bits8": 1, "bits16": 2, "float8_e5m2": 1,
          "float8_e4m3fn": 1, "float8_e5m2fnuz": 1, "float8_e4m3fnuz": 1, "uint16": 2, "uint32": 4,
          "uint64": 8, "float8_e8m0fnu": 1, "float4_e2m1fn_x2": 1, "bcomplex32": 4,
          **{f"{sign}int{bits}": 1 for sign in ("", "u") for bits in range(1, 8)}}
STORAGES = {"ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16",
            "IntStorage": "int32", "LongStorage": "int64", "HalfStorage": "float16",
            "FloatStorage": "float32", "DoubleStorage": "float64",
            "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
            "BoolStorage": "bool", "QInt8Storage": "qint8", "QUInt8Storage": "quint8",
            "QInt32Storage": "qint32", "BFloat16Storage": "bfloat16",
            "QUInt4x2Storage": "quint4x2", "QUInt2x4Storage": "quint2x4",
            "UntypedStorage": "uint8"}
VALUES_PER_BYTE = {"quint4x2": 2, "quint2x4": 4}
PLAIN_TYPES = {("torch", "Tensor"), ("torch.nn.parameter", "Parameter")}
SPARSE_PARTS = {"sparse_coo": ("indices", "values"),
                "sparse_csr": ("crow_indices", "col_indices", "values"),
                "sparse_bsr": ("crow_indices", "col_indices", "values"),
                "sparse_csc": ("ccol_indices", "row_indices", "values"),
                "sparse_bsc": ("ccol_indices", "row_indices", "values")}


class Tensor:
    """A tensor as its pickle describes it."""

    def __init__(self, kind, position, **facts):
        self.kind, self.position = kind, position
        self.dtype = self.shape = self.stride = self.offset = self.storage = None
        self.requires_grad = self.parameter = False
        self.device = self.type = None
        self.state = MISSING
        self.parts, self.extra = {}, {}
        self.__dict__.update(facts)

    def changed(self, **facts):
        copy = Tensor(self.kind, self.position)
        copy.__dict__.update(self.__dict__)
        copy.__dict__.update(facts)
        return copy


def dtype_of(value):
    """The name of a dtype that stands as a global, or None."""
    if isinstance(value, Global) and value.module == "torch" and value.name in DTYPES:
        return value.name
    return None


def storage_dtype(persistent):
    return STORAGES[persistent.pid[1].name]


def is_storage(value):
    return isinstance(value, Persistent) and isinstance(value.pid, tuple) \
        and len(value.pid) in (5, 6) and value.pid[0] == "storage"


def storage_bytes(persistent):
    first = persistent.first
    return first.pid[4] * DTYPES[storage_dtype(first)]


# ---- calls that are no tensors

def builtin(value, name):
    return value.key() in (("__builtin__", name), ("builtins", name))


def plain(call):
    """(kind, value) of bytes, sets, sizes, … made by a call, or None."""
    name, args = call.callable, call.args
    if name.key() == ("_codecs", "encode") and len(args) == 2 and args[1] == "latin1":
        return "bytes", args[0].encode("latin1")
    if builtin(name, "bytes") and not args:
        return "bytes", b""
    if builtin(name, "bytearray"):
        return "bytearray", byte_array(args)
    if builtin(name, "set") or builtin(name, "frozenset"):
        return name.name, args[0] if args else []
    if builtin(name, "complex") and len(args) == 2:
        return "complex", args
    if name.key() == ("collections", "OrderedDict") and not args:
        return "ordered_dict", call.dict_items
    if name.key() == ("torch", "Size"):
        return "size", list(args[0])
    if name.key() == ("torch", "device"):
        return "device", ":".join(str(part) for part in args)
    if name.key() == ("torch.serialization", "_get_layout"):
        return "layout", args[0].removeprefix("torch.")
    return None


def byte_array(args):
    if not args:
        return b""
    value = args[0]
    if isinstance(value, Call):
        return plain(value)[1]
    return value.encode("latin-1") if isinstance(value, str) else bytes(value)


def meaning(call):
    """(kind, value) of a call that is recognised, ("tensor", Tensor) among them; else None."""
    if not hasattr(call, "meaning"):
        call.meaning = None
        if call.how == "reduce" and isinstance(call.callable, Global):
            tensor = TENSORS.get(call.callable.key())
            made = tensor(call.args, call.position) if tensor else None
            call.meaning = ("tensor", made) if made else plain(call)
    return call.meaning


def tensor_of(value):
    known = meaning(value) if isinstance(value, Call) else None
    return known[1] if known and known[0] == "tensor" else None


# ---- tensors

def strided(args, position, dtype=None, kind="strided"):
    storage, offset, size, stride = args[:4]
    if len(storage.pid) == 6 and storage.pid[5]:
        offset += storage.pid[5][1]
    return Tensor(kind, position, dtype=dtype or storage_dtype(storage), shape=list(size),
                  stride=list(stride), offset=offset, storage=storage,
                  device=storage.first.pid[3])


def rebuild_tensor(args, position):
    return strided(args, position)


def rebuild_tensor_v2(args, position):
    return strided(args, position).changed(requires_grad=args[4])


def rebuild_tensor_v3(args, position):
    return strided(args, position, dtype_of(args[6])).changed(requires_grad=args[4])


def rebuild_qtensor(args, position):
    made = strided(args, position, kind="quantized").changed(requires_grad=args[5])
    scheme = args[4][0].name
    if scheme == "per_tensor_affine":
        made.extra = {"scheme": scheme, "scale": args[4][1], "zero_point": args[4][2]}
    else:
        made.extra = {"scheme": scheme, "axis": args[4][3]}
        made.parts = {"scales": tensor_of(args[4][1]), "zero_points": tensor_of(args[4][2])}
    return made


def rebuild_parameter(args, position):
    return tensor_of(args[0]).changed(requires_grad=args[1], parameter=True, position=position)


def rebuild_parameter_with_state(args, position):
    return rebuild_parameter(args, position).changed(state=args[3])


def rebuild_sparse(args, position):
    layout, data = meaning(args[0])[1], args[1]
    names = SPARSE_PARTS[layout]
    parts = dict(zip(names, map(tensor_of, data)))
    made = Tensor(layout, position, shape=size_of(data[len(names)]), parts=parts)
    if layout == "sparse_coo" and len(data) == 4:
        made.extra = {"is_coalesced": data[3]}
    return made


def size_of(value):
    return list(meaning(value)[1]) if isinstance(value, Call) else list(value)


def rebuild_nested(args, position):
    return Tensor("nested", position,
                  parts=dict(zip(("buffer", "sizes", "strides", "storage_offsets"),
                                 map(tensor_of, args))))


def rebuild_jagged(args, position):
    named = args[0] if isinstance(args[0], dict) else dict(zip(("values", "offsets", "lengths"),
                                                               args))
    parts = {name: tensor_of(named.get(name)) for name in ("values", "offsets", "lengths")}
    return Tensor("nested", position, parts={name: part for name, part in parts.items() if part})


def rebuild_meta(args, position):
    return Tensor("meta", position, dtype=dtype_of(args[0]), shape=size_of(args[1]),
                  stride=list(args[2]), offset=0, device="meta", requires_grad=args[3])


def rebuild_wrapper(args, position):
    return Tensor("subclass", position, dtype=dtype_of(args[1]), shape=size_of(args[2]),
                  device=meaning(args[6])[1], requires_grad=args[7])


def rebuild_from_type(args, position):
    function, type_, inner, state = args
    made = TENSORS[function.key()](inner, position).changed(state=state)
    if type_.key() in PLAIN_TYPES:
        return made
    made = made.changed(type=type_.key())
    if made.kind == "subclass":
        return made.changed(parts=inner_tensors(state))
    return made if made.kind == "nested" else wrapped(made)


def inner_tensors(state):
    """The attributes of a wrapper's state that are tensors, those of slots after the others."""
    pairs = state if isinstance(state, tuple) else (state,)
    return {name: tensor_of(value) for part in pairs if isinstance(part, dict)
            for name, value in part.items() if tensor_of(value)}


def wrapped(made):
    """A subclass around one plain tensor."""
    base = made.changed(type=None, state=MISSING, parameter=False)
    return Tensor("subclass", made.position, dtype=made.dtype, shape=made.shape,
                  device=made.device, requires_grad=made.requires_grad, type=made.type,
                  state=made.state, parts={"base": base})


TENSORS = {("torch._utils", name): function for name, function in (
    ("_rebuild_tensor", rebuild_tensor), ("_rebuild_tensor_v2", rebuild_tensor_v2),
    ("_rebuild_tensor_v3", rebuild_tensor_v3), ("_rebuild_qtensor", rebuild_qtensor),
    ("_rebuild_parameter", rebuild_parameter),
    ("_rebuild_parameter_with_state", rebuild_parameter_with_state),
    ("_rebuild_sparse_tensor", rebuild_sparse), ("_rebuild_sparse_csr_tensor", rebuild_sparse),
    ("_rebuild_nested_tensor", rebuild_nested),
    ("_rebuild_meta_tensor_no_storage", rebuild_meta),
    ("_rebuild_wrapper_subclass", rebuild_wrapper))}
TENSORS[("torch._tensor", "_rebuild_from_type_v2")] = rebuild_from_type
TENSORS[("torch._tensor", "_rebuild_from_type")] = rebuild_from_type
TENSORS[("torch.tensor", "_rebuild_from_type")] = rebuild_from_type
TENSORS[("torch.nested._internal.nested_tensor", "_rebuild_njt")] = rebuild_jagged
TENSORS[("torch.nested._internal.nested_tensor", "NestedTensor")] = rebuild_jagged


# ---- rows

def item_bytes(tensor):
    """Bytes of the elements laid out without gaps; packed types fill up each row."""
    per_byte = VALUES_PER_BYTE.get(tensor.dtype)
    if per_byte and tensor.shape:
        return math.prod(tensor.shape[:-1]) * -(-tensor.shape[-1] // per_byte)
    return math.prod(tensor.shape) * DTYPES[tensor.dtype]


def row(tensor):
    """The row of `flambeau ls` without name, path and digest."""
    inner = {name: row(part) for name, part in tensor.parts.items()}
    lead = inner.get("values") or inner.get("buffer") or next(iter(inner.values()), None)
    flat = tensor.kind in ("strided", "quantized", "meta")
    made = {
        "kind": tensor.kind,
        "dtype": tensor.dtype if tensor.dtype or not lead else lead["dtype"],
        "shape": tensor.shape,
        "stride": tensor.stride if flat else None,
        "offset": tensor.offset if flat else None,
        "storage": str(tensor.storage.pid[2]) if tensor.storage and flat else None,
        "storage_bytes": storage_bytes(tensor.storage) if tensor.storage and flat else None,
        "device": tensor.device or lead["device"],
        "requires_grad": tensor.requires_grad,
        "parameter": tensor.parameter,
        "numel": math.prod(tensor.shape) if tensor.shape is not None else lead["numel"],
        "bytes": item_bytes(tensor) if flat else sum(part["bytes"] for part in inner.values()),
        **tensor.extra,
    }
    if tensor.kind not in ("strided", "meta"):
        made["parts"] = inner
    return made
