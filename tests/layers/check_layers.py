"""Holds the tree against layers.txt: check_layers.py REPOSITORY. Prints each violation."""
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SYSTEM = re.compile(r"^(unistd|fcntl|dirent|dlfcn|poll|pthread|pwd|signal|spawn|syslog|termios|"
                    r"windows|io|direct|sys/.*|linux/.*|netinet/.*|arpa/.*)\.h$")
SOURCES = (".h", ".cc", ".def")


class Table:
    """The rows of layers.txt."""

    def __init__(self, path):
        self.layers, self.headers, self.third = {}, {}, []
        self.users, self.system, self.only, self.never = [], [], [], []
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    self.add(*line.split(None, 1))

    def add(self, kind, rest):
        subject, _, words = (part.strip() for part in rest.partition(" :" if " :" in rest else ":"))
        if kind == "layer":
            self.layers[subject] = {subject, *words.split()}
        elif kind == "header":
            self.headers.update({self.file_name(word): subject for word in words.split()})
        elif kind == "third":
            self.third.append((subject, tuple(words.split())))
        elif kind == "users":
            self.users = words.split()
        elif kind == "system":
            self.system.append(subject)
        elif kind == "never":
            self.never.append((subject, re.compile(words)))
        elif kind == "only":
            pattern, _, folders = words.rpartition(" : ")
            self.only.append((subject, re.compile(pattern.strip()), folders.split()))
        else:
            sys.exit(f"layers.txt: unknown row {kind!r}")

    @staticmethod
    def file_name(word):
        return f"flambeau/{word if '.' in word else word + '.h'}"


def inside(path, place):
    return path == place or path.startswith(place + "/")


def is_standard(name):
    """C++ standard headers have neither a folder nor an extension."""
    return "/" not in name and "." not in name


class Checker:
    def __init__(self, top, table):
        self.top, self.table, self.found, self.files = top, table, [], 0

    def report(self, path, line, what):
        self.found.append(f"{path}:{line}: {what}")

    def run(self):
        for folder in ["include", "src", *self.table.users]:
            for where, folders, names in os.walk(os.path.join(self.top, folder)):
                folders.sort()
                for name in sorted(names):
                    if name.endswith(SOURCES):
                        self.check(os.path.relpath(os.path.join(where, name), self.top))
        return self.found

    def check(self, path):
        self.files += 1
        with open(os.path.join(self.top, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                include = INCLUDE.match(line)
                if include:
                    self.check_include(path, number, include.group(2), include.group(1) == '"')
                if not line.lstrip().startswith("//"):
                    self.check_patterns(path, number, line)
                self.check_never(path, number, line)

    def check_patterns(self, path, number, line):
        code = line.split("//")[0]
        for place, pattern, folders in self.table.only:
            covered = any(inside(path, folder) for folder in folders)
            if covered and not inside(path, place) and pattern.search(code):
                self.report(path, number, f"{pattern.search(code).group()} stands in {place} only")

    def check_never(self, path, number, line):
        for place, pattern in self.table.never:
            if inside(path, place) and pattern.search(line):
                self.report(path, number, f"{pattern.search(line).group()!r} never stands in {place}")

    def layer_of(self, path):
        parts = path.split("/")
        if parts[0] == "include":
            return self.table.headers.get("/".join(parts[1:]))
        return parts[1] if parts[0] == "src" else None

    def check_include(self, path, number, name, quoted):
        if name.startswith("flambeau/"):
            self.check_layer(path, number, name, self.table.headers.get(name))
        elif name.split("/")[0] in self.table.layers and quoted:
            self.check_layer(path, number, name, name.split("/")[0])
        elif SYSTEM.match(name):
            if not any(inside(path, place) for place in self.table.system):
                self.report(path, number, f"<{name}> is a header of the operating system")
        elif quoted and path.split("/")[0] in self.table.users:
            self.check_own_file(path, number, name)
        elif not is_standard(name):
            self.check_third_party(path, number, name)

    def check_layer(self, path, number, name, layer):
        if layer is None:
            self.report(path, number, f"{name} belongs to no layer of layers.txt")
        elif path.split("/")[0] in self.table.users:
            if not name.startswith("flambeau/"):
                self.report(path, number, f"{name} is not an installed header")
        else:
            self.check_may(path, number, name, layer)

    def check_may(self, path, number, name, layer):
        own = self.layer_of(path)
        if own is None:
            self.report(path, number, "belongs to no layer of layers.txt")
        elif own != "umbrella" and layer not in self.table.layers[own]:
            self.report(path, number, f"{own} may not include {name} ({layer})")

    def check_own_file(self, path, number, name):
        folder = path.split("/")[0]
        beside = os.path.join(self.top, os.path.dirname(path), name)
        if not (os.path.exists(beside) or os.path.exists(os.path.join(self.top, folder, name))):
            self.check_third_party(path, number, name)

    def check_third_party(self, path, number, name):
        if path.startswith("include/"):
            self.report(path, number, f"an installed header includes {name}")
        elif not any(inside(path, place) and name.startswith(starts)
                     for place, starts in self.table.third):
            self.report(path, number, f"{name} may not be included here")


def main():
    top = sys.argv[1]
    checker = Checker(top, Table(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                              "layers.txt")))
    found = checker.run()
    for line in found:
        print(line)
    print(f"{checker.files} files, {len(found)} violations")
    return 1 if found or not checker.files else 0


if __name__ == "__main__":
    sys.exit(main())
