# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Captures larger than the memory that the comparison may take: memory_test.py MOIRE-DIFF MAKE_FILLED.

The limit is one on data (ulimit -d): anonymous memory, thread stacks, heaps; file pages do not count. MOIRE_FULL=1 takes
files of 1.2 GB and the full 512 MB.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DIFF, MAKE = sys.argv[1:3]
FULL = os.environ.get("MOIRE_FULL") == "1"
MIB = 1 << 20
ROWS, TAPS, WIDTH = (4096, 36, 4096) if FULL else (320, 36, 4096)
RESULT = ROWS * TAPS * 256  # what is kept of a site, twice over
LIMIT = (512 * MIB if FULL else 64 * MIB) + RESULT


class Memory(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="moire-memory-")
        self.addCleanup(folder.cleanup)
        self.files = [Path(folder.name) / name for name in ("reference.moire", "target.moire")]
        for file, noise in zip(self.files, ("0", "0.01")):
            subprocess.run([MAKE, file, str(ROWS), str(TAPS), str(WIDTH), noise], check=True)

    def limited(self, *arguments):
        return subprocess.run([DIFF, *self.files, *arguments], capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)))

    def test_files_larger_than_the_limit(self):
        self.assertGreater(min(file.stat().st_size for file in self.files), LIMIT)
        for threads in ("1", "2"):
            done = self.limited("--threads", threads, "--format", "json")
            self.assertEqual(done.returncode, 1, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["alignment"]["rows"], ROWS)
            self.assertEqual(len(report["taps"]), TAPS)

    def test_first_only(self):
        self.assertEqual(self.limited("--first", "--quiet").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
