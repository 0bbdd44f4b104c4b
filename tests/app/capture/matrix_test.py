# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""`moire-capture run --matrix`: every combination once, resumable, and mistakes in the file named by line."""
import os
import unittest

import h5py
import numpy as np

from capture_case import CAPTURE, DIFF, SOURCE, CaptureCase

AXES = '[axes]\npolicy = ["bf16", "fp32"]\narithmetic = ["native", "ordered"]\nbatch = [1, 2]\n'


class Matrix(CaptureCase):
    def matrix(self, text, *arguments, output="out"):
        path = self.write("matrix.toml", text)
        given = ("--text", "The sea") if not arguments else arguments
        return self.call(CAPTURE, "run", self.model, *given, "--matrix", path, "-o", self.folder / output)

    def names(self, output="out"):
        return sorted(path.name for path in (self.folder / output).iterdir())

    def test_every_combination(self):
        done = self.matrix(AXES + '[run]\nmax-new = 3\nignore-eos = true\n[[skip]]\nbatch = 2\npolicy = ["bf16"]\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(), [f"{policy}-{arithmetic}-batch{batch}.moire" for policy, arithmetic, batch in
                                        [("bf16", "native", 1), ("bf16", "ordered", 1), ("fp32", "native", 1),
                                         ("fp32", "native", 2), ("fp32", "ordered", 1), ("fp32", "ordered", 2)]])
        alone = self.run_model("alone", "--text", "The sea", "--policy", "fp32", "--arithmetic", "ordered", "--max-new", 3,
                               "--ignore-eos", "--batch", 2)
        cell = self.folder / "out/fp32-ordered-batch2.moire"
        self.assertEqual(self.call(DIFF, alone, cell, "--quiet").returncode, 0)
        with h5py.File(alone) as ours, h5py.File(cell) as theirs:
            np.testing.assert_array_equal(ours["rows"][:], theirs["rows"][:])

    def test_goes_on_where_it_stopped(self):
        self.assertEqual(self.matrix(AXES).returncode, 0)
        times = {name: (self.folder / "out" / name).stat().st_mtime_ns for name in self.names()}
        lost = self.folder / "out/fp32-native-batch1.moire"
        lost.unlink()
        done = self.matrix(AXES)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.decode().count("done before"), 7)
        for name, time in times.items():
            if name != lost.name:
                self.assertEqual((self.folder / "out" / name).stat().st_mtime_ns, time)
        self.assertTrue(lost.exists())
        done = self.matrix(AXES, "--text", "Another sea")  # would mix two experiments
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"was made with other options", done.stderr)

    def test_what_was_made_from_other_files_is_refused(self):
        prompts = self.write("p.jsonl", '{"text": "The sea"}\n')
        run = ("--prompts", prompts)
        text = '[axes]\npolicy = ["bf16", "fp32"]\n[run]\nmax-new = 2\nignore-eos = true\n[reference]\npolicy = "fp32"\n'
        self.assertEqual(self.matrix(text, *run).returncode, 0)
        self.assertEqual(self.matrix(text, *run).stdout.decode().count("done before"), 2)
        (self.folder / "out/fp32.moire").rename(self.folder / "kept")  # its targets would have no reference
        done = self.matrix(text, *run)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is older than fp32.moire, which it was made from", done.stderr)
        (self.folder / "kept").rename(self.folder / "out/fp32.moire")
        later = os.stat(self.folder / "out/bf16.moire").st_mtime + 10
        os.utime(prompts, (later, later))
        done = self.matrix(text, *run)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is older than p.jsonl, which it was made from", done.stderr)

    def test_reference_is_replayed(self):
        done = self.matrix(AXES + '[run]\nmax-new = 4\nignore-eos = true\ntemperature = 0.5\nseed = 3\n'
                           '[reference]\npolicy = "fp32"\narithmetic = "ordered"\nbatch = 1\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        tokens = {}
        for name in self.names():
            with h5py.File(self.folder / "out" / name) as file:
                tokens[name] = file["tokens"][:]["id"].tolist()
        self.assertEqual(len(tokens), 8)
        self.assertEqual(len({str(ids) for ids in tokens.values()}), 1)

    def test_only_planned(self):
        done = self.matrix(AXES, "--text", "x", "--dry-run")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.decode().count(": to run\n"), 8)
        self.assertFalse((self.folder / "out").exists())

    def test_shipped_examples(self):
        for name, runs in (("ranks_and_batches", 12), ("policies", 12)):
            done = self.call(CAPTURE, "run", self.model, "--text", "x", "--matrix", SOURCE / f"resources/matrix/{name}.toml",
                             "-o", self.folder / "out", "--dry-run")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.decode().count(": to run\n"), runs)

    def test_a_run_that_fails_leaves_the_others(self):
        odd = self.folder / "odd"
        odd.mkdir()
        text = f'[axes]\nmodel = ["{odd}", "{self.model}"]\n'
        path = self.write("matrix.toml", text)
        done = self.call(CAPTURE, "run", "--text", "x", "--matrix", path, "-o", self.folder / "out")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"1 of 2 runs failed", done.stderr)
        self.assertEqual(self.names(), ["model.moire"])

    def test_mistakes(self):
        for text, words in [("[axes]\npolicy = 3\n", "matrix.toml, line 2"), ("[axes]\npolicy = []\n", "has no value"),
                            ("[axes]\npollicy = ['bf16']\n", "'pollicy' is no option"), ("[run]\nbatch = 2\n", "[axes]"),
                            ("[axes]\nbatch = [1, true]\n", "needs a text or a number"),
                            ("[axes]\nignore-eos = [1]\n", "is true or false"), ("[axes]\noutput = ['a']\n", "'output'"),
                            ("[axes]\nbatch = [1, 1]\n", "two runs of the name 'batch1'"),
                            ("[axes]\nbatch = [1]\n[run]\nbatch = 2\n", "stands in [run] and [axes]"),
                            ("[axes]\nbatch = [1]\n[[skip]]\nbatch = 1\n", "skips every run"),
                            ("[axes]\nbatch = [1]\n[[skip]]\nbatch = 7\n", "has no such value"),
                            ("[axes]\nbatch = [1]\n[[skip]]\nseed = 7\n", "none of the [axes]"),
                            ("[axes]\nbatch = [1, 2]\n[reference]\nbatch = [1, 2]\n", "fits 2 runs"),
                            ("[axes]\nbatch = [1, 2]\n[reference]\n", "names no axis"),
                            ("[axis]\n", "'axis' is unknown"), ("[axes\n", "is not TOML"),
                            ("[axes]\nbatch = [0]\n", "--batch"), ("[axes]\narithmetic = ['x']\n", "unknown arithmetic"),
                            ("[axes]\ntext = ['a', 'b']\n", "was given, and the matrix sets it too"),
                            ("[axes]\nseed = [" + ",".join(map(str, range(5000))) + "]\n", "more than 4096 runs")]:
            done = self.matrix(text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(words, done.stderr.decode(), text)
            self.assertEqual(done.stderr.decode().count("\n"), done.stderr.decode().strip().count("\n") + 1)
        done = self.call(CAPTURE, "run", self.model, "--text", "x", "--matrix", self.folder / "matrix.toml")
        self.assertIn(b"needs a folder", done.stderr)
        done = self.call(CAPTURE, "run", self.model, "--text", "x", "--matrix", self.folder / "none.toml", "-o", "out")
        self.assertIn(b"none.toml", done.stderr)
        self.write("file", "no folder")
        self.assertIn(b"cannot be made", self.matrix(AXES, output="file").stderr)


if __name__ == "__main__":
    unittest.main()
