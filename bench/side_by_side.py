#!/usr/bin/env python3
"""Opens, lists, reads and maps the same checkpoints with flambeau, PyTorch and safetensors, in one run.

    python side_by_side.py FLAMBEAU_BENCH [--folder DIR] [--tensors 20000] [--megabytes 512]

Makes its inputs in DIR (a temporary folder unless given) and prints, for each operation, the best of
several passes of each tool and its ratio to flambeau's. The tools take turns, so that a slow spell
of the machine hits all of them; page cache warm. Needs torch and safetensors.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import safetensors.torch
import torch

PASSES = 5


def make_inputs(folder, tensors, megabytes):
    """Two state dicts, many small tensors and a few large ones, each in both formats."""
    rows = megabytes * (1 << 20) // (16 * 4096 * 4)
    states = {
        "small": {f"block{i // 10}.param{i}": torch.full((4,), float(i)) for i in range(tensors)},
        "large": {f"layer{i}.weight": torch.randn(rows, 4096) for i in range(16)},
    }
    for name, state in states.items():
        torch.save(state, os.path.join(folder, name + ".pt"))
        safetensors.torch.save_file(state, os.path.join(folder, name + ".safetensors"))
    return list(states)


def flambeau(program, mode):
    def run(stem):
        line = subprocess.run([program, mode, stem + ".pt"], check=True, capture_output=True).stdout
        return json.loads(line)["sec"][0]

    return run


def timed(work):
    def run(stem):
        start = time.perf_counter()
        kept = work(stem)
        seconds = time.perf_counter() - start
        del kept
        return seconds

    return run


def torch_open(mmap):
    return timed(lambda stem: torch.load(stem + ".pt", mmap=mmap))


def touch_all(state):
    return [int(t.view(torch.uint8).sum()) for t in state.values()]


def safetensors_list(stem):
    with safetensors.safe_open(stem + ".safetensors", "pt") as f:
        return [(name, f.get_slice(name).get_shape()) for name in f.keys()]


def operations(program):
    """Operation -> tool -> a function from the path without extension to seconds."""
    return {
        "open and list": {
            "flambeau": flambeau(program, "list"),
            "torch.load(mmap=True)": torch_open(True),
            "safetensors": timed(safetensors_list),
        },
        "read all into own memory": {
            "flambeau, checksums verified": flambeau(program, "read"),
            "torch.load": torch_open(False),
            "safetensors load_file, copied": timed(
                lambda stem: {k: t.clone() for k, t in safetensors.torch.load_file(stem + ".safetensors").items()}
            ),
        },
        "map and touch every byte": {
            "flambeau": flambeau(program, "sum"),
            "torch.load(mmap=True), summed": timed(lambda stem: touch_all(torch.load(stem + ".pt", mmap=True))),
            "safetensors load_file, summed": timed(
                lambda stem: touch_all(safetensors.torch.load_file(stem + ".safetensors"))
            ),
        },
    }


def measure(tools, stem):
    best = {tool: float("inf") for tool in tools}
    for _ in range(PASSES):
        for tool, run in tools.items():
            best[tool] = min(best[tool], run(stem))
    return best


def report(title, best):
    ours = next(iter(best.values()))
    print(title)
    for tool, seconds in best.items():
        print(f"  {tool:32s} {seconds * 1e3:10.2f} ms  {seconds / ours:8.2f} x flambeau")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--folder")
    parser.add_argument("--tensors", type=int, default=20000)
    parser.add_argument("--megabytes", type=int, default=512)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        names = make_inputs(folder, options.tensors, options.megabytes)
        for operation, tools in operations(options.program).items():
            for name in names:
                report(f"{operation}, {name}", measure(tools, os.path.join(folder, name)))


if __name__ == "__main__":
    main()
