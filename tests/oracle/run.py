"""Runs one of the oracle's tests: run.py NAME.

With the Python that FLAMBEAU_PYTHON names, where it names one. A test that needs PyTorch is skipped
(exit 77) where that Python has none; on a machine that says CI=true it fails instead.
"""
import importlib.util
import os
import sys
import unittest

SKIPPED = 77
NEED_TORCH = ("test_ls", "test_fresh", "test_built", "test_resave", "test_edit",
              "test_script", "test_convert")


def main():
    name = sys.argv[1]
    python = os.environ.pop("FLAMBEAU_PYTHON", None)
    if python:
        os.execv(python, [python, *sys.argv])
    if name in NEED_TORCH and not importlib.util.find_spec("torch"):
        print(f"{name} needs PyTorch, and {sys.executable} has none")
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from program import with_deep_stack
    return with_deep_stack(lambda: run(name))


def run(name):
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromName(
        name))
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
