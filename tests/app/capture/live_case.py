# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of live capture share: a daemon at ports of its own, a recorder, a comparison of captures by h5py."""
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

import h5py
import numpy as np

from capture_case import CAPTURE, LIMIT, SOURCE, CaptureCase

sys.path.insert(0, str(SOURCE / "tests" / "support"))

from received_run import OF_THE_OCCASION, bits  # noqa: E402
from wire_client import Client  # noqa: E402

FULL = os.environ.get("MOIRE_FULL") == "1"
NEAR = "127.0.0.2"
PROMPT = ["--text", "The capital of France is", "--policy", "fp32", "--threads", "1", "--ignore-eos"]
# The same as the wire has them: names without dashes.
OPTIONS = {"text": "The capital of France is", "policy": "fp32", "threads": "1", "ignore-eos": True}


def free_ports():
    """The first of three ports in a row that nobody has, at both addresses that the tests use."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = probe.getsockname()[1]
        if first > 65000:
            continue
        try:
            for port in range(first, first + 3):
                for host in ("127.0.0.1", NEAR):
                    socket.create_server((host, port)).close()
            return first
        except OSError:
            continue


class Daemon:
    """moire-capture serve, always at the same ports."""

    def __init__(self, models, spool, *options, wrapper=(), log=None):
        self.port = free_ports()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.near = f"tcp://{NEAR}:{self.port}"
        self.ports = range(self.port, self.port + 3)
        self.spool = spool
        self._log = log
        self._command = [*wrapper, CAPTURE, "serve", "--bind", self.address, "--models", models,
                         *(["--spool", spool] if spool else []), *options]
        self.process = None

    def start(self, **options):
        with open(self._log or os.devnull, "ab") as log:
            self.process = subprocess.Popen([*map(str, self._command)], stdout=subprocess.PIPE, stderr=log, **options)
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        line = self.process.stdout.readline() if ready else b""
        if b"Serving at" not in line:
            self.kill()
            raise AssertionError(f"the daemon did not start: {line!r}\n{self.log()}")
        return self

    def log(self):
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log else ""

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """As kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()

    def stop(self):
        """As SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.process.stdout.close()
        return status

    def resident(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class LiveCase(CaptureCase):
    """Each test has a daemon whose models are the folder `shared`."""

    sizes = {"CONTEXT": 8192}
    new = 120  # tokens that the runs generate

    def daemon(self, *options, spool=True, start=True, **more):
        daemon = Daemon(self.shared, self.folder / "spool" if spool else None, *options, log=self.folder / "daemon.log", **more)
        self.addCleanup(daemon.kill)
        return daemon.start() if start else daemon

    def client(self, daemon, near=False, **options):
        client = Client(daemon.near if near else daemon.address, **options)
        self.addCleanup(client.close)
        return client

    def local(self, name="local", *options, new=None):
        """What moire-capture run writes with the options that the daemon's runs get; made once a class."""
        key = (options, new or self.new)
        known = type(self).__dict__.get("_locals")
        if known is None:
            known = type(self)._locals = {}
        if key not in known:
            path = self.shared / f"local{len(known)}.moire"
            self.capture("run", self.model, *PROMPT, "--max-new", key[1], *options, "-o", path)
            known[key] = path
        return known[key]

    def recording(self, address, out, *what, **options):
        """moire-capture record as a process."""
        return self.process(CAPTURE, "record", "--from", address, *what, "-o", out, **options)

    def new_run(self, *options, new=None):
        return ["--model", self.model.name, *PROMPT, "--max-new", new or self.new, *options]

    def finished(self, process, seconds=LIMIT):
        """What a recorder said, which has to succeed."""
        out, said = process.communicate(timeout=seconds)
        self.assertEqual(process.returncode, 0, said.decode(errors="replace"))
        return out.decode() + said.decode(errors="replace")

    def wait_until(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"{what} did not come")
            time.sleep(0.01)

    def assert_same_capture(self, ours, theirs):
        self.assertEqual(file_differences(ours, theirs), [])
        self.assert_bitwise_equal(ours, theirs)
        self.capture_is_sound(ours)

    def capture_is_sound(self, path):
        done = self.call(CAPTURE.with_name("moire-diff"), "verify", path)
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())


def rows_missing(said):
    """Ranges of rows that a sentence says are missing: [(first, last)], both inclusive."""
    return [(int(a), int(b or a)) for a, b in re.findall(r"rows? (\d+)(?:\s*(?:-|–|to|through)\s*(\d+))?", said)]


def file_differences(ours, theirs):
    """Tables that are not the same: row tables bit for bit, the others with their texts in place of references."""
    found = []
    with h5py.File(ours, "r") as a, h5py.File(theirs, "r") as b:
        names = [set(), set()]
        for file, known in ((a, names[0]), (b, names[1])):
            file.visititems(lambda name, item, known=known: known.add(name) if isinstance(item, h5py.Dataset) else None)
        if names[0] != names[1]:
            return [f"only one file has {sorted(names[0] ^ names[1])}"]
        for name in sorted(names[0] - {"text", "commit", "index", "environment", "run"}):
            one, other = (resolved(file, name) for file in (a, b))
            if one != other:
                found.append(f"{name} differs")
        one, other = ({key: value for key, value in environment(file).items() if key not in OF_THE_OCCASION} for file in (a, b))
        found += [f"{key} is {one.get(key)!r} here and {other.get(key)!r} there" for key in {*one, *other} if
                  one.get(key) != other.get(key)]
    return found


def resolved(file, name):
    """A table's content with texts for references, comparable."""
    data = file[name]
    kind = data.dtype
    if kind.names is None or not any(kind[field].names for field in kind.names) and "bytes_offset" not in kind.names:
        return bits(data).tobytes() if kind.names is None else data[:].tobytes()
    text = file["text"][:].tobytes()
    lines = []
    for record in data[:]:
        line = []
        for field in kind.names:
            if field == "bytes_offset":
                line.append(text[int(record[field]):][:int(record["bytes_length"])])
            elif kind[field].names:
                line.append(text[int(record[field]["offset"]):][:int(record[field]["length"])])
            else:
                line.append(record[field].tobytes())
        lines.append(tuple(line))
    return lines


def environment(file):
    text = file["text"][:].tobytes()
    ref = lambda r: text[int(r["offset"]):int(r["offset"]) + int(r["length"])].decode()
    fields = {}
    for record in file["environment"][:]:
        fields[ref(record["key"])] = [ref(record["text"]), int(record["integer"]), float(record["real"]),
                                      bool(record["integer"])][int(record["kind"])]
    return fields


def kept_rows(path):
    """How many rows a capture holds, finished or not."""
    with h5py.File(path, "r", swmr=str(path).endswith(".part")) as file:
        commit = file["commit"][:]
        return int(commit[np.argmax(commit["sequence"])]["rows_count"])
