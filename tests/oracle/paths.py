"""The paths that lead to tensors, in the order of the listing."""
from recognise import is_storage, meaning
from recorder import MISSING, Call, Global, Persistent, Set

VISITS, VISITS_PER_NODE = 1_000_000, 16


class TooMany(Exception):
    """Shared containers inside shared containers multiply."""


def key_text(key):
    """A key as Python's repr gives it."""
    if isinstance(key, Global):
        return ".".join(key.key())
    if isinstance(key, tuple):
        inner = ", ".join(map(key_text, key))
        return f"({inner},)" if len(key) == 1 else f"({inner})"
    if isinstance(key, bytes):
        return repr(bytes(key))
    known = meaning(key) if isinstance(key, Call) else None
    if known and known[0] == "bytes":
        return repr(known[1])
    if known and known[0] == "complex":
        return repr(complex(*known[1]))
    return repr(key)


def key_name(key):
    return key if isinstance(key, str) else key_text(key)


def is_names(state):
    return isinstance(state, dict) and all(isinstance(key, str) for key in state)


def attributes(state):
    """Name and value of the attributes of a state, or None where it is no dict of names."""
    if is_names(state):
        return list(state.items())
    if isinstance(state, tuple) and len(state) == 2 and \
            all(part is None or is_names(part) for part in state):
        return [item for part in state if part for item in part.items()]
    return None


def state_children(state):
    if state is MISSING:
        return []
    named = attributes(state)
    if named is None:
        return [("(state)", ".(state)", state)]
    return [(name, f".{name}", value) for name, value in named]


def entries(pairs):
    return [(key_name(key), f"[{key_text(key)}]", value) for key, value in pairs.items()]


def items(values):
    return [(str(i), f"[{i}]", value) for i, value in enumerate(values)]


def call_children(call):
    form = "[{}]" if call.how != "reduce" else "({})"
    args = [(str(i) if form[0] == "[" else f"({i})", form.format(i), value)
            for i, value in enumerate(call.args)] if isinstance(call.args, tuple) else []
    named = entries(call.kwargs or {})
    return args + named + items(call.list_items) + entries(call.dict_items) + \
        state_children(call.state)


def children(value):
    """(name, path, child) of a container; None for what is none."""
    if isinstance(value, dict):
        return entries(value)
    if isinstance(value, (list, tuple)):
        return items(value)
    if isinstance(value, Set):
        return items(value.items)
    if not isinstance(value, Call):
        return None
    kind, inner = meaning(value) or (None, None)
    if kind in ("set", "frozenset"):
        return items(inner)
    if kind == "ordered_dict":
        return entries(inner) + state_children(value.state)
    return None if kind else call_children(value)


class Walk:
    def __init__(self, root, once):
        self.root, self.once = root, once
        self.visits, self.nodes, self.entered = 0, set(), set()

    def tensors(self):
        """(name, path, Tensor) of every path, or of the first ones."""
        inside, work = set(), [("enter", "", "", self.root)]
        while work:
            step, name, path, value = work.pop()
            if step == "leave":
                inside.discard(id(value))
                continue
            known = meaning(value) if isinstance(value, Call) else None
            if known and known[0] == "tensor":
                yield name, path, known[1]
                continue
            below = None if id(value) in inside else self.enter(value)
            if below:
                inside.add(id(value))
                work.append(("leave", "", "", value))
                work += [("enter", self.joined(name, path, part), path + place, child)
                         for part, place, child in reversed(below)]

    @staticmethod
    def joined(name, path, part):
        return f"{name}.{part}" if path else part

    def enter(self, value):
        if isinstance(value, (Global, Persistent)) and not is_storage(value):
            return None
        below = children(value)
        if below is None or (self.once and id(value) in self.entered):
            return None
        self.visits += 1
        self.entered.add(id(value))
        if not self.once and self.visits > VISITS + VISITS_PER_NODE * len(self.entered):
            raise TooMany
        return below


def tensor_paths(root):
    """The rows (name, path, Tensor), and whether containers were entered once only."""
    try:
        return list(Walk(root, once=False).tensors()), False
    except TooMany:
        return list(Walk(root, once=True).tensors()), True
