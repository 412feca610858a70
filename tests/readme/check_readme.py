"""Checks that the README shows what is compiled and run: check_readme.py REPOSITORY.

Before each block of code stands `<!-- FILE REGION -->`: the block equals that region of the file, the
lines between two lines that hold `[REGION]` alone in a comment. `<!-- FILE -->` is the whole file,
`<!-- shell -->` a command line that nobody checks. The first C++ is within 40 lines, and every region
of the examples is shown.
"""
import os
import re
import sys
import textwrap

MARK = re.compile(r"^<!-- (\S+)(?: (\S+))? -->$")
REGION = re.compile(r"^\s*(?://|#) \[(\w+)\]$")
FIRST_CALL_WITHIN = 40


def regions(path):
    """Region name -> text of a source file."""
    found, name, start = {}, None, 0
    lines = open(path, encoding="utf-8").read().split("\n")
    for i, line in enumerate(lines):
        match = REGION.match(line)
        if match and name is None:
            name, start = match.group(1), i + 1
        elif match:
            found[name] = textwrap.dedent("\n".join(lines[start:i])) + "\n"
            name = None
    return found


def blocks(lines):
    """(line number, language, mark before it or None, text) of each fenced block."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("```") and start is None:
            start = number
        elif line.startswith("```"):
            mark = MARK.match(lines[start - 2])
            yield start, lines[start - 1][3:], mark, "".join(
                text + "\n" for text in lines[start:number - 1])
            start = None


class Check:
    def __init__(self, top):
        self.top, self.found, self.used = top, [], set()
        self.lines = open(os.path.join(top, "README.md"), encoding="utf-8").read().split("\n")

    def run(self):
        first = None
        for number, language, mark, text in blocks(self.lines):
            first = first or (number if language == "cpp" else None)
            if not mark:
                self.found.append(f"README.md:{number}: no mark before the block")
            elif mark.group(1) != "shell":
                self.compare(number, *mark.groups(), text)
        if first is None or first > FIRST_CALL_WITHIN:
            self.found.append(f"README.md: the first C++ stands at line {first}")
        self.unused()
        return self.found

    def compare(self, number, file, region, text):
        path = os.path.join(self.top, file)
        self.used.add((file, region))
        if not os.path.exists(path):
            self.found.append(f"README.md:{number}: no file {file}")
            return
        want = regions(path).get(region) if region else open(path, encoding="utf-8").read()
        if text != want:
            self.found.append(f"README.md:{number}: differs from {file} {region or ''}")

    def unused(self):
        folder = os.path.join(self.top, "examples")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".cc"):
                for region in regions(os.path.join(folder, name)):
                    if (f"examples/{name}", region) not in self.used:
                        self.found.append(f"examples/{name}: [{region}] is not in the README")


def main():
    found = Check(sys.argv[1]).run()
    for line in found:
        print(line)
    print(f"{len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
