"""What CPython makes of a pickle, as the text that `pickle_dump` prints of the same pickle.

The unpicklers run with classes that only record what is done to them,
    so that nothing of a pickle is
imported or called.
"""
import copyreg
import io
import pickle
import pickletools
import struct
import sys

class Refusal(Exception):
    """A pickle that flambeau states to be unsupported."""


class Recording(type):
    def __call__(cls, *args, **kwargs):
        return record(cls, "call", cls, args, kwargs)


def record(cls, how, callee, args, kwargs):
    made = object.__new__(cls)
    made.how, made.callee, made.args, made.kwargs = how, callee, args, kwargs
    made.list_items, made.dict_items, made.states = [], [], []
    return made


class Recorded(metaclass=Recording):
    __slots__ = ("how", "callee", "args", "kwargs", "list_items", "dict_items", "states")
    __getinitargs__ = None

    def __new__(cls, *args, **kwargs):
        return record(cls, "new", cls, args, kwargs)

    def __call__(self, *args, **kwargs):
        return record(Recorded, "call", self, args, kwargs)

    def append(self, item):
        self.list_items.append(item)

    def extend(self, items):
        self.list_items.extend(items)

    def __setitem__(self, key, value):
        self.dict_items.append((key, value))

    def __setstate__(self, state):
        self.states.append(state)


class RecordedDict(Recorded):
    """An OrderedDict keeps each key once."""
    __slots__ = ("keyed",)

    def __setitem__(self, key, value):
        if not hasattr(self, "keyed"):
            self.keyed = {}
        self.keyed[key] = value
        self.dict_items = list(self.keyed.items())


class Persistent:
    __slots__ = ("pid",)

    def __init__(self, pid):
        self.pid = pid

    def __call__(self, *args, **kwargs):
        return record(Recorded, "call", self, args, kwargs)


class Unpickling:
    """What both unpicklers share: names become classes, ids become objects."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data), encoding="latin1", fix_imports=False)
        self.classes = {}

    def find_class(self, module, name):
        key = (module, name)
        if key not in self.classes:
            base = RecordedDict if key == ("collections", "OrderedDict") else Recorded
            made = Recording("stub", (base,), {"__slots__": ()})
            MODULE_AND_NAME[made] = key
            self.classes[key] = made
        return self.classes[key]

    def persistent_load(self, pid):
        return Persistent(pid)


class CUnpickler(Unpickling, pickle.Unpickler):
    pass


class PyUnpickler(Unpickling, pickle._Unpickler):
    pass


MODULE_AND_NAME = {}
EXTENSIONS = (1, 7, 255, 256, 65535, 65536, 2**31 - 1)
for code in EXTENSIONS:
    copyreg.add_extension("extension of the test", str(code), code)


class Dump:
    """The text that pickle_dump makes of a graph, of Python objects."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.seen = {}
        self.out = []

    def run(self, root):
        todo = [root]
        while todo:
            task = todo.pop()
            if isinstance(task, Text):
                self.out.append(task)
                continue
            if self.numbers and has_identity(task):
                new = id(task) not in self.seen
                self.out.append("@%d" % self.seen.setdefault(id(task), len(self.seen)))
                if not new:
                    self.out.append(" ")
                    continue
            todo.extend(reversed(self.parts(task)))
        return "".join(self.out)

    def parts(self, value):
        kind = type(value)
        if kind in SCALARS:
            return [Text(SCALARS[kind](value) + " ")]
        if kind is Persistent:
            return [Text("p( "), value.pid, Text(") ")]
        if kind is Recording:
            module, name = MODULE_AND_NAME[value]
            if module == "extension of the test":
                return [Text("x%s " % name)]
            return [Text("g%s.%s " % (spell(module), spell(name)))]
        if kind is dict:
            return listed("d( ", [part for pair in value.items() for part in pair])
        if kind in (list, tuple):
            return listed("l( " if kind is list else "t( ", value)
        if kind in (set, frozenset):
            order = sorted(value, key=lambda item: Dump(False).run(item))
            return listed("e( " if kind is set else "z( ", order)
        return self.recorded(value)

    def recorded(self, value):
        if len(value.states) > 1:
            raise Refusal("!unsupported\n")
        parts = [Text(value.how + " "), value.callee, *listed("A( ", value.args)]
        if value.kwargs:
            parts += listed("K( ", [part for pair in value.kwargs.items() for part in pair])
        if value.list_items:
            parts += listed("L( ", value.list_items)
        if value.dict_items:
            parts += listed("D( ", [part for pair in value.dict_items for part in pair])
        return parts + [Text("S ")] * len(value.states) + value.states


class Text(str):
    pass


def listed(begin, items):
    return [Text(begin), *items, Text(") ")]


def spell(text):
    return text.encode("utf-8", "surrogatepass").hex()


SCALARS = {
    type(None): lambda value: "N",
    bool: lambda value: "T" if value else "F",
    int: lambda value: "i" + decimal(value),
    float: lambda value: "f" + struct.pack(">d", value).hex(),
    str: lambda value: "s" + spell(value),
    bytes: lambda value: "b" + value.hex(),
    bytearray: lambda value: "a" + value.hex(),
}


def decimal(value):
    """`str`, without the bound on digits, which unpickling shall keep."""
    if not hasattr(sys, "set_int_max_str_digits"):
        return str(value)
    bound = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    text = str(value)
    sys.set_int_max_str_digits(bound)
    return text


def has_identity(value):
    kind = type(value)
    if kind is str:
        return len(value.encode("utf-8", "surrogatepass")) > 2
    if kind is bytes:
        return len(value) > 1
    if kind in (tuple, frozenset):
        return len(value) > 0
    return kind not in (type(None), bool, int, Recording)


def outcome(unpickler, data):
    """The graph as text, or the exception."""
    MODULE_AND_NAME.clear()
    copyreg.clear_extension_cache()
    try:
        return Dump(True).run(unpickler(data).load()) + "\n"
    except Refusal as refusal:
        return str(refusal)
    except Exception as error:  # Whatever a stub or an unpickler raises is a refusal.
        return error


def disassembly(data):
    """Whole lines that pickletools prints, and whether it ended well."""
    out = io.StringIO()
    try:
        pickletools.dis(data, out)
        return out.getvalue(), True
    except Exception:
        text = out.getvalue()
        return text[:text.rfind("\n") + 1], False
