# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Which options change bits and which do not; what a capture says of its own making."""
import json
import re
import unittest

from capture_case import CAPTURE, CaptureCase

PROMPTS = [{"id": "a", "text": "The capital of France is"}, {"id": "b", "text": "1 2 4 8"}, {"text": "def norm(x"},
           {"id": "d", "ids": [5, 6, 7], "category": "numbers"}, {"id": "e", "text": "We lay two runs of one model over each other"},
           {"id": "f", "text": "x"}, {"id": "g", "text": "Zwei feine Gitter"}, {"id": "h", "text": "Where do they part, how much, and why?"}]


class SameBits(CaptureCase):
    def prompts(self, entries=None):
        return self.write("prompts.jsonl", "".join(json.dumps(p) + "\n" for p in entries or PROMPTS))

    def test_twice_the_same(self):
        for arithmetic in ("native", "ordered"):
            arguments = ("--prompts", self.prompts(), "--arithmetic", arithmetic, "--max-new", "6", "--threads", "2")
            first = self.run_model("first", *arguments)
            second = self.run_model("second", *arguments)
            self.assert_bitwise_equal(first, second)
            self.assert_bitwise_equal(first, first)

    def test_ordered_does_not_depend_on_batch_and_threads(self):
        for policy in ("fp32", "bf16"):
            arguments = ("--prompts", self.prompts(), "--arithmetic", "ordered", "--policy", policy, "--max-new", "5", "--ignore-eos")
            one = self.run_model("one", *arguments, "--batch", "1", "--threads", "1")
            for batch, threads in ((3, 2), (8, 1), (1, 2)):
                other = self.run_model("other", *arguments, "--batch", batch, "--threads", threads)
                self.assert_bitwise_equal(one, other)

    def test_ordered_steps_equal_the_free_run(self):
        free = self.run_model("free", "--prompts", self.prompts(), "--arithmetic", "ordered", "--max-new", "6", "--ignore-eos")
        steps = self.run_model("steps", "--replay-from", free, "--arithmetic", "ordered")
        once = self.run_model("once", "--replay-from", free, "--arithmetic", "ordered", "--construction", "once")
        self.assert_bitwise_equal(free, steps)
        self.assert_bitwise_equal(free, once)
        rows = [self.info(path)["rows"] for path in (free, steps, once)]
        self.assertEqual(len(set(rows)), 1, rows)

    def test_rows(self):
        ids = self.write("ids.json", "[[5, 6, 7], [8]]")
        self.assertEqual(self.info(self.run_model("scored", "--ids", ids))["rows"], 4)
        self.assertEqual(self.info(self.run_model("generated", "--ids", ids, "--max-new", "4", "--ignore-eos"))["rows"], 3 + 3 + 1 + 3)

    def test_environment(self):
        free = self.run_model("free", "--text", "it's", "--max-new", "2", "--ignore-eos", "--seed", "5", "--observer-check")
        steps = self.run_model("steps", "--replay-from", free)
        environment = self.info(free)["environment"]
        self.assertRegex(environment["run.program"], r"^moire-capture \d")
        self.assertIn("'it'\\''s'", environment["run.command_line"])
        self.assertEqual(environment["run.replay"], "free")
        self.assertEqual(environment["run.seed"], 5)
        self.assertEqual(environment["run.batch_size"], 1)
        self.assertEqual(environment["run.observer_check"], "bitwise equal")
        self.assertEqual(environment["numerics.policy"], "bf16")
        self.assertEqual(environment["numerics.arithmetic"], "native")
        for key in ("model.weight_digest", "model.tokenizer_digest"):
            self.assertRegex(environment[key], r"^0x[0-9a-f]{16}$")
        for key in ("run.start_time", "run.end_time"):
            self.assertRegex(environment[key], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertGreater(environment["run.wall_seconds"], 0)
        self.assertGreater(environment["run.peak_bytes"], 1 << 20)
        replay = self.info(steps)["environment"]
        self.assertEqual(replay["run.replay"], "forced")
        self.assertEqual(replay["run.construction"], "steps")
        self.assertEqual(replay["run.replay_source"], "free.moire")
        self.assertEqual(replay["model.weight_digest"], environment["model.weight_digest"])

    def test_levels_and_taps(self):
        full = self.run_model("full", "--text", "The capital")
        some = self.run_model("some", "--text", "The capital", "--taps", "model.layers.*.out", "--taps", "lm_head.out")
        digest = self.run_model("digest", "--text", "The capital", "--level", "digest")
        taps = self.capture("taps", self.model).splitlines()
        self.assertEqual(self.info(full)["taps"], len(taps))
        self.assertTrue(taps[0].startswith("model.embed_tokens.out"))
        self.assertTrue(taps[-1].startswith("lm_head.out"))
        names = [line.split()[0] for line in taps]
        chosen = [n for n in names if re.fullmatch(r"model\.layers\..*\.out|lm_head\.out", n)]
        listed = self.write("taps.txt", "# some\nmodel.layers.*.out\n\nlm_head.out\n")
        from_file = self.run_model("file", "--text", "The capital", "--taps", f"@{listed}")
        for path in (some, from_file):
            self.assertEqual(self.info(path)["taps"], len(chosen))
        self.assertLess(digest.stat().st_size, full.stat().st_size)
        self.assertEqual(self.compare(full, digest)[0], 0)

    def test_dry_run(self):
        said = self.capture("run", self.model, "--text", "The capital", "--max-new", "5", "--dry-run")
        self.assertIn("lm_head.out", said)
        tokens = len(self.capture("tokenize", self.model, "--text", "The capital").split())
        self.assertRegex(said, rf"at most {tokens + 4} rows of 1 sample, \d+ taps, .*\(\d+\)")
        self.assertEqual(list(self.folder.glob("*.moire*")), [])

    def test_names_the_file_itself(self):
        for expected in ("model-bf16-native.moire", "model-bf16-native-2.moire"):
            said = self.capture("run", self.model, "--text", "The", cwd=self.folder)
            self.assertIn(expected, said)
            self.assertTrue((self.folder / expected).exists())

    def test_no_progress_where_no_terminal_is(self):
        done = self.call(CAPTURE, "run", self.model, "--text", "The", "-o", self.folder / "o.moire")
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
