"""A checkpoint that is being written survives whatever the system does: OUT is the old file or the
new one, whole, success means the new one, and a failure leaves nothing beside it. Run with
FLAMBEAU_PROGRAM set; FLAMBEAU_SHORT_WRITES names a library that makes writes short."""
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import make_odd_files
from test_faults import PROGRAM, TRACED, can_trace, limit_of, run

SHORT_WRITES = os.environ.get("FLAMBEAU_SHORT_WRITES")
# Calls of a save whose failure means something, by how they can fail.
ERRORS = {
    "openat": ("EIO", "ENOSPC", "EMFILE", "EINTR"), "newfstatat": ("EIO",), "fstat": ("EIO",),
    "fallocate": ("ENOSPC", "EIO", "EINTR", "EOPNOTSUPP"), "write": ("ENOSPC", "EIO", "EINTR"),
    "pwrite64": ("ENOSPC", "EIO", "EDQUOT", "EINTR"), "pwritev": ("ENOSPC", "EIO", "EINTR"),
    "pwritev2": ("ENOSPC", "EIO", "EINTR"), "writev": ("ENOSPC", "EIO", "EINTR"),
    "pread64": ("EIO", "EINTR"), "ftruncate": ("ENOSPC", "EIO", "EINTR"), "fsync": ("EIO", "ENOSPC"),
    "fchmod": ("EPERM", "EIO"), "fchown": ("EPERM",), "linkat": ("EIO", "ENOSPC", "EMLINK"),
    "renameat": ("EIO", "EBUSY"), "renameat2": ("EIO", "EBUSY", "EINVAL"), "close": ("EIO", "EINTR"),
    "unlinkat": ("EIO",), "clone3": ("EAGAIN",), "mmap": ("ENOMEM",), "access": ("ENOENT",),
}
if os.environ.get("FLAMBEAU_SANITIZED"):
    # The sanitizer's allocator ends the program where the system has no memory for it.
    del ERRORS["mmap"]


class Saves(unittest.TestCase):
    """IN of one large storage and many small ones, an OUT that exists, and what OUT becomes."""

    LARGE = 3 << 20
    SMALL = 300

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.model = os.path.join(self.folder, "model.pt")
        self.write_model(self.model)
        self.out = os.path.join(self.folder, "out.pt")
        done = run("resave", self.model, self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.new = self.content()
        self.old = b"old" * 1000
        self.restore()

    def write_model(self, path):
        random_bytes = random.Random(1).randbytes
        storages = [("0", random_bytes(self.LARGE))] if self.LARGE else []
        storages += [(str(i), random_bytes(4 * i % 400 + 4)) for i in range(1, self.SMALL + 1)]
        value = {f"t{key}": make_odd_files.tensor(key, len(content) // 4, (len(content) // 4,), (1,))
                 for key, content in storages}
        make_odd_files.checkpoint(path, value, storages)

    def restore(self):
        with open(self.out, "wb") as stream:
            stream.write(self.old)

    def content(self):
        with open(self.out, "rb") as stream:
            return stream.read()

    def command(self, *options):
        return ["resave", "--force", self.model, self.out, *options]

    def temporaries(self):
        return [name for name in os.listdir(self.folder) if name.startswith(".")]

    def check(self, code, context, killed=False):
        content = self.content()
        self.assertIn(content, (self.old, self.new), context)
        if code == 0:
            self.assertEqual(content, self.new, context)
        if not killed:
            self.assertEqual(self.temporaries(), [], context)


class Killed(Saves):
    def test_at_random_moments(self):
        started = time.monotonic()
        run(*self.command())
        length = time.monotonic() - started
        self.restore()
        moments = random.Random(7)
        ends = set()
        for _ in range(200):
            process = subprocess.Popen([PROGRAM, *self.command()], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            delay = moments.uniform(0, 1.2 * length)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            ends.add(process.wait())
            self.check(process.returncode, delay, killed=True)
            for name in self.temporaries():
                self.assertRegex(name, r"^\.out\.pt\.[0-9a-f]{16}$")
                os.remove(os.path.join(self.folder, name))
            self.restore()
        self.assertIn(-signal.SIGKILL, ends)


@unittest.skipUnless(can_trace(), "strace is missing or may not trace")
class FailingCalls(Saves):
    def trace(self, *options):
        log = os.path.join(self.folder, "log")
        done = subprocess.run(["strace", "-f", "-qq", "-o", log, *options, PROGRAM, *self.command()],
                              capture_output=True, timeout=120, env=TRACED, check=False)
        with open(log, encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
        os.remove(log)
        return done, lines

    def calls(self):
        """Numbers of the first call of each name that has to do with the save, and of the last."""
        _, lines = self.trace("-e", "trace=" + ",".join(ERRORS))
        self.restore()
        seen, first, started = {}, {}, False
        for line in lines:
            match = re.match(r"[0-9]+ +(\w+)\(", line)
            if not match:
                continue
            name = match.group(1)
            seen[name] = seen.get(name, 0) + 1
            # What comes before is the loader's.
            started = started or "model.pt" in line
            if started:
                first.setdefault(name, seen[name])
        return {name: range(first[name], seen[name] + 1) for name in first}

    def test_each_call_in_turn(self):
        calls = self.calls()
        for name in ("openat", "fallocate", "fsync", "close"):
            self.assertIn(name, calls)
        self.assertTrue({"pwrite64", "pwritev", "pwritev2"} & set(calls), calls)
        failed = 0
        for name, numbers in calls.items():
            for number in spread(numbers, 24):
                for error in ERRORS[name]:
                    fault = f"{name}:error={error}:when={number}"
                    done, lines = self.trace("-e", "trace=" + name, "-e", "inject=" + fault)
                    self.assertIn(done.returncode, (0, 2), (fault, done.stderr))
                    self.check(done.returncode, fault)
                    if done.returncode == 2:
                        self.assertEqual(done.stderr.count(b"\n"), 1, (fault, done.stderr))
                        self.assertIn("(INJECTED)", "\n".join(lines), fault)
                        failed += 1
                    self.restore()
        self.assertGreater(failed, 20)

    def test_killed_before_and_after_each_call(self):
        for name, numbers in self.calls().items():
            for number in spread(numbers, 8):
                done, _ = self.trace("-e", "trace=" + name,
                                     "-e", f"inject={name}:signal=KILL:when={number}")
                self.check(done.returncode, (name, number), killed=True)
                self.restore()


def spread(numbers, most):
    """Some of the numbers, the first and the last among them."""
    if len(numbers) <= most:
        return list(numbers)
    return sorted({numbers[round(i * (len(numbers) - 1) / (most - 1))] for i in range(most)})


class SmallSaves(Saves):
    LARGE = 0
    SMALL = 3


class Room(SmallSaves):
    """Every bound on a file's size, and file systems that are nearly full."""

    def test_each_size_of_files(self):
        for size in [*range(0, len(self.new), 37), len(self.new) - 1]:
            done = run(*self.command(), preexec_fn=limit_of(resource.RLIMIT_FSIZE, size))
            self.assertEqual(done.returncode, 2, (size, done.stderr))
            self.assertEqual(self.content(), self.old, size)
            self.check(2, size)
        done = run(*self.command(), preexec_fn=limit_of(resource.RLIMIT_FSIZE, len(self.new)))
        self.check(0, done.stderr)

    def test_small_file_systems(self):
        place = os.path.join(self.folder, "place")
        os.mkdir(place)
        script = ('mount -t tmpfs -o size="$1",nr_inodes=50 none "$2" && cp "$3" "$2/out.pt" && '
                  '"$4" resave --force "$5" "$2/out.pt"; code=$?; '
                  'cp "$2/out.pt" "$6"; ls -A "$2"; exit $code')
        ends = []
        size_of_new, page = len(self.new), 4096
        for pages in range(1 + len(self.old) // page, 4 + (len(self.old) + size_of_new) // page):
            self.restore()
            copy = os.path.join(self.folder, "copy")
            done = subprocess.run(
                ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh",
                 str(pages * page), place, self.out, PROGRAM, self.model, copy],
                capture_output=True, text=True, check=False)
            if "unshare" in done.stderr or "mount:" in done.stderr:
                self.skipTest("a file system may not be mounted here: " + done.stderr.strip())
            self.assertIn(done.returncode, (0, 2), done.stderr)
            self.assertEqual(done.stdout.split(), ["out.pt"], pages)
            with open(copy, "rb") as stream:
                self.assertEqual(stream.read(), self.new if done.returncode == 0 else self.old)
            if done.returncode == 2:
                self.assertIn("no room for", done.stderr)
            ends.append(done.returncode)
        self.assertEqual(set(ends), {0, 2})


@unittest.skipUnless(SHORT_WRITES, "FLAMBEAU_SHORT_WRITES names no library")
class ShortWrites(Saves):
    def test_every_write_is_cut(self):
        for most in ("1000", "99991", "1048575"):
            done = run(*self.command(), env={**os.environ, "LD_PRELOAD": SHORT_WRITES,
                                             "SHORT_WRITES_MOST": most})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.content(), self.new, most)
            self.restore()


if __name__ == "__main__":
    if not can_trace():
        print("SKIPPED: strace is missing or may not trace, so no call was made to fail",
              file=sys.stderr)
    unittest.main()
