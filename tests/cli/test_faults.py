"""What the system can do to the program: signals, full disks, calls that fail, files that change
while they are read, no threads. Run with FLAMBEAU_PROGRAM set."""
import json
import os
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

PROGRAM = os.path.abspath(os.environ.get("FLAMBEAU_PROGRAM", "flambeau"))
COUNT = 1 << 20  # numbers of the large tensor, 4 MiB
# Sanitizers look for leaks by tracing the process, which has a tracer already.
TRACED = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def run(*arguments, **options):
    options = {"capture_output": True, "timeout": 120, "check": False, **options}
    return subprocess.run([PROGRAM, *arguments], **options)


def can_trace():
    strace = shutil.which("strace")
    return strace and subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True,
                                     check=False).returncode == 0


def limit_of(kind, size):
    return lambda: resource.setrlimit(kind, (size, resource.getrlimit(kind)[1]))


class Folder(unittest.TestCase):
    """A checkpoint of one large tensor, and an OUT that exists."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.model = os.path.join(self.folder, "model.pt")
        self.elements = bytes(range(256)) * (COUNT * 4 // 256)
        make_odd_files.checkpoint(
            self.model, {"w": make_odd_files.tensor("0", COUNT, (COUNT,), (1,)),
                         "part": make_odd_files.tensor("0", COUNT, (COUNT // 2,), (1,), 5)},
            [("0", self.elements)])
        self.out = os.path.join(self.folder, "out.bin")
        self.restore()

    def restore(self):
        with open(self.out, "wb") as stream:
            stream.write(b"old")

    def command(self, *options):
        return ["get", "--force", self.model, "w", "-o", self.out, *options]

    def content(self):
        with open(self.out, "rb") as stream:
            return stream.read()

    def temporaries(self):
        return [name for name in os.listdir(self.folder) if name.startswith(".")]

    def expect_old(self, *context):
        self.assertEqual(self.content(), b"old", context)
        self.assertEqual(self.temporaries(), [], context)

    def has_nameless_files(self):
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError:
            return False
        return True


class Limits(Folder):
    def test_size_of_files(self):
        for size in (0, 4096, 4 * COUNT - 1):
            done = run(*self.command(), preexec_fn=limit_of(resource.RLIMIT_FSIZE, size))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr.decode(),
                             "after [0-9]+ bytes of at least 4194304: File too large")
            self.expect_old(size)

    def test_size_of_standard_output(self):
        with open(os.path.join(self.folder, "list"), "wb") as stream:
            done = run("ls", self.model, stdout=stream, stderr=subprocess.PIPE,
                       capture_output=False, preexec_fn=limit_of(resource.RLIMIT_FSIZE, 10))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"flambeau: standard output: File too large\n")

    def test_no_threads(self):
        # A stack that no address space has room for.
        huge = limit_of(resource.RLIMIT_STACK, 1 << 47)
        if run("help", preexec_fn=huge).returncode != 0:
            self.skipTest("the program itself does not start, as with sanitizers")
        expected = run("ls", "--digest", "--json", self.model)
        done = run("ls", "--digest", "--json", self.model, preexec_fn=huge)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, expected.stdout)

    def test_streams_without_end(self):
        with open("/dev/zero", "rb") as endless:
            done = run("ls", "--json", "-", stdin=endless, timeout=20)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr,
                         b"flambeau: standard input: this is data of an unknown kind\n")


class Streams(Folder):
    def test_standard_output_that_does_not_block(self):
        values = os.path.join(self.folder, "values.pt")
        make_odd_files.checkpoint(values, list(range(100_000)))
        expected = run("tree", "--json", values).stdout
        self.assertGreater(len(expected), 1 << 18)
        self.assertEqual(self.slowly_read("tree", "--json", values), expected)

    def test_out_that_does_not_block(self):
        link = os.path.join(self.folder, "link.bin")
        os.symlink("/dev/stdout", link)
        content = self.slowly_read("get", self.model, "w", "-o", link)
        self.assertEqual(content[:len(self.elements)], self.elements)

    def slowly_read(self, *arguments):
        """What comes out through a pipe that does not block and is full for a while."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = subprocess.Popen([PROGRAM, *arguments], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        time.sleep(0.3)
        with open(reader, "rb") as stream:
            content = stream.read()
        error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, error)
        return content


class ChangingFile(Folder):
    """OUT is a pipe: the program waits for its reader after it has opened the file."""

    def setUp(self):
        super().setUp()
        os.remove(self.out)
        os.mkfifo(self.out)

    def start(self, *options):
        process = subprocess.Popen([PROGRAM, *self.command(*options)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def wait_until_asleep(self, process):
        seen = 0
        for _ in range(1000):
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as stream:
                seen = seen + 1 if stream.read().rsplit(")", 1)[1].split()[0] == "S" else 0
            if seen == 5:
                return
            time.sleep(0.02)
        self.fail("the program does not wait for the pipe's reader")

    def test_truncated_before_it_is_read(self):
        process = self.start("--json")
        self.wait_until_asleep(process)
        os.truncate(self.model, 0)
        with open(self.out, "rb") as reader:
            self.assertEqual(reader.read(), b"")
        output, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        message = ("the file was truncated while it was being read; --unmapped reads files that "
                   "others change")
        self.assertEqual(error.decode(), f"flambeau: {self.model}: {message}\n")
        self.assertEqual(json.loads(output)["error"], {
            "code": "truncated", "where": self.model, "offset": None, "message": message})

    def test_truncated_while_it_is_written(self):
        process = self.start()
        with open(self.out, "rb", buffering=0) as reader:
            self.assertEqual(reader.read(1), self.elements[:1])
            os.truncate(self.model, 0)
            while reader.read(1 << 16):
                pass
        error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 2)
        self.assertIn(f"{self.model}: a mapped file was truncated", error.decode())

    def test_unmapped(self):
        process = self.start("--unmapped")
        self.wait_until_asleep(process)
        os.truncate(self.model, 0)
        with open(self.out, "rb") as reader:
            reader.read()
        error = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 2)
        self.assertIn("the file ends here", error.decode())


class Rights(Folder):
    @unittest.skipUnless(os.geteuid() == 0, "only root may become somebody else")
    def test_never_more_than_before(self):
        nobody = 65534
        for path in (self.folder, self.model):
            os.chown(path, nobody, nobody)
        # Of root and its group, which nobody may not give a file to.
        os.chmod(self.out, 0o6774)
        try:
            done = run(*self.command(), user=nobody, group=nobody, extra_groups=[])
        except PermissionError:
            self.skipTest("the program lies where others may not look")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.stat(self.out).st_uid, nobody)
        self.assertEqual(oct(os.stat(self.out).st_mode & 0o7777), oct(0o744))


class Killed(Folder):
    """Whenever it ends, OUT is the old file or the new one, and nothing lies beside it."""

    def test_signals(self):
        ends = set()
        for which in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            for delay in range(24):
                process = subprocess.Popen([PROGRAM, *self.command()], stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                time.sleep(delay * 0.0005)
                process.send_signal(which)
                ends.add(process.wait())
                self.assertIn(self.content(), (b"old", self.elements))
                self.check_temporaries(which)
                self.restore()
        self.assertIn(-signal.SIGTERM, ends)

    def check_temporaries(self, which):
        left = self.temporaries()
        if self.has_nameless_files() and which != signal.SIGKILL:
            self.assertEqual(left, [], which)
        for name in left:
            self.assertRegex(name, r"^\.out\.bin\.[0-9a-f]{16}$")
            os.remove(os.path.join(self.folder, name))


@unittest.skipUnless(can_trace(), "strace is missing or may not trace")
class FailingCalls(Folder):
    def trace(self, *faults):
        """A run in which calls fail as `faults` say (strace(1), -e inject), and its log."""
        log = os.path.join(self.folder, "log")
        words = ["strace", "-o", log, "-e",
                 "trace=write,fallocate,fsync,linkat,renameat,renameat2,openat,close,fchmod"]
        for fault in faults:
            words += ["-e", f"inject={fault}"]
        done = subprocess.run([*words, PROGRAM, *self.command()], capture_output=True, timeout=120,
                              env=TRACED, check=False)
        with open(log, encoding="utf-8", errors="replace") as stream:
            calls = stream.read().splitlines()
        return done, calls

    def count(self, name, pattern):
        """The number of the call `name` that matches, as `when` wants it."""
        calls = [call for call in self.trace()[1] if call.startswith(name + "(")]
        self.restore()
        return next(i for i, call in enumerate(calls, 1) if re.search(pattern, call))

    def expect_failure(self, message, *faults):
        done, calls = self.trace(*faults)
        self.assertIn("(INJECTED)", "\n".join(calls), faults)
        self.assertEqual(done.returncode, 2, (faults, done.stderr))
        self.assertRegex(done.stderr.decode(), message)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.expect_old(faults)

    def without_nameless_files(self):
        if not self.has_nameless_files():
            return ()
        return (f"openat:error=EOPNOTSUPP:when={self.count('openat', 'O_TMPFILE')}",)

    def test_each_call(self):
        rename = "renameat2" if self.uses("renameat2") else "renameat"
        close = self.closing()
        for before in ((), self.without_nameless_files()):
            for message, fault in (
                    ("no room for 4194304 bytes, .* No space", "fallocate:error=ENOSPC:when=1"),
                    ("after 0 bytes .* No space left", "write:error=ENOSPC:when=1"),
                    ("after 0 bytes .* Disk quota", "write:error=EDQUOT:when=1"),
                    ("cannot flush .* Input/output", "fsync:error=EIO:when=1"),
                    ("cannot set the mode", "fchmod:error=EPERM:when=1"),
                    ("cannot close", f"close:error=EIO:when={close}"),
                    ("cannot rename", f"{rename}:error=EBUSY:when=1")):
                self.expect_failure(message, *before, fault)
        if self.has_nameless_files():
            self.expect_failure("cannot name", "linkat:error=EMLINK:when=1")

    def uses(self, name):
        calls = self.trace()[1]
        self.restore()
        return any(call.startswith(name + "(") for call in calls)

    def closing(self):
        """The number of the close that follows the flush of the finished file."""
        calls = self.trace()[1]
        self.restore()
        flush = next(i for i, call in enumerate(calls) if call.startswith("fsync("))
        return sum(call.startswith("close(") for call in calls[:flush]) + 1

    def test_temporary_cannot_be_made(self):
        first = self.count("openat", "O_TMPFILE|O_EXCL")
        self.expect_failure("cannot create a file in its folder: Permission denied",
                            f"openat:error=EACCES:when={first}+")

    def test_without_nameless_files(self):
        done, calls = self.trace(*self.without_nameless_files())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(any("O_EXCL" in call for call in calls))
        self.assertEqual(self.content(), self.elements)
        self.assertEqual(self.temporaries(), [])

    def test_interrupted_calls(self):
        done, calls = self.trace("write:error=EINTR:when=1")
        self.assertIn("EINTR", "\n".join(calls))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.content(), self.elements)

    def test_signals_wait_for_the_renaming(self):
        if not self.has_nameless_files():
            self.skipTest("the file has a name from the start")
        for call in ("linkat", "renameat"):
            done = self.trace(f"{call}:signal=SIGTERM:when=1")[0]
            self.assertEqual(done.returncode, -signal.SIGTERM, done.stderr)
            self.assertEqual(self.content(), self.elements)
            self.assertEqual(self.temporaries(), [])
            self.restore()

    def test_folder_that_is_not_flushed(self):
        done = self.trace("fsync:error=EIO:when=2")[0]
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"its name may not outlive a crash", done.stderr)
        self.assertEqual(self.content(), self.elements)

    def test_flushes(self):
        for durability, count in (("none", 0), ("file", 1), ("full", 2)):
            log = os.path.join(self.folder, "log")
            subprocess.run(["strace", "-o", log, "-e", "trace=fsync", PROGRAM,
                            *self.command("--durability", durability)], capture_output=True,
                           env=TRACED, check=True)
            with open(log, encoding="utf-8") as stream:
                self.assertEqual(stream.read().count("fsync("), count, durability)


class LocalHeaders(Folder):
    """Damage that the directory does not show."""

    def spoil(self, at, byte):
        with open(self.model, "r+b") as stream:
            start = stream.read().index(b"PK\x03\x04", 4)
            stream.seek(start + at)
            stream.write(byte)

    def notes(self):
        done = run("info", "--json", self.model)
        self.assertEqual(done.returncode, 0, done.stderr)
        notes = json.loads(done.stdout)["notes"]
        return [note for note in notes if note["severity"] == "ambiguity"]

    def test_strict_refuses_what_info_tells(self):
        self.assertEqual(self.notes(), [])
        self.spoil(8, b"\x08")
        message = self.notes()[0]["message"]
        for arguments in (("ls",), ("ls", "--digest"), ("tree",), ("info",), ("dis",),
                          ("show", "w"), ("get", "w", "-o", os.path.join(self.folder, "new.bin"))):
            done = run(arguments[0], self.model, *arguments[1:], "--strict", "--json")
            self.assertEqual(done.returncode, 2, arguments)
            error = json.loads(done.stdout)["error"]
            self.assertEqual((error["code"], error["message"]), ("ambiguous", message))
            if arguments[0] != "get":
                self.assertEqual(run(arguments[0], self.model, *arguments[1:]).returncode, 0)

    def test_info_goes_on(self):
        self.spoil(0, b"X")
        self.assertIn("no local header", self.notes()[0]["message"])
        self.assertEqual(run("ls", self.model).returncode, 0)
        self.assertEqual(run("ls", "--digest", self.model).returncode, 2)


if __name__ == "__main__":
    if not can_trace():
        print("SKIPPED: strace is missing or may not trace, so no call was made to fail",
              file=sys.stderr)
    unittest.main()
