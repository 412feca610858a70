"""Where two JSON documents differ."""

ROW = {"kind", "dtype", "shape", "stride"}  # what a tensor's row has at least


class AnyValue:
    """Equals whatever stands there: for what the contract leaves open."""

    def __repr__(self):
        return "anything"


ANY = AnyValue()


def differences(expected, actual, most=10):
    """Lines "PLACE: expected X, got Y", at most `most`. Rows of tensors may have more keys."""
    found, work = [], [("", expected, actual)]
    while work and len(found) < most:
        place, want, got = work.pop()
        if want is ANY:
            continue
        if isinstance(want, dict) and isinstance(got, dict):
            extra = set(got) - set(want)
            if want.keys() - got.keys() or (extra and place and not ROW <= want.keys()):
                found.append(f"{place}: expected keys {sorted(want)}, got {sorted(got)}")
            work += [(f"{place}.{key}", want[key], got[key]) for key in reversed(want) if key in got]
        elif isinstance(want, list) and isinstance(got, list):
            if len(want) != len(got):
                found.append(f"{place}: expected {len(want)} items, got {len(got)}")
            work += [(f"{place}[{i}]", *pair) for i, pair in
                     reversed(list(enumerate(zip(want, got))))]
        elif type(want) is not type(got) or want != got:
            found.append(f"{place}: expected {shorten(want)}, got {shorten(got)}")
    return found


def shorten(value):
    text = ascii(value)
    return text if len(text) <= 200 else text[:200] + "…"
