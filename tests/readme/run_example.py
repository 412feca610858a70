"""Runs a program and compares what it prints with a file: run_example.py EXPECTED COMMAND..."""
import difflib
import subprocess
import sys

run = subprocess.run(sys.argv[2:], capture_output=True, text=True)
with open(sys.argv[1], encoding="utf-8") as file:
    expected = file.read()
if run.returncode != 0 or run.stdout != expected:
    sys.stdout.writelines(difflib.unified_diff(
        expected.splitlines(True), run.stdout.splitlines(True), "expected", "printed"))
    sys.exit(f"exit {run.returncode}\n{run.stderr}")
