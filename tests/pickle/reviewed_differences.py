"""Where flambeau's machine and CPython's C unpickler differ, and why. All else is a fault.

`ours` and `theirs` are texts of a graph, or a refusal: "!code" and the exception.
"""
import pickletools

from recorded_unpickling import PyUnpickler, outcome


def refused(outcome):
    return not isinstance(outcome, str) or outcome.startswith("!")


def has(pickled, *names):
    return any(name in names for name in opcode_names(pickled))


def raised(theirs, *texts):
    return isinstance(theirs, Exception) and any(text in str(theirs) for text in texts)


def opcode_names(data):
    names = []
    try:
        for opcode, _, _ in pickletools.genops(data):
            names.append(opcode.name)
    except Exception:
        # pickletools cannot read some lines that unpicklers can; they are split here.
        names += [pickletools.code2op[chr(byte)].name for byte in data
                  if chr(byte) in pickletools.code2op]
    return names


def crosses_frame(data):
    """Whether an opcode begins within a frame and ends behind it."""
    end = frame_end = 0
    try:
        for opcode, arg, start, end in pickletools._genops(data, yield_end_pos=True):
            if start < frame_end < end:
                return True
            if opcode.name == "FRAME":
                frame_end = end + arg
    except Exception:
        return end < frame_end
    return False


def python_outcome(data):
    """What pickle.py makes of it; "!malformed_pickle" stands for any refusal."""
    result = outcome(PyUnpickler, data)
    return "!malformed_pickle\n" if isinstance(result, Exception) else result


# Name, reason, condition.
REVIEWED = [
    ("called value", "whether a value can be called is for the reader of the graph to judge",
     lambda p, ours, theirs: not refused(ours) and raised(
         theirs, "object is not callable", "class argument must be a type", "expected a class",
         "not a type object")),
    ("arguments",
     "C++ writes an enum's argument without a tuple, so REDUCE keeps what stands there",
     lambda p, ours, theirs: not refused(ours) and has(p, "REDUCE") and raised(
         theirs, "argument list must be a tuple", "must be an iterable, not")),
    ("keywords", "the keys of a NEWOBJ_EX are kept whatever they are",
     lambda p, ours, theirs: not refused(ours) and has(p, "NEWOBJ_EX") and raised(
         theirs, "keywords must be strings", "multiple values for argument")),
    ("sparse memo", "any 63-bit number can be a memo index; CPython makes an array as long",
     lambda p, ours, theirs: not refused(ours) and isinstance(theirs, MemoryError)),
    ("read-only buffer", "there are no buffers: READONLY_BUFFER is refused, on bytes too",
     lambda p, ours, theirs: refused(ours) and has(p, "READONLY_BUFFER")),
    ("state of a plain value", "BUILD with None is nothing to CPython; a value has no state",
     lambda p, ours, theirs: refused(ours) and has(p, "BUILD") and not refused(theirs)),
    ("append to bytes", "APPEND and APPENDS work on lists and objects; a bytearray has append, too",
     lambda p, ours, theirs: refused(ours) and has(p, "APPEND", "APPENDS")
     and has(p, "BYTEARRAY8")),
    ("items of a sequence", "SETITEM and SETITEMS work on dicts and objects, not on lists",
     lambda p, ours, theirs: refused(ours) and has(p, "SETITEM", "SETITEMS") and not refused(theirs)
     and has(p, "LIST", "EMPTY_LIST", "BYTEARRAY8")),
    ("text of INT", "pickle.py decides: no octal `010`, no `+1` as True, no NUL inside",
     lambda p, ours, theirs: has(p, "INT", "LONG", "GET", "PUT")
     and (refused(ours) != refused(theirs) or "T " in theirs or "F " in theirs)
     and ours == python_outcome(p)),
    ("text of FLOAT", "pickle.py decides: white space and underscores, 1e999 is inf",
     lambda p, ours, theirs: has(p, "FLOAT") and raised(
         theirs, "could not convert string to float", "value too large")
     and ours == python_outcome(p)),
    ("frame", "from a file, the C code skips what is left of a frame that an opcode crosses",
     lambda p, ours, theirs: crosses_frame(p)),
    ("Python 2 names", "a name in a Python 2 string has to be UTF-8; here CPython reads Latin-1",
     lambda p, ours, theirs: has(p, "STACK_GLOBAL") and not p.isascii()
     and has(p, "STRING", "BINSTRING", "SHORT_BINSTRING")),
    ("extension", "there is no registry: every code above 0 is kept as a number",
     lambda p, ours, theirs: not refused(ours) and raised(theirs, "unregistered extension code")),
]
