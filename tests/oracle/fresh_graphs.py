"""Random object graphs from a seed: shared parts, cycles, and views of shared storages."""
import argparse
import collections
import random

import torch
from torch import nn

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool, torch.bfloat16, torch.uint8,
          torch.complex64, torch.float8_e5m2, torch.uint16)
ALPHABET = "ab_.'\"\\\n 0é漢\U0001f600"


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.budget = self.random.choice((8, 40, 150))
        self.bases = [self.base() for _ in range(3)]
        self.made, self.open = [], []

    def base(self):
        dtype = self.random.choice(DTYPES)
        return torch.arange(self.random.randint(1, 24)).to(torch.uint8).to(dtype)

    def value(self):
        """A new object, or one of those that exist: finished ones, and containers being filled."""
        self.budget -= 1
        draw = self.random.random()
        if self.made and draw < 0.15:
            return self.random.choice(self.made)
        if self.open and draw < 0.18:
            return self.random.choice(self.open)
        kinds = self.LEAVES if self.budget < 0 or draw < 0.55 else self.CONTAINERS
        made = self.random.choice(kinds)(self)
        self.made.append(made)
        return made

    def some(self):
        return [self.value() for _ in range(self.random.choice((0, 1, 1, 2, 3, 5)))]

    # ---- leaves

    def tensor(self):
        base = self.random.choice(self.bases)
        start = self.random.randint(0, base.numel() - 1)
        view = base[start:]
        step = self.random.randint(1, 3)
        return self.random.choice((base, view, view[::step], view[:0], view[0], base.clone(),
                                   view.expand(2, view.numel())))

    def parameter(self):
        values = torch.rand(self.random.randint(0, 4), generator=torch.Generator().manual_seed(1))
        return nn.Parameter(values, requires_grad=self.random.random() < 0.5)

    def integer(self):
        return self.random.choice((0, 1, -1)) + self.random.choice((-1, 1)) * \
            2**self.random.choice((3, 8, 16, 31, 53, 64, 300))

    def real(self):
        return self.random.choice((0.0, -1.5, 1e300, float("nan"), self.random.random()))

    def text(self):
        return "".join(self.random.choices(ALPHABET, k=self.random.randint(0, 12)))

    def data(self):
        return self.random.choice((bytes, bytearray))(self.random.randbytes(
            self.random.choice((0, 1, 5, 300))))

    def other(self):
        return self.random.choice((None, True, False, 2 - 3j, torch.Size([2, 1]), torch.int8,
                                   torch.device("cpu"), torch.sparse_coo, range(4), nn.Linear))

    # ---- containers: registered as open before they are filled, so that cycles come about

    def filled(self, made, fill):
        self.open.append(made)
        fill(made)
        self.open.pop()
        return made

    def list(self):
        return self.filled([], lambda made: made.extend(self.some()))

    def dict(self):
        kind = self.random.choice((dict, dict, collections.OrderedDict))
        return self.filled(kind(), lambda made: made.update((self.key(), item)
                                                            for item in self.some()))

    def key(self):
        return self.random.choice((self.text(), self.text(), self.random.randint(-3, 300),
                                   (1, self.text()), 0.5))

    def tuple(self):
        return tuple(self.some())

    def set(self):
        return self.random.choice((set, frozenset))(self.text() for _ in range(3))

    def deque(self):
        return self.filled(collections.deque(), lambda made: made.extend(self.some()))

    def namespace(self):
        return self.filled(argparse.Namespace(), lambda made: vars(made).update(
            (f"attribute{i}", item) for i, item in enumerate(self.some())))

    LEAVES = (tensor, tensor, tensor, parameter, integer, real, text, text, data, other)
    CONTAINERS = (list, list, dict, dict, dict, tuple, tuple, set, deque, namespace)


def random_graph(seed):
    maker = Maker(seed)
    return [maker.value() for _ in range(3)] + [maker.dict()]
