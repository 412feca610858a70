"""Pickles to compare readers by: of random graphs, of every opcode, and of broken ones."""
import collections
import io
import pickle
import pickletools
import struct



class Plain:
    pass


class Slotted:
    __slots__ = ("x", "y")


class NamedPair(collections.namedtuple("NamedPair", "first second")):
    pass


class KeywordNew:
    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)

    def __getnewargs_ex__(self):
        return (1, "two"), {"three": [3], "four": None}


class ListChild(list):
    pass


class DictChild(dict):
    pass


class Reduced:
    """Everything that __reduce__ can give."""

    def __init__(self, args, state, items, pairs):
        self.parts = args, state, items, pairs

    def __reduce__(self):
        args, state, items, pairs = self.parts
        fresh = tuple(list(args))  # As nearly every class does it.
        return (Plain, fresh, state, iter(items), iter(pairs))


class ById:
    def __init__(self, pid):
        self.pid = pid


class WithIds:
    def persistent_id(self, value):
        return value.pid if type(value) is ById else None


class CPickler(WithIds, pickle.Pickler):
    pass


class PyPickler(WithIds, pickle._Pickler):
    pass


class Graphs:
    """Random graphs: values are made from earlier ones, so that many are shared, and containers are
    filled after all of them exist, so that some hold themselves."""

    TEXTS = ["", "a", "ab", "key", "naïve", "\u20ac", "\U0001f600", "\ud800", "\udfff x", "a\nb",
             "\\u", "\\", "'", '"', "it's \"q\"", "\x00", "\x7f\x80\xa0\xad", "x" * 300, "\u2028",
             "\r\n\t"]
    NUMBERS = [0, 1, -1, 255, 256, 65535, 65536, 2**29 - 1, 2**29, -2**29, -2**29 - 1, 2**31 - 1,
               2**31, -2**31, -2**31 - 1, 2**53, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64,
               10**40, -10**40, 2**2039, -2**2039, 2**2040, 2**3000]
    REALS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e16, 1e-5, 1e22, 5e-324, 1.7976931348623157e308, 1e300,
             float("inf"), float("-inf"), float("nan"), 2.0**63, 2.0**53, 123456789.125]
    BYTES = [b"", b"a", b"ab", b"\x00\xff", bytes(range(256)), b"it's", b'"' * 300]

    def __init__(self, rng):
        self.rng = rng
        self.pool = []

    def make(self):
        rng = self.rng
        self.pool = [None, True, False]
        for _ in range(rng.randint(1, 25)):
            self.pool.append(self.value())
        for value in list(self.pool):
            self.fill(value)
        return self.pool[-1] if rng.random() < 0.5 else list(self.pool)

    def some(self, most=5):
        return [self.rng.choice(self.pool) for _ in range(self.rng.choice([0, 1, 1, 2, 3, most]))]

    def hashable(self):
        rng = self.rng
        return rng.choice([rng.choice(self.TEXTS), rng.choice(self.NUMBERS), rng.choice(self.REALS),
                           rng.choice(self.BYTES), None, True, False, (1, "two"), (1.0, "two"),
                           frozenset([1, 2]), frozenset([2.0, True]), ((), (b"", ("x",)))])

    def value(self):
        rng = self.rng
        make = rng.choice([
            lambda: rng.choice(self.TEXTS), lambda: rng.choice(self.NUMBERS),
            lambda: rng.choice(self.REALS), lambda: rng.choice(self.BYTES),
            lambda: rng.randint(-2**70, 2**70), lambda: rng.uniform(-1e9, 1e9),
            lambda: struct.unpack(">d", rng.randbytes(8))[0],
            lambda: "".join(rng.choices("ab\u00e9\u4e2d", k=5)),
            lambda: bytearray(rng.choice(self.BYTES)), list, dict, list, dict,
            lambda: tuple(self.some()), lambda: set(self.hashables()),
            lambda: frozenset(self.hashables()), collections.OrderedDict, Plain, Slotted,
            lambda: NamedPair(*[rng.choice(self.pool) for _ in range(2)]), KeywordNew, ListChild,
            DictChild, lambda: complex(1.5, -0.0), lambda: range(1, 9, 2), lambda: len,
            lambda: Plain,
            lambda: collections.deque(self.some()), lambda: collections.Counter("abca"),
            lambda: ById(rng.choice(["id", "0", "x y"])), lambda: Ellipsis, lambda: int,
            lambda: Reduced(tuple(self.some()), rng.choice(self.pool), self.some(), []),
            lambda: Reduced((), None, [], [(self.hashable(), rng.choice(self.pool))]),
        ])
        return make()

    def hashables(self):
        return [self.hashable() for _ in range(self.rng.randint(0, 12))]

    def fill(self, value):
        rng = self.rng
        kind = type(value)
        size = rng.choice([0, 1, 2, 3, 9, 30])
        if kind in (list, ListChild):
            value.extend(rng.choice(self.pool) for _ in range(size))
        elif kind in (dict, DictChild, collections.OrderedDict):
            value.update((self.hashable(), rng.choice(self.pool)) for _ in range(size))
        if kind in (Plain, ListChild, DictChild):
            for name in rng.sample(["a", "b", "weight"], rng.randint(0, 3)):
                setattr(value, name, rng.choice(self.pool))
        elif kind is Slotted:
            value.x = rng.choice(self.pool)


def pickles_of_graphs(rng, count, protocols=range(6), pure_python=True):
    for _ in range(count):
        graph = Graphs(rng).make()
        for pickler in (CPickler, PyPickler) if pure_python else (CPickler,):
            out = io.BytesIO()
            try:
                protocol = rng.choice(protocols)
                pickler(out, protocol, fix_imports=rng.random() < 0.5).dump(graph)
            except Exception:
                continue  # Some graphs cannot be pickled: objects in their own arguments, for one.
            yield out.getvalue()


def long_values():
    """Batches of a thousand, the frames of protocol 4, and texts of every width of count."""
    texts = ["%d" % i for i in range(3000)]
    return [texts, dict.fromkeys(texts), set(texts), frozenset(texts), tuple(texts),
            collections.OrderedDict.fromkeys(texts), ListChild(texts),
            ["x" * 255, "x" * 256, "x" * 70000, b"y" * 255, b"y" * 256, b"y" * 70000]]


def long_containers():
    for value in long_values():
        for protocol in range(6):
            yield pickle.dumps(value, protocol)
            yield pickle._dumps(value, protocol)


def batches():
    """Containers of every kind and of the sizes around whole batches."""
    for size in (0, 1, 2, 999, 1000, 1001, 1002, 1999, 2000, 2001, 3000):
        texts = ["%d" % i for i in range(size)]
        attributed = DictChild.fromkeys(texts)
        attributed.name = size
        for value in (texts, tuple(texts), dict.fromkeys(texts), set(texts), frozenset(texts),
                      collections.OrderedDict.fromkeys(texts), ListChild(texts), attributed,
                      collections.deque(texts), list(range(size)), [[]] * size):
            for protocol in range(1, 6):
                yield pickle.dumps(value, protocol)


def frames():
    """Values of sizes around that of a frame, one behind the other."""
    target = 64 << 10
    sizes = [0, 1, 3, 4, 250, target - 20, target - 12, target - 11, target - 10, target - 9,
             target - 1, target, target + 1]
    for protocol in (3, 4, 5):
        for first in sizes:
            for second in sizes:
                yield pickle.dumps([b"x" * first, "y" * second, [bytearray(first)], ("z",)],
                                   protocol)
                yield pickle.dumps(["y" * second, b"x" * first], protocol)
        yield pickle.dumps([[i, "%d" % i] for i in range(30000)], protocol)
        yield pickle.dumps(list(range(70000)), protocol)
        yield pickle.dumps(b"", protocol)


def drops_a_call(data):
    """Whether an object was met inside of its own arguments. What the pickle drops then may have
    been the same lists and tuples as what it keeps, or copies: the pickle does not say."""
    before = None
    for opcode, _, _ in pickletools.genops(data):
        if opcode.name == "POP" and before in ("REDUCE", "NEWOBJ", "NEWOBJ_EX"):
            return True
        before = opcode.name
    return False


class Node:
    def method(self):
        pass


def recursions():
    """Tuples and objects that are met again inside of themselves."""
    for size in (1, 2, 3, 4, 5):
        items = []
        value = tuple([items] + list(range(size - 1)))
        items.append(value)
        for protocol in range(1, 6):
            yield pickle.dumps(value, protocol)
            yield pickle.dumps([items, value], protocol)
    node = Node()
    node.bound = node.method
    node.again = node.bound
    inner = Node()
    inner.held = frozenset([inner])
    for protocol in range(1, 6):
        yield pickle.dumps(node, protocol)
        yield pickle.dumps(node.bound, protocol)
        yield pickle.dumps([node.bound, node], protocol)
        # Below protocol 4 a frozenset is a call with a list, of which the pickle drops one.
        if protocol >= 4:
            yield pickle.dumps(inner.held, protocol)
        yield pickle.dumps(inner, protocol)


ARGUMENTS = {
    "none": [b""],
    "uint1": [b"\x00", b"\x01", b"\x05"],
    "uint2": [b"\x01\x00", b"\xff\xff"],
    "int4": [b"\x01\x00\x00\x00", b"\xff\xff\xff\xff"],
    "uint4": [b"\x00\x00\x00\x00",     b"\x01\x00\x00\x00"],
    "uint8": [b"\x00" * 8, b"\x01" + b"\x00" * 7],
    "float8": [struct.pack(">d", 1.5),     struct.pack(">d", 1.0)],
    "long1": [b"\x00", b"\x01\x01", b"\x02\x00\x80"],
    "long4": [b"\x00" * 4,     b"\x01\x00\x00\x00\xff"],
    "string1": [b"\x01a", b"\x03abc"],
    "string4": [b"\x01\x00\x00\x00a"],
    "bytes1": [b"\x01a", b"\x03abc"],
    "bytes4": [b"\x03\x00\x00\x00abc"],
    "bytes8": [b"\x03" + b"\x00" * 7 + b"abc"],
    "bytearray8": [b"\x03" + b"\x00" * 7 + b"abc"],
    "unicodestring1": [b"\x01a", b"\x03abc", b"\x03\xed\xa0\x80"],
    "unicodestring4": [b"\x03\x00\x00\x00abc"],
    "unicodestring8": [b"\x03" + b"\x00" * 7 + b"abc"],
    "decimalnl_short": [b"0\n", b"1\n", b"01\n", b"00\n", b"5\n"],
    "decimalnl_long": [b"0L\n", b"1L\n", b"-123456789012345678901\n"],
    "floatnl": [b"1.5\n",     b"1\n", b"nan\n"],
    "stringnl": [b"'abc'\n", b"'a\\x41'\n"],
    "stringnl_noescape": [b"id\n"],
    "stringnl_noescape_pair": [b"mod\nname\n", b"collections\nOrderedDict\n"],
    "unicodestringnl": [b"abc\n", b"\\u20ac\n"],
}


def variants(opcode):
    code = opcode.code.encode("latin-1")
    return [code + argument for argument in ARGUMENTS[opcode.arg.name if opcode.arg else "none"]]


def short_sequences(rng, sampled):
    """All sequences of one and of two opcodes with one argument each, and some of three."""
    first = [variants(opcode)[0] for opcode in pickletools.opcodes]
    yield b""
    for a in first:
        yield a
        yield a + b"."
        for b in first:
            yield a + b + b"."
    for _ in range(sampled):
        yield b"".join(rng.choice(first) for _ in range(3)) + b"."


class StackOfKinds:
    """What stands on the stack while a program is put together, in pickletools' words."""

    def __init__(self):
        self.kinds = []

    def fits(self, opcode):
        before = [kind.name for kind in opcode.stack_before]
        kinds = self.kinds
        if "mark" in before:
            if "mark" not in kinds:
                return False
            kinds = kinds[:len(kinds) - 1 - kinds[::-1].index("mark")]
            before = before[:before.index("mark")]
        below = kinds[len(kinds) - len(before):] if before else []
        return len(below) == len(before) and all(
            want == have or (have != "mark" and (want == "any" or have == "any"))
            for want, have in zip(before, below))

    def run(self, opcode):
        before = [kind.name for kind in opcode.stack_before]
        if "mark" in before and "mark" in self.kinds:
            del self.kinds[len(self.kinds) - 1 - self.kinds[::-1].index("mark"):]
            before = before[:before.index("mark")]
        if before:
            del self.kinds[-len(before):]
        self.kinds += [kind.name for kind in opcode.stack_after]


def programs(rng, count):
    """Longer sequences. Most of their opcodes find on the stack what they need."""
    opcodes = [opcode for opcode in pickletools.opcodes if opcode.name not in ("STOP", "FRAME",
               "PROTO")]
    makers = [opcode for opcode in opcodes if opcode.stack_before]
    for _ in range(count):
        stack = StackOfKinds()
        parts = [rng.choice([b"", b"\x80\x02", b"\x80\x04"]) + rng.choice([b"]p0\n0", b"}p0\n0",
                 b"cm\nn\np0\n0"])]
        for _ in range(rng.randint(2, 25)):
            fitting = [opcode for opcode in rng.choice([opcodes, makers, makers])
                       if stack.fits(opcode)]
            chosen = rng.choice(fitting if fitting and rng.random() < 0.98 else opcodes)
            stack.run(chosen)
            parts.append(rng.choice(variants(chosen)))
        yield b"".join(parts) + b"."


def mutations(rng, count):
    """Sound pickles with a byte changed, a byte missing, or an end cut off."""
    sound = list(pickles_of_graphs(rng, 60))
    for _ in range(count):
        data = bytearray(rng.choice(sound))
        at = rng.randrange(len(data))
        how = rng.random()
        if how < 0.6:
            data[at] = rng.randrange(256)
        elif how < 0.8:
            del data[at]
        else:
            del data[at:]
        yield bytes(data)


# Opcodes that find what CPython lets them work on by chance of its classes.
ODD_OPERANDS = [
    b"cm\nn\n)}K\x01K\x02s\x92.",                            # keywords that are no strings
    b"\x96\x01" + b"\0" * 7 + b"aK\x01a.", b"\x96\x01" + b"\0" * 7 + b"a(K\x01e.",
    b"]K\x00aK\x00K\x05s.", b"](K\x00eK\x00K\x05s.", b"]K\x00a(K\x00K\x05u.",
    b"]r\xff\xff\xff\x7fj\xff\xff\xff\x7f.",
    b"\x80\x04\x95\x06" + b"\0" * 7 + b"(K\x01\x8c\x03abct.", b"U\x01\xe9\x8c\x01n\x93.",
    b"C\x01a\x98.", b"K\x01Nb.", b"K\x01)R.", b"cm\nn\nK\x01R.", b"K\x01)\x81.", b"(K\x01o.",
]

LINES = {
    b"I": [b"", b"00", b"01", b"000", b"010", b"+1", b" 1", b"1 ", b"-0", b"1_0", b"1__0", b"_1",
           b"1_", b"0x10", b"0x_10", b"0X1f", b"0o17", b"0b101", b"0x", b"- 1", b"--1", b"1\x002",
           b"\t7\r", b"1L", b"1.5", b"abc", b"\xff", b"1180591620717411303424",
           b"-9223372036854775808", b"0_0", b"9" * 4300, b"9" * 4301, b"0x" + b"f" * 5000,
           b"00000000000000000000001"],
    b"L": [b"", b"L", b"1L", b"-0L", b"0x10L", b"1_000L", b"  5L", b"5 L", b"1LL", b"1l", b"\x001L",
           b"-123456789012345678901234567890L", b"9" * 4301 + b"L"],
    b"F": [b"", b"nan", b"-nan", b"NaN", b"inf", b"-Infinity", b"infinit", b"1e999", b"-1e999",
           b"1e-999", b"0x1p3", b"1_0.5", b"1_.5", b"1,5", b" 1.5 ", b".5", b"5.", b".", b"e5",
           b"1e", b"1e+", b"1e+5", b"1E-5", b"+1", b"++1", b"1.5.5", b"0." + b"1" * 5000,
           b"1" * 400, b"1e1_0", b"1e" + b"9" * 30, b"1e-" + b"9" * 30, b"0e" + b"9" * 30,
           b"4.9e-324", b"2.4e-324", b"1.7976931348623159e308", b"1f"],
    b"S": [b"", b"''", b"'", b'"a"', b"'a\"", b"a", b"'a", b"'a' ", b"'\\x4'", b"'\\x41'", b"'\\'",
           b"'\\\\'", b"'\\101\\7\\400'", b"'\\n\\t\\q\\''", b"'\xe9'", b"'it's'", b"'\\u1234'",
           b"'\\xff'"],
    b"V": [b"", b"abc", b"\xe9", b"\\u20ac", b"\\ud800", b"\\ud83d\\ude00", b"\\U0001f600",
           b"\\U00110000", b"\\u12", b"\\u", b"\\", b"\\\\u20ac", b"\\\\\\u20ac", b"\\N{DIGIT ONE}",
           b"\\x41", b"\\Uffffffff"],
    b"P": [b"", b"abc", b"\xe9", b"\\x41", b"\\"],
    b"g": [b"", b"0", b"00", b"01", b"-1", b"+0", b" 0 ", b"abc", b"0x0", b"99999999999999999999",
           b"0_0"],
}


def lines():
    """Every way to write, rightly and wrongly, the lines of protocol 0."""
    for code, texts in LINES.items():
        for text in texts:
            yield code + text + b"\n."
            yield b"(" + code + text + b"\nt."
            yield b"]" + code + text + b"\na."
            yield code + text
            if code == b"g":
                for before in (b"]p0\n0", b"]p1\n0"):
                    yield before + code + text + b"\n."
                yield b"]p" + text + b"\n."
                yield b"]p" + text + b"\nh\x00."
    for names in (b"a\nb", b"\nb", b"a\n", b"a\r\nb\r", b"\xc3\xa9\nb", b"\xff\nb", b"a\nb\x00c",
                  b"\xed\xa0\x80\nb", b"a\\x41\nb\\", b"a.b\nc.d"):
        yield b"c" + names + b"\n."
        yield b"(i" + names + b"\n."
        yield b"c" + names
