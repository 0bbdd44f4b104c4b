# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Which options change bits and which do not; what a capture says of its own making."""
import json
import re
import unittest

from capture_case import CAPTURE, DIFF, SOURCE, CaptureCase, read_safetensors, write_safetensors

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

    def test_sampling_does_not_depend_on_the_batch(self):
        run = ("--prompts", self.prompts([{"text": t} for t in ("The", "Two fine", "A")]), "--max-new", "8", "--ignore-eos", "--arithmetic", "ordered", "--taps", "lm_head.out",
               "--temperature", "1.2", "--top-p", "0.9")
        one = self.run_model("one", *run, "--seed", "3")
        self.assert_bitwise_equal(one, self.run_model("three", *run, "--seed", "3", "--batch", "3"))
        self.assertEqual(self.info(one)["environment"]["run.sampling"], "temperature 1.2, top-p 0.9")
        self.assertNotEqual(self.compare(one, self.run_model("other", *run, "--seed", "4"))[0], 0)

    def test_ordered_steps_equal_the_free_run(self):
        free = self.run_model("free", "--prompts", self.prompts(), "--arithmetic", "ordered", "--max-new", "6", "--ignore-eos")
        steps = self.run_model("steps", "--replay-from", free, "--arithmetic", "ordered")
        once = self.run_model("once", "--replay-from", free, "--arithmetic", "ordered", "--construction", "once")
        self.assert_bitwise_equal(free, steps)
        self.assert_bitwise_equal(free, once)
        rows = [self.info(path)["rows"] for path in (free, steps, once)]
        self.assertEqual(len(set(rows)), 1, rows)

    def test_padding(self):
        for model in (self.model, SOURCE / "tests/data/models/mistral", SOURCE / "tests/data/models/gpt2"):
            prompts = self.prompts([{"ids": [3, 4, 5]}, {"ids": list(range(7, 30))}, {"ids": [9]}])
            run = ("--prompts", prompts, "--max-new", "4", "--ignore-eos")
            for arithmetic in ("ordered", "native"):
                alone = self.run_model("alone", *run, "--arithmetic", arithmetic, "--policy", "fp32", model=model)
                for side in ("left", "right"):
                    padded = self.run_model("padded", *run, "--arithmetic", arithmetic, "--policy", "fp32", "--batch", "3",
                                            "--padding", side, model=model)
                    self.assertEqual(self.info(padded)["environment"]["run.padding"], side)
                    if arithmetic == "ordered":
                        self.assert_bitwise_equal(alone, padded)
                    else:  # other shapes, other bits, the same values
                        self.assertEqual(self.call(DIFF, alone, padded, "--criterion", "abs<=1e-4", "--quiet").returncode, 0)
        done = self.call(CAPTURE, "run", self.model, "--text", "x", "--padding", "left", "--prefill-chunk", "2", "-o", self.folder / "x")
        self.assertIn(b"--padding", done.stderr)
        self.assertEqual(self.call(CAPTURE, "run", self.model, "--text", "x", "--padding", "up", "-o", self.folder / "x").returncode, 2)

    def test_sdpa(self):
        for model in (self.model, SOURCE / "tests/data/models/mistral"):  # one with a window
            run = ("--ids", self.write("ids.json", "[[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]"), "--policy", "fp32", "--max-new", "3",
                   "--ignore-eos")
            eager = self.run_model("eager", *run, model=model)
            environment = self.info(eager)["environment"]
            self.assertEqual(environment["numerics.attention"], "eager")
            fused = self.folder / "fused.moire"
            done = self.call(CAPTURE, "run", model, *run, "--attention", "sdpa", "-o", fused)
            if environment["library.torch_version"].startswith("1."):
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"sdpa needs LibTorch 2", done.stderr)
                continue
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.info(fused)["environment"]["numerics.attention"], "sdpa")
            self.assertEqual(self.call(DIFF, eager, fused, "--criterion", "abs<=1e-4", "--quiet").returncode, 0)
        for wrong in (("--attention", "flash"), ("--attention", "sdpa", "--arithmetic", "ordered")):
            done = self.call(CAPTURE, "run", self.model, "--text", "x", *wrong, "-o", self.folder / "x")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"sdpa", done.stderr)

    def test_prefix_goes_on_as_the_reference_did(self):
        run = ("--arithmetic", "ordered", "--ignore-eos")
        free = self.run_model("free", "--prompts", self.prompts(), "--max-new", "6", *run)
        for prefix in (0, 2, 5):
            again = self.run_model("again", "--replay-from", free, "--prefix", prefix, "--max-new", 6 - prefix, *run)
            self.assert_bitwise_equal(free, again)
            self.assertEqual(self.info(again)["environment"]["run.replay"], "prefix")
            self.assertEqual(self.info(again)["environment"]["run.prefix_tokens"], prefix)
        self.assertEqual(self.info(again)["rows"], self.info(free)["rows"])
        for wrong in (("--prompts", self.prompts(), "--prefix", "2", "--max-new", "1"), ("--replay-from", free, "--prefix", "2")):
            done = self.call(CAPTURE, "run", self.model, *wrong, "-o", self.folder / "wrong.moire")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--prefix", done.stderr)

    def test_ordered_does_not_depend_on_chunks(self):
        run = ("--prompts", self.prompts(), "--arithmetic", "ordered", "--max-new", "3", "--ignore-eos")
        whole = self.run_model("whole", *run)
        for chunk in (1, 3, 64):
            chunked = self.run_model("chunked", *run, "--prefill-chunk", chunk, "--batch", "3")
            self.assert_bitwise_equal(whole, chunked)
            self.assertEqual(self.info(chunked)["environment"]["run.prefill_chunk"], chunk)

    def fused(self, model):
        """A fixture whose experts lie in one tensor for all, as transformers 5 keeps them, under its module paths."""
        folder = self.folder / f"{model}_fused"
        folder.mkdir()
        (folder / "config.json").write_bytes((SOURCE / "tests/data/models" / model / "config.json").read_bytes())
        header, data = read_safetensors(SOURCE / "tests/data/models" / model / "model.safetensors")
        parts, experts = {}, {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            name = re.sub(r"block_sparse_moe", "mlp", name)
            found = re.fullmatch(r"(.*\.mlp\.experts)\.(\d+)\.(gate_proj|up_proj|down_proj|w1|w2|w3)\.weight", name)
            if not found:
                parts[name] = (entry["dtype"], entry["shape"], data[begin:end])
                continue
            projection = {"w1": "gate_proj", "w3": "up_proj", "w2": "down_proj"}.get(found[3], found[3])
            experts.setdefault((found[1], projection), {})[int(found[2])] = (entry["shape"], data[begin:end])
        for (module, projection), each in experts.items():
            if projection == "up_proj":
                continue
            (rows, columns), count = each[0][0], len(each)
            if projection == "down_proj":
                parts[f"{module}.down_proj"] = ("BF16", [count, rows, columns], b"".join(each[e][1] for e in range(count)))
            else:
                both = b"".join(each[e][1] + experts[module, "up_proj"][e][1] for e in range(count))
                parts[f"{module}.gate_up_proj"] = ("BF16", [count, 2 * rows, columns], both)
        header, data = {}, b""
        for name, (dtype, shape, values) in parts.items():
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
            data += values
        write_safetensors(folder / "model.safetensors", header, data)
        return folder

    def test_fused_experts(self):
        ids = self.write("ids.json", "[[5, 6, 7, 8]]")
        for model in ("mixtral", "qwen3_moe", "qwen2_moe"):
            with self.subTest(model):
                one = self.run_model("one", "--ids", ids, model=SOURCE / "tests/data/models" / model)
                all_in_one = self.run_model("fused", "--ids", ids, model=self.fused(model))
                self.assert_bitwise_equal(one, all_in_one)
                digests = {self.info(path)["environment"]["model.weight_digest"] for path in (one, all_in_one)}
                self.assertEqual(len(digests), 1)

    def test_expert_order(self):
        """Of two experts the order makes no difference; this model chooses three."""
        model = SOURCE / "tests/data/models/olmoe_odd"
        arguments = ("--ids", self.write("many.json", json.dumps([list(range(5, 45))])), "--policy", "bf16")
        ascending = self.run_model("ascending", *arguments, "--expert-order", "ascending", model=model)
        self.assert_bitwise_equal(ascending, self.run_model("usual", *arguments, model=model))
        slots = self.run_model("slots", *arguments, "--expert-order", "slots", model=model)
        self.assertEqual(self.compare(ascending, slots)[0], 1)
        self.assertEqual(self.info(slots)["environment"]["numerics.expert_order"], "slots")
        self.assertEqual(self.info(ascending)["environment"]["numerics.expert_order"], "ascending")
        dense = self.run_model("dense", "--ids", self.write("ids.json", "[[5, 6]]"), model=SOURCE / "tests/data/models/qwen2")
        self.assertNotIn("numerics.expert_order", self.info(dense)["environment"])
        self.assertEqual(self.info(dense)["environment"]["model.key_value_heads"], 2)

    def test_rows(self):
        ids = self.write("ids.json", "[[5, 6, 7], [8]]")
        self.assertEqual(self.info(self.run_model("scored", "--ids", ids))["rows"], 4)
        self.assertEqual(self.info(self.run_model("generated", "--ids", ids, "--max-new", "4", "--ignore-eos"))["rows"], 3 + 3 + 1 + 3)

    def test_environment(self):
        free = self.run_model("free", "--text", "it's", "--max-new", "2", "--ignore-eos", "--temperature", "0.5", "--seed", "5", "--observer-check")
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
        planned = re.search(rf"at most {tokens + 4} rows of 1 sample, \d+ taps, .*\((\d+)\), roughly \d+ s", said)
        self.assertIsNotNone(planned, said)
        self.assertEqual(list(self.folder.glob("*.moire*")), [])

    def test_planned_size_is_never_passed(self):
        for taps in ("lm_head.out", "*"):
            for tokens in (1, 40):
                run = ("--text", "The capital", "--max-new", tokens, "--ignore-eos", "--taps", taps)
                planned = int(re.search(r"\((\d+)\)", self.capture("run", self.model, *run, "--dry-run").splitlines()[-1])[1])
                size = self.run_model("sized", *run).stat().st_size
                self.assertLessEqual(size, planned)
                self.assertLess(planned, 2 * size)
                done = self.call(CAPTURE, "run", self.model, *run, "--limit-bytes", size - 1, "-o", self.folder / "refused.moire")
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"more than the limit", done.stderr)
        self.assertFalse((self.folder / "refused.moire").exists())
        run = ("--ids", self.write("ids.json", json.dumps([[5, 6, 7]] * 300)), "--batch", "50", "--level", "topk")
        planned = int(re.search(r"\((\d+)\)", self.capture("run", self.model, *run, "--dry-run").splitlines()[-1])[1])
        self.assertLessEqual(self.run_model("many", *run).stat().st_size, planned)

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
