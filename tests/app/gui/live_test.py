# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The window program between real daemons: its verdict is that of two files, and trouble is told."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "capture"))

from capture_case import BIN, CAPTURE, DIFF, LIMIT  # noqa: E402
from live_case import Daemon, LiveCase  # noqa: E402

TEXT = ["--text", "The capital of France is"]
FREE = "--policy bf16 --arithmetic ordered --ignore-eos --threads 1"
FORCED = "--policy bf16 --arithmetic native --threads 1"
NEW = "24"


class LiveWindow(LiveCase):
    def second(self):
        daemon = Daemon(self.shared, None)
        self.addCleanup(daemon.kill)
        return daemon.start()

    def window(self, *arguments):
        environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", XDG_CONFIG_HOME=str(self.folder))
        return subprocess.run([BIN / "moire", "--live", *map(str, arguments), "--screenshot", self.folder / "end.png"],
                              capture_output=True, text=True, timeout=LIMIT, env=environment, check=False)

    def files_verdict(self):
        ours, theirs = self.folder / "reference.moire", self.folder / "target.moire"
        model = [CAPTURE, "run", self.shared / "model"]
        subprocess.run([*model, *TEXT, "--max-new", NEW, *FREE.split(), "-o", ours], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*model, "--replay-from", ours, "--construction", "steps", *FORCED.split(), "-o", theirs], check=True,
                       capture_output=True)
        done = subprocess.run([DIFF, ours, theirs, "--quiet"], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return ours, done.stdout.splitlines()[0] + "\n"

    def test_verdict_of_the_files(self):
        reference, target = self.daemon(), self.second()
        capture, verdict = self.files_verdict()
        common = ["--model", "model", *TEXT, "--max-new", NEW, "--target-options", FORCED]
        done = self.window(reference.address, target.address, *common, "--reference-options", FREE,
                           "--screenshot-live", self.folder / "half.png")
        self.assertEqual((done.returncode, done.stdout), (0, verdict), done.stderr)
        for picture in ("half.png", "end.png"):
            self.assertTrue((self.folder / picture).read_bytes().startswith(b"\x89PNG"), picture)
        # The reference may be a file.
        done = self.window(capture, target.address, "--model", "model", "--target-options", FORCED)
        self.assertEqual((done.returncode, done.stdout), (0, verdict), done.stderr)

    def test_trouble_is_told(self):
        daemon, target = self.daemon(), self.second()
        both = [daemon.address, target.address]
        for arguments, words in (
                ([*both, "--model", "nothing", *TEXT], "there is no such model"),
                ([*both, "--model", "../model", *TEXT], "model"),
                ([*both, "--model", "model"], "there is no prompt"),
                ([*both, "--model", "model", *TEXT, "--reference-options", "--no-such 1"], "unknown"),
                ([*both, "--model", "model", *TEXT, "--criterion", "sideways"], "sideways"),
                ([daemon.address, "--model", "model", *TEXT], "two sides"),
                ([daemon.address, "192.0.2.1:7431", "--model", "model", *TEXT], "without keys"),
        ):
            done = self.window(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
            told = done.stderr.strip().splitlines()
            self.assertIn(words, told[-1], arguments)
        self.assertTrue(daemon.alive and target.alive)


if __name__ == "__main__":
    unittest.main()
