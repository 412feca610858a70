"""What `flambeau tree --json FILE` has to print, from the pickle as Python reads it."""
import base64

from archive import opened
from recognise import dtype_of, is_storage, meaning, row
from recorder import MISSING, Bytes, Call, Global, Persistent, Set, record

EXACT_INTEGERS = 2**53


class Tree:
    """Numbers the objects as they first appear, and gives each as JSON."""

    def __init__(self):
        self.ids, self.kept = {}, []

    def value(self, value):
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return value if abs(value) <= EXACT_INTEGERS else {"int": str(value)}
        if isinstance(value, float):
            return {"float": repr(value)}
        if isinstance(value, Global):
            return self.of_global(value)
        known = meaning(value) if isinstance(value, Call) else None
        if known and known[0] in ("device", "layout"):
            return {known[0]: known[1]}
        if id(value) in self.ids:
            return {"ref": self.ids[id(value)]}
        self.ids[id(value)] = len(self.ids)
        self.kept.append(value)
        return {"id": self.ids[id(value)], **self.body(value, known)}

    @staticmethod
    def of_global(value):
        dtype = dtype_of(value)
        return {"dtype": dtype} if dtype else {"global": list(value.key())}

    def body(self, value, known):
        if isinstance(value, list):
            return {"list": self.values(value)}
        if isinstance(value, dict):
            return {"dict": self.pairs(value)}
        if isinstance(value, tuple):
            return {"tuple": self.values(value)}
        if isinstance(value, Set):
            return {value.kind: self.values(value.items)}
        if isinstance(value, bytearray):
            return {"bytearray": text(value)}
        if isinstance(value, (Bytes, bytes)):
            return {"bytes": text(value)}
        if isinstance(value, Persistent):
            return self.persistent(value)
        return self.recognised(value, *known) if known else {"object": self.object(value)}

    def values(self, items):
        return [self.value(item) for item in items]

    def pairs(self, items):
        return [[self.value(key), self.value(item)] for key, item in items.items()]

    def persistent(self, value):
        if not is_storage(value):
            return {"persistent": self.value(value.pid)}
        _, class_, key, location, numel = value.pid[:5]
        if len(value.pid) == 6 and value.pid[5]:
            numel = value.pid[5][2]
        return {"storage": {"class": ".".join(class_.key()), "key": str(key), "device": location,
                            "numel": numel}}

    def recognised(self, call, kind, value):
        if kind in ("bytes", "bytearray"):
            return {kind: text(value)}
        if kind in ("set", "frozenset"):
            return {kind: self.values(value)}
        if kind == "complex":
            return {kind: [repr(float(part)) for part in value]}
        if kind == "size":
            return {kind: value}
        if kind == "tensor":
            return self.tensor(value)
        made = {kind: self.pairs(value)}
        if call.state is not MISSING:
            made["state"] = self.value(call.state)
        return made

    def tensor(self, tensor):
        made = {"tensor": row(tensor)}
        if tensor.type:
            made["type"] = list(tensor.type)
        if tensor.state is not MISSING and tensor.state is not None:
            made["state"] = self.value(tensor.state)
        return made

    def object(self, call):
        made = {"callable": self.value(call.callable), "args": self.value(call.args),
                "how": call.how}
        if call.kwargs is not None:
            made["kwargs"] = self.value(call.kwargs)
        if call.state is not MISSING:
            made["state"] = self.value(call.state)
        if call.list_items:
            made["list_items"] = self.values(call.list_items)
        if call.dict_items:
            made["dict_items"] = self.pairs(call.dict_items)
        return made


def text(data):
    return base64.b64encode(bytes(data)).decode()


def expected_tree(path):
    """The document without `file`."""
    file = opened(path)
    return {"container": file.container, "root": Tree().value(record(file.pickle()))}
