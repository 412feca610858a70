"""Writes a few hundred checkpoints with the PyTorch that runs it: make_fresh.py FOLDER.

What this release cannot save is left out and named.
"""
import os
import sys
import warnings

import torch
from fresh_archives import ARCHIVES
from fresh_graphs import random_graph
from fresh_objects import OBJECTS

RANDOM_GRAPHS = 150


def write(folder):
    """The paths of all files, and the objects that could not be saved."""
    warnings.simplefilter("ignore")
    paths, left_out = [], []
    for name, (make, protocols) in OBJECTS.items():
        for protocol in protocols:
            path = os.path.join(folder, f"{name}.{protocol}.pt")
            try:
                torch.save(make(), path, pickle_protocol=protocol)
                paths.append(path)
            except Exception as why:
                left_out.append(f"{name} at protocol {protocol}: {type(why).__name__}: {why}")
                if os.path.exists(path):
                    os.remove(path)
    for seed in range(RANDOM_GRAPHS):
        paths.append(os.path.join(folder, f"random_{seed}.pt"))
        torch.save(random_graph(seed), paths[-1], pickle_protocol=2 + seed % 4)
    for name, make in ARCHIVES.items():
        paths.append(os.path.join(folder, f"archive_{name}.pt"))
        make(paths[-1])
    return paths, left_out


if __name__ == "__main__":
    written, failed = write(sys.argv[1])
    print("\n".join(failed))
    print(len(written), "files")
