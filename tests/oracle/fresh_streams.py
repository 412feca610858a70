"""The same objects as streams of the format before 1.6: what `_use_new_zipfile_serialization=False`
writes."""
import os

import torch
from fresh_graphs import random_graph
from fresh_objects import OBJECTS

RANDOM_GRAPHS = 60


def write(folder):
    """The paths of all files. What this release cannot save is left out, as for archives."""
    paths = []
    for name, (make, protocols) in OBJECTS.items():
        for protocol in protocols:
            path = os.path.join(folder, f"{name}.{protocol}.legacy.pt")
            try:
                torch.save(make(), path, pickle_protocol=protocol,
                           _use_new_zipfile_serialization=False)
                paths.append(path)
            except Exception:
                if os.path.exists(path):
                    os.remove(path)
    for seed in range(RANDOM_GRAPHS):
        paths.append(os.path.join(folder, f"random_{seed}.legacy.pt"))
        torch.save(random_graph(seed), paths[-1], pickle_protocol=2 + seed % 4,
                   _use_new_zipfile_serialization=False)
    return paths
