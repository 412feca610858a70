"""Runs the program as the golden files of this folder say, and compares what comes out.

python run_golden.py PROGRAM [--update] [NAME...]

A golden file holds a command, its exit status and its output:

    # what the case is about
    $ flambeau get data/2.15.0/views.pt block -o block.npy
    exit 0
    -- stdout
    block: float32 [2, 3] to block.npy
    -- file block.npy
    size 152, sha256 5f7c…

`< FILE` at the end of the command gives standard input. Sections that are empty are left out. Each
case runs in an empty folder where `data` leads to tests/data and `odd` to the files that
make_odd_files.py makes. --update writes what the program does into the files; read the changes.
"""
import difflib
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile

import make_odd_files

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("FLAMBEAU_TEST_DATA", os.path.join(HERE, "..", "data"))


def text_of(output):
    """Bytes as lines of a golden file; what is no UTF-8 is shown escaped."""
    text = output.decode(errors="backslashreplace")
    return text if not text or text.endswith("\n") else text + "\n(no line end)\n"


def digest_line(path):
    with open(path, "rb") as stream:
        content = stream.read()
    return f"size {len(content)}, sha256 {hashlib.sha256(content).hexdigest()}\n"


def run(program, command, folder):
    """The exit status and the sections that a run of the command gives."""
    words = shlex.split(command)
    source = subprocess.DEVNULL
    if "<" in words:
        source = open(os.path.join(folder, words[-1]), "rb")
        words = words[:words.index("<")]
    done = subprocess.run([program, *words[1:]], cwd=folder, stdin=source, capture_output=True,
                          timeout=120, check=False)
    sections = [("stdout", text_of(done.stdout)), ("stderr", text_of(done.stderr))]
    made = sorted(name for name in os.listdir(folder) if name not in ("data", "odd"))
    sections += [(f"file {name}", digest_line(os.path.join(folder, name))) for name in made]
    return done.returncode, [(name, text) for name, text in sections if text]


def golden_text(comments, command, status, sections):
    lines = "".join(comments) + f"$ {command}\nexit {status}\n"
    return lines + "".join(f"-- {name}\n{text}" for name, text in sections)


def parse(text):
    """The comments at the top, and the command."""
    comments = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            return comments, line[2:].strip()
        comments.append(line)
    raise ValueError("no line starts with '$ '")


def check(program, path, update):
    """The difference between the golden file and what the program does, as text."""
    with open(path, encoding="utf-8") as stream:
        expected = stream.read()
    comments, command = parse(expected)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(DATA), os.path.join(folder, "data"))
        make_odd_files.make(os.path.join(folder, "odd"))
        status, sections = run(program, command, folder)
    actual = golden_text(comments, command, status, sections)
    if update and actual != expected:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(actual)
        return ""
    return "".join(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True),
                                        "expected", "actual"))


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    program = os.path.abspath(arguments.pop(0) if arguments else os.environ["FLAMBEAU_PROGRAM"])
    names = sorted(name for name in os.listdir(HERE) if name.endswith(".txt"))
    wanted = [name for name in names if not arguments or name[:-4] in arguments]
    failed = 0
    for name in wanted:
        difference = check(program, os.path.join(HERE, name), "--update" in sys.argv)
        if difference:
            failed += 1
            print(f"{name}:\n{difference}")
    print(f"{len(wanted)} golden files, {failed} differ")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
