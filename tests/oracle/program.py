"""Calls the program under test, and knows the files that it is tested with."""
import json
import os
import subprocess
import sys
import threading

from archive import is_checkpoint

SUFFIXES = (".pt", ".pth", ".bin", ".ckpt")


def call(program, *arguments):
    """Standard output as bytes; anything but exit 0 is an error."""
    run = subprocess.run([program, *arguments], capture_output=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"exit {run.returncode}: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout


def document(program, *arguments):
    return json.loads(call(program, *arguments))


def checkpoints(top):
    """The torch.save zips under a folder, but for those that come with an expectation of theirs."""
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders
                            if not os.path.exists(os.path.join(folder, name + ".expected.json")))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(SUFFIXES) and name != "scripted.pt" \
                    and not os.path.exists(path + ".expected.json") and is_checkpoint(path):
                yield path


def carried_files():
    """The repository's files, and those of the folder that FLAMBEAU_FIXTURES names."""
    source = os.environ["FLAMBEAU_SOURCE"]
    found = [os.path.join(source, "examples", "digits.pt"),
             *checkpoints(os.environ["FLAMBEAU_TEST_DATA"])]
    fixtures = os.environ.get("FLAMBEAU_FIXTURES")
    return found + (list(checkpoints(fixtures)) if fixtures else [])


def failures(compare, program, files):
    """One line for each difference, and one for each file that could not be compared."""
    lines = []
    for path in files:
        try:
            lines += [f"{path}: {line}" for line in compare(program, path)]
        except Exception as why:
            lines.append(f"{path}: {type(why).__name__}: {why}")
    return lines


def with_deep_stack(function):
    """Runs a function that may recurse as deep as an object graph is nested."""
    result = []
    sys.setrecursionlimit(200_000)
    threading.stack_size(512 * 2**20)
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0] if result else 1


def main(compare):
    """The command line of the compare scripts: PROGRAM FILE..."""
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM FILE...")
    lines = with_deep_stack(lambda: failures(compare, sys.argv[1], sys.argv[2:]))
    for line in lines:
        print(line)
    print(f"{len(sys.argv) - 2} files, {len(lines)} differences")
    sys.exit(1 if lines else 0)
