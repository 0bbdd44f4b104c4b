# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed, stopped, or run out of disk: what was recorded stays, and says that it is incomplete."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import h5py
import numpy

from capture_case import CAPTURE, DIFF, LIMIT, CaptureCase

MOMENTS = 20          # kills, of which
MOMENTS_BETWEEN = 15  # at least so many have to come after the first flush and before the end
ATTEMPTS = 60


def committed_rows(part):
    """Rows of a partial file, 0 before there are any."""
    done = subprocess.run([DIFF, "info", part, "--json"], capture_output=True, check=False)
    found = re.search(rb'"rows"\s*:\s*(\d+)', done.stdout)
    return int(found.group(1)) if found else 0


class Interruption(CaptureCase):
    sizes = {"HIDDEN": 64, "LAYERS": 6, "EXPERTS": 8, "EXPERT_WIDTH": 32}
    arguments = ["--text", "The capital", "--policy", "fp32", "--max-new", "600", "--ignore-eos", "--threads", "1"]

    def start(self, path, *arguments, **options):
        return subprocess.Popen([CAPTURE, "run", self.model, *self.arguments, *arguments, "-o", path],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def finished(self):
        """The whole run and how long it takes, made once."""
        cls = type(self)
        if not hasattr(cls, "whole"):
            begin = time.monotonic()
            cls.whole = self.shared / "whole.moire"
            self.capture("run", self.model, *self.arguments, "-o", cls.whole)
            cls.seconds = time.monotonic() - begin
        return cls.whole

    def assert_beginning_of_the_whole(self, part):
        """The partial file opens, says so, and holds the first rows of the finished run, bit for bit."""
        info = self.info(part)
        self.assertIs(info["complete"], False)
        status, text = self.compare(self.finished(), part, "--allow-missing")
        self.assertEqual(status, 0, text)
        # And by another reader than ours.
        with h5py.File(part, "r", swmr=True) as cut, h5py.File(self.finished(), "r") as whole:
            rows = info["rows"]
            compared = 0
            for name, values in whole["values"].items():
                self.assertTrue(numpy.array_equal(cut["values"][name][:rows].view(numpy.uint32), values[:rows].view(numpy.uint32)), name)
                compared += 1
            self.assertGreater(compared, 50)
        return rows

    def kill_after_flush(self, path, part, fraction):
        """Starts a run and kills it some time after its first flush; false when it had ended by then."""
        process = self.start(path)
        while process.poll() is None and committed_rows(part) == 0:
            time.sleep(0.01)
        time.sleep(fraction * self.seconds)
        process.kill()
        process.communicate()
        return not path.exists()

    def test_kill(self):
        self.finished()
        for attempt in range(MOMENTS - MOMENTS_BETWEEN):  # any moment, from the start of the program on
            part = self.folder / f"any{attempt}.moire.part"
            process = self.start(part.with_suffix(""))
            time.sleep(attempt / (MOMENTS - MOMENTS_BETWEEN) * self.seconds)
            process.kill()
            process.communicate()
            if part.exists() and committed_rows(part) > 0:
                self.assert_beginning_of_the_whole(part)
        between = 0
        for attempt in range(ATTEMPTS):
            if between == MOMENTS_BETWEEN:
                break
            part = self.folder / f"{attempt}.moire.part"
            # The golden section spreads the moments without repeating any.
            if self.kill_after_flush(part.with_suffix(""), part, 0.7 * ((attempt * 0.618) % 1.0)):
                self.assertGreater(self.assert_beginning_of_the_whole(part), 0)
                self.assertFalse(part.with_suffix("").exists())
                part.unlink()
                between += 1
        self.assertEqual(between, MOMENTS_BETWEEN)

    def test_a_killed_run_is_replayed_row_for_row(self):
        self.finished()
        part = self.folder / "dead\x1b[31m.moire.part"
        self.assertTrue(self.kill_after_flush(part.with_suffix(""), part, 0.1))
        replay = self.folder / "replay.moire"
        done = self.call(CAPTURE, "run", self.model, "--replay-from", part, "--policy", "fp32", "--threads", "1", "-o", replay)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 0, said)
        self.assertRegex(said, r"^moire-capture: \S*dead\S+ is incomplete; its rows so far are replayed\.\n$")
        self.assertNotIn("\x1b", said + done.stdout.decode())
        self.assertEqual(self.info(replay)["rows"], committed_rows(part))
        status, text = self.compare(part, replay, "--allow-missing")
        self.assertEqual(status, 0, text)

    def test_a_run_without_rows_cannot_be_replayed(self):
        path, part = self.folder / "none.moire", self.folder / "none.moire.part"
        process = self.start(path)
        while process.poll() is None and (not part.exists() or self.call(DIFF, "info", part).returncode != 0):
            time.sleep(0.005)
        process.kill()
        process.communicate()
        if committed_rows(part) > 0:
            self.skipTest("its first rows came too soon")
        said = self.refused("run", self.model, "--replay-from", part, "-o", self.folder / "r.moire", says="incomplete and holds no row yet")
        self.assertNotIn("rows so far", said)

    def stopped_by(self, number):
        path = self.folder / "stopped.moire"
        part = Path(f"{path}.part")
        process = self.start(path)
        while process.poll() is None and committed_rows(part) == 0:
            time.sleep(0.02)
        process.send_signal(number)
        out, said = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, out), (2, b""))
        self.assertRegex(said.decode(), r"^moire-capture: stopped on request after \d+ of 6\d\d rows\. .*stopped\.moire\.part.*\n$")
        self.assertFalse(path.exists())
        rows = self.assert_beginning_of_the_whole(part)
        self.assertIn("incomplete", self.call(DIFF, "info", part).stdout.decode())
        self.assertEqual(self.call(DIFF, "verify", part).returncode, 0)
        # All that was computed is there, not only what an interval had flushed.
        self.assertIn(f"after {rows} of", said.decode())

    def test_ctrl_c(self):
        self.stopped_by(signal.SIGINT)

    def test_terminate(self):
        self.stopped_by(signal.SIGTERM)

    def test_an_earlier_capture_survives_a_failed_run(self):
        path = self.folder / "kept.moire"
        self.capture("run", self.model, "--text", "The", "-o", path)
        before = path.read_bytes()
        process = self.start(path)
        while process.poll() is None and committed_rows(Path(f"{path}.part")) == 0:
            time.sleep(0.02)
        process.kill()
        process.communicate()
        self.assertEqual(path.read_bytes(), before)
        # A run that succeeds replaces it, and leaves no partial file of its own.
        self.capture("run", self.model, "--text", "The capital", "-o", path)
        self.assertNotEqual(path.read_bytes(), before)
        self.assertFalse(Path(f"{path}.part").exists())

    def test_two_runs_into_one_file(self):
        path = self.folder / "busy.moire"
        process = self.start(path)
        while process.poll() is None and not Path(f"{path}.part").exists():
            time.sleep(0.02)
        self.refused("run", self.model, "--text", "a", "-o", path, says="(?i)another process")
        process.kill()
        process.communicate()

    def mounted(self, options):
        """A small file system of its own; skips where that cannot be had."""
        place = Path(tempfile.mkdtemp(dir=self.folder))
        if os.getuid() != 0 or not shutil.which("mount"):
            self.skipTest("needs to mount a file system")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest("cannot mount: " + done.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=False)
        return place

    def test_disk_full(self):
        for size in ("6m", "2m", "1200k", "400k", "64k"):
            with self.subTest(size):
                place = self.mounted(f"size={size}")
                path = place / "out.moire"
                said = self.refused("run", self.model, *self.arguments, "-o", path, says="(?i)no space.*out.moire.part|out.moire.part.*no space")
                self.assertFalse(path.exists())
                part = Path(f"{path}.part")
                if size == "6m":
                    self.assertGreater(self.assert_beginning_of_the_whole(part), 0, said)
                elif part.exists():  # what opens is sound, what does not says so
                    done = self.call(DIFF, "verify", part)
                    self.assertIn(done.returncode, (0, 2), done.stdout + done.stderr)

    def test_disk_full_from_the_start(self):
        place = self.mounted("size=1m")
        (place / "ballast").write_bytes(b"x" * (1 << 20))
        self.refused("run", self.model, *self.arguments, "-o", place / "out.moire", says="(?i)no space")

    def test_read_only(self):
        place = self.mounted("size=1m,ro")
        self.refused("run", self.model, *self.arguments, "-o", place / "out.moire", says="(?i)read-only")


if __name__ == "__main__":
    unittest.main()
