# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of moire-diff have in common; each is called as NAME_test.py MOIRE-DIFF MAKE_CAPTURES SCHEMA."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, MAKER, SCHEMA = sys.argv[1:4]
_folder = tempfile.TemporaryDirectory()
FOLDER = Path(_folder.name)


def run(*arguments, **more):
    environment = dict(os.environ, **more.pop("env", {}))
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, cwd=FOLDER,
                          env=environment, **more)


def pair(name):
    return [f"{name}.ref.moire", f"{name}.target.moire"]


class Case(unittest.TestCase):
    def trouble(self, *arguments, status=2, says="", **more):
        """One sentence on stderr, nothing on stdout, nothing left behind."""
        before = sorted(os.listdir(FOLDER))
        done = run(*arguments, **more)
        text = done.stderr.decode()
        self.assertEqual(done.returncode, status, text)
        self.assertEqual(done.stdout, b"")
        self.assertRegex(text, r"\Amoire-diff: [^\n]+[.?]\n\Z")
        self.assertIn(says, text)
        self.assertEqual(sorted(os.listdir(FOLDER)), before, "something was left behind")
        return text


def main():
    subprocess.run([MAKER, FOLDER], check=True)
    unittest.main(argv=sys.argv[:1])
