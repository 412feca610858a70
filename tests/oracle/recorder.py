"""Runs a pickle with Python's own machine, calling nothing: classes and calls become records.

Lists, dicts and tuples are Python's own, so that identity is Python's. What CPython shares by
itself (the empty tuple, short bytes) is made anew each time, since the pickle makes it anew.
Operations are numbered as they run; a record keeps the number of the one that made it, so that
another run of the same pickle can be asked what it made at that place.
"""
import io
import pickle

MISSING = object()


class Global:
    """A class or function, by the names that stand in the file."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def key(self):
        return self.module, self.name

    def __eq__(self, other):
        return isinstance(other, Global) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


class Call:
    """REDUCE, NEWOBJ or NEWOBJ_EX, with what was added to the result afterwards."""

    def __init__(self, how, callable_, args, position, kwargs=None):
        self.how, self.callable, self.args = how, callable_, args
        self.position, self.kwargs = position, kwargs
        self.state, self.list_items, self.dict_items = MISSING, [], {}

    def append(self, item):
        self.list_items.append(item)

    add = append

    def extend(self, items):
        self.list_items.extend(items)

    def __setitem__(self, key, value):
        self.dict_items[key] = value

    def __setstate__(self, state):
        self.state = state


class Set:
    """A set or frozenset made by opcodes, in the order of the file."""

    def __init__(self, kind, items=()):
        self.kind, self.items = kind, list(items)

    def add(self, item):
        self.items.append(item)


class Persistent:
    """What a persistent id stands for; `first` is the first one with the same storage key."""

    def __init__(self, pid, position):
        self.pid, self.position, self.first = pid, position, self


class Tuple(tuple):
    """A tuple that is an object of its own even when it is empty."""


class Bytes(bytes):
    """Bytes that are an object of their own even when they are short."""


def numbered(function):
    def step(unpickler):
        unpickler.position += 1
        return function(unpickler)
    return step


class Numbered(pickle._Unpickler):
    """The pure Python machine, with the number of the running operation in `position`."""

    dispatch = {code: numbered(function) for code, function in pickle._Unpickler.dispatch.items()}
    position = 0


class Recorder(Numbered):
    dispatch = dict(Numbered.dispatch)

    def __init__(self, data):
        super().__init__(io.BytesIO(data))
        self.storages = {}

    def find_class(self, module, name):
        return Global(module, name)

    def persistent_load(self, pid):
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        made = Persistent(pid, self.position)
        if isinstance(pid, tuple) and len(pid) >= 5:
            made.first = self.storages.setdefault(pid[2], made)
        return made

    def _decode_string(self, value):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return Bytes(value)

    def _instantiate(self, callable_, args):
        self.append(Call("reduce", callable_, Tuple(args), self.position))

    def load_empty_tuple(self):
        self.append(Tuple())

    def load_tuple(self):
        items = self.pop_mark()
        self.append(Tuple(items))

    def load_empty_set(self):
        self.append(Set("set"))

    def load_frozenset(self):
        items = self.pop_mark()
        self.append(Set("frozenset", items))

    def load_reduce(self):
        args = self.stack.pop()
        self.stack[-1] = Call("reduce", self.stack[-1], args, self.position)

    def load_newobj(self):
        args = self.stack.pop()
        self.stack[-1] = Call("newobj", self.stack[-1], args, self.position)

    def load_newobj_ex(self):
        kwargs = self.stack.pop()
        args = self.stack.pop()
        self.stack[-1] = Call("newobj_ex", self.stack[-1], args, self.position, kwargs)


def own_bytes(function):
    def step(unpickler):
        function(unpickler)
        unpickler.stack[-1] = Bytes(unpickler.stack[-1])
    return step


for code in (pickle.BINBYTES, pickle.SHORT_BINBYTES, pickle.BINBYTES8):
    Recorder.dispatch[code[0]] = own_bytes(Recorder.dispatch[code[0]])
for code, step in ((pickle.EMPTY_TUPLE, Recorder.load_empty_tuple),
                   (pickle.TUPLE, Recorder.load_tuple),
                   (pickle.EMPTY_SET, Recorder.load_empty_set),
                   (pickle.FROZENSET, Recorder.load_frozenset),
                   (pickle.REDUCE, Recorder.load_reduce),
                   (pickle.NEWOBJ, Recorder.load_newobj),
                   (pickle.NEWOBJ_EX, Recorder.load_newobj_ex)):
    Recorder.dispatch[code[0]] = numbered(step)


def record(data):
    """The object that the pickle makes, as records."""
    return Recorder(data).load()
