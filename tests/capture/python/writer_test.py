# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Writer: what it writes is sound to moire-diff, and what h5py reads is what was given."""
import os
import re
import signal
import subprocess
import sys
import unittest

import numpy as np

from tap_case import DIFF, SOURCE, Capture, TapCase

import moire_tap
from moire_tap.digests import digest, digest_bytes, digest_words, tensor_digest
from moire_tap.dtypes import DTYPES, bits_of, widened
from moire_tap.summaries import TopK, summarise
from moire_tap.tokens import token_bytes

KILLED = """
import sys, time
sys.path.insert(0, sys.argv[1])
import numpy as np, moire_tap
writer = moire_tap.Writer(sys.argv[2], flush_seconds=0)
for s in range(10**6):
    sample = writer.sample(tokens=[1, 2, 3])
    writer.append(sample, {"a": np.full((3, 8), s, np.float32), "lm_head.out": np.arange(30, dtype=np.float32).reshape(3, 10)})
    if s == 20:
        print("ready", flush=True)
"""

FULL = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, moire_tap
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    with moire_tap.Writer(sys.argv[2], flush_seconds=0) as writer:
        for s in range(10**5):
            writer.append(writer.sample(tokens=[1, 2, 3]), {"a": np.full((3, 500), s, np.float32)})
except moire_tap.MoireError as error:
    print(error)
"""


def random_bits(rng, dtype, shape):
    return rng.integers(0, 1 << 8 * dtype.size, shape, dtype=np.uint64).astype(dtype.bits)


def top_k(logits, k):
    table = TopK.empty(len(logits), k)
    for r, row in enumerate(logits):
        table.put(r, row)
    return table


class Digests(unittest.TestCase):
    def test_vectors_of_the_format(self):
        text = (SOURCE / "core" / "store" / "FORMAT.md").read_text(encoding="utf-8")
        expected = [int(x, 16) for x in re.findall(r"\| (0x[0-9a-f]{16}) \|", text.split("### Test vectors")[1].split("## 2.")[0])]
        bits = lambda values, kind: bits_of(np.array(values, kind))[0]
        bf16 = np.array([0x3F80, 0x4000, 0x4040], np.uint16)
        pair, one = bits([1, -2], "<f4"), np.array([0x3F80], np.uint16)
        tensors = [tensor_digest("a.weight", DTYPES["fp32"], shape, pair) for shape in ([1, 2], [2, 1])]
        tensors.append(tensor_digest("b.bias", DTYPES["bf16"], [1], one))
        found = [digest_words([]), digest_words([0]), digest_words([1, 2, 3]), digest(bits([1, 2, 3], "<f4")), digest(bf16),
                 digest(np.array([0x8000, 0x7FC1, 0x7F80], np.uint16)), digest(bits([1], "<f8")), digest(bits([-1], "<i8")),
                 digest(bits([-1, 0, 1], "i1")), digest_bytes(b"moire"), *tensors, tensors[0] + tensors[2] & (1 << 64) - 1]
        self.assertEqual(found, expected)

    def test_long_rows_in_pieces(self):
        bits = random_bits(np.random.default_rng(1), DTYPES["bf16"], (3, 40_000))
        from moire_tap.digests import digest_rows
        for row, found in zip(bits, digest_rows(bits)):
            self.assertEqual(digest_words(row.tolist()), int(found))


class Summaries(unittest.TestCase):
    def test_classes_and_statistics(self):
        values = np.array([[1, -2, 3, np.nan], [np.inf, -np.inf, 0, 4], [np.nan] * 4], np.float32)
        made = summarise(*bits_of(values))
        self.assertEqual(made.counts.tolist(), [(3, 1, 0), (2, 0, 2), (0, 4, 0)])
        self.assertEqual(made.statistics[0].tolist()[:2], (-2.0, 3.0))
        self.assertAlmostEqual(float(made.statistics[0]["mean"]), 2 / 3, places=6)
        self.assertAlmostEqual(float(made.statistics[0]["l2"]), 14 ** 0.5, places=6)
        self.assertTrue(all(np.isnan(x) for x in made.statistics[2].tolist()))

    def test_top_k_by_hand(self):
        logits = np.array([[1, 3, 3, np.nan, -np.inf, 2]], np.float32)
        made = top_k(logits, 6)
        self.assertEqual(made.ids[0].tolist(), [1, 2, 5, 0, 4, 3])  # ties by id, NaN last
        total = np.log(np.exp([1.0, 3, 3, 2]).sum())
        self.assertAlmostEqual(made.log_sum_exp[0], total, places=12)
        self.assertAlmostEqual(made.remaining_mass[0], 0, places=12)
        small = top_k(logits, 2)
        self.assertAlmostEqual(small.remaining_mass[0], 1 - 2 * np.exp(3 - total), places=12)

    def test_top_k_against_a_full_sort(self):
        rng = np.random.default_rng(2)
        logits = np.round(rng.normal(size=(20, 1000)) * 3).astype(np.float32)  # many ties
        made = top_k(logits, 64)
        for row, ids in zip(logits, made.ids):
            self.assertEqual(ids.tolist(), np.lexsort((np.arange(1000), -row))[:64].tolist())

    def test_eight_bit_values(self):
        for name, bits, value in (("e4m3fn", 0x7E, 448), ("e4m3fn", 0x01, 2.0 ** -9), ("e5m2", 0x7B, 57344), ("e4m3fnuz", 0x7F, 240),
                                  ("e5m2fnuz", 0x7F, 57344), ("e5m2", 0xFC, -np.inf)):
            self.assertEqual(widened(np.array([bits], np.uint8), DTYPES[name])[0], value, name)


class Files(TapCase):
    def write(self, name="a.moire", level="full", rows=5, samples=3, **options):
        rng = np.random.default_rng(3)
        path = self.folder / name
        self.given = []
        with moire_tap.Writer(path, level=level, environment={"model.name": "made", "run.seed": 7, "numerics.tf32": False,
                                                              "run.share": 0.5}, **options) as writer:
            for s in range(samples):
                ids = rng.integers(0, 90, rows)
                sample = writer.sample(f"q{s}", tokens=ids, response_from=3, label="B", choices=["A", "B"], category="math")
                values = {"model.layers.0.mlp.out": rng.normal(size=(rows, 33)).astype(np.float16),
                          "model.layers.1.out": rng.normal(size=(rows, 7)),
                          "lm_head.out": rng.normal(size=(rows, 90)).astype(np.float32)}
                writer.append(sample, values)
                writer.end_sample(sample, "length", "B")
                self.given.append((ids, values))
        return path

    def test_a_capture_of_arrays(self):
        path = self.write()
        self.assertIn("15 rows of 3 taps", self.assert_sound(path))
        made = Capture(path)
        self.assertEqual(made.state, 1)
        self.assertEqual(made.samples, ["q0", "q1", "q2"])
        self.assertEqual(made.environment, {"model.name": "made", "run.seed": 7, "numerics.tf32": False, "run.share": 0.5})
        self.assertEqual(made.endings, {0: "length", 1: "length", 2: "length"})
        for name in made.names:
            self.assert_same_bits(made.values[name], np.concatenate([values[name] for _, values in self.given]))
        for s, (ids, values) in enumerate(self.given):
            self.assertEqual(made.ids(s), ids.tolist())
            self.assertEqual([bool(t["response"]) for t in made.tokens[s]], [False] * 3 + [True] * 2)
            logits = values["lm_head.out"].astype(np.float64)
            rows = made.rows[5 * s : 5 * s + 5]
            self.assertEqual(rows["score_id"].tolist(), [*ids[1:].tolist(), -1])
            for row, line, following in zip(rows[:-1], logits, ids[1:]):
                self.assertAlmostEqual(row["score_log_prob"], line[following] - np.log(np.exp(line).sum()), places=6)
                self.assertEqual(row["score_rank"], (line > line[following]).sum())
        self.assertTrue((made.statistics["max"][:, 0] == made.values["model.layers.0.mlp.out"].max(axis=1)).all())

    def test_export_gives_the_arrays_back(self):
        path = self.write()
        done = self.run_program(DIFF, "export", path, "--npy", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        arrays = {file.stem: np.load(file) for file in (self.folder / "out").rglob("*.npy")}
        for name in ("model.layers.0.mlp.out", "model.layers.1.out"):
            whole = np.concatenate([values[name] for _, values in self.given])
            self.assertTrue((arrays[name].astype(np.float64).reshape(whole.shape) == whole).all(), name)

    def test_levels(self):
        full = self.write("full.moire")
        for level in ("topk", "digest"):
            path = self.write(f"{level}.moire", level)
            self.assert_sound(path)
            self.assertEqual(self.compare(full, path)[0], 0)
            made = Capture(path)
            self.assertEqual(made.values, {})
            self.assertEqual(made.statistics is None, level == "digest")
            self.assertTrue((made.digests == Capture(full).digests).all())

    def test_differences_are_found(self):
        one, other = self.write("one.moire"), self.folder / "other.moire"
        with moire_tap.Writer(other) as writer:
            for s, (ids, values) in enumerate(self.given):
                sample = writer.sample(f"q{s}", tokens=ids, response_from=3, label="B", choices=["A", "B"], category="math")
                changed = {name: array.copy() for name, array in values.items()}
                if s == 1:
                    changed["model.layers.1.out"][2, 4] *= 1 + 1e-15
                writer.append(sample, changed)
                writer.end_sample(sample, "length", "B")
        status, report = self.compare(one, other)
        self.assertEqual(status, 1)
        first = report["first"]["bitwise"]
        self.assertEqual((first["sample"], first["position"], first["tap"], first["element"]), ("q1", 2, "model.layers.1.out", 4))

    def test_bf16_from_bits(self):
        taps = [moire_tap.Tap("a", 6, "bf16"), moire_tap.Tap("b", 4, "fp32", inputs=["a"], inputs_complete=True)]
        bits = np.arange(12, dtype=np.uint16).reshape(2, 6) + 0x3F80
        path = self.folder / "b.moire"
        with moire_tap.Writer(path, taps) as writer:
            writer.append(writer.sample(tokens=[5, 6]), {"a": bits, "b": np.zeros((2, 4), np.float32)})
        self.assert_sound(path)
        made = Capture(path)
        self.assert_same_bits(made.values["a"], (bits.astype(np.uint32) << 16).view(np.float32))
        self.assertEqual(made.inputs["b"], ["a"])
        try:
            import ml_dtypes
        except ImportError:
            return
        values = bits.view(ml_dtypes.bfloat16)
        self.assert_same_bits(bits_of(values)[0], bits)

    def test_every_element_type(self):
        rng = np.random.default_rng(4)
        taps = [moire_tap.Tap(f"t.{name}", 5, name) for name in DTYPES if name != "bool"]
        path = self.folder / "types.moire"
        with moire_tap.Writer(path, taps) as writer:
            values = {}
            for tap in taps:
                bits = random_bits(rng, DTYPES[tap.dtype], (4, 5))
                plain = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}.get(tap.dtype)
                if tap.dtype.startswith("int"):
                    plain = np.dtype(tap.dtype)
                values[tap.name] = bits.view(plain) if plain is not None else bits
            writer.append(writer.sample(tokens=[0] * 4), values)
        self.assert_sound(path)

    def test_routing_and_asked_ids(self):
        rng = np.random.default_rng(5)
        ids = np.array([[2, 0], [1, -1], [3, 2]])
        weights, logits = rng.random((3, 2)).astype(np.float32), rng.normal(size=(3, 4)).astype(np.float16)
        router = moire_tap.Router("model.layers.0.mlp.gate", 4, 2, logit_dtype="fp16", has_scores=True)
        path = self.folder / "r.moire"
        head = rng.normal(size=(3, 20)).astype(np.float32)
        with moire_tap.Writer(path, [], routers=[router], vocabulary=20, asked=2, top_k=4) as writer:
            sample = writer.sample(tokens=[1, 2, 3], asked=[7, 9])
            writer.append(sample, {}, logits=head, routing={router.module: (ids, weights, logits, logits.astype(np.float32))})
        self.assert_sound(path)
        made = Capture(path)
        self.assertTrue((made.routing[router.module]["ids"] == ids).all())
        self.assert_same_bits(made.routing[router.module]["weights"], weights)
        self.assert_same_bits(made.routing[router.module]["logits"], logits)
        self.assertTrue((made.top_k["asked_ids"] == [7, 9]).all())
        self.assert_same_bits(made.top_k["asked_values"], head[:, [7, 9]])

    def test_streaming_with_scores_that_come_later(self):
        rng = np.random.default_rng(6)
        logits = rng.normal(size=(9, 50)).astype(np.float32)
        path = self.folder / "s.moire"
        with moire_tap.Writer(path, flush_seconds=0) as writer:
            sample = writer.sample(tokens=[3, 4])
            writer.append(sample, {"lm_head.out": logits[:2]}, phase="prefill", await_next=True)
            for n in range(2, 9):
                writer.add_tokens(sample, [n])
                writer.append(sample, {"lm_head.out": logits[n]}, phase="decode", construction="steps", step=n - 1,
                              await_next=True)
                self.assertIn(f"{n} rows", self.assert_sound(f"{path}.part"))  # all but the one that waits
            writer.add_tokens(sample, [11])
        self.assert_sound(path)
        made = Capture(path)
        self.assertEqual(made.rows["score_id"].tolist(), [4, 2, 3, 4, 5, 6, 7, 8, 11])
        self.assertEqual(made.rows["position"].tolist(), list(range(9)))

    def test_many_chunks_and_a_long_index(self):
        path = self.folder / "long.moire"
        values = np.arange(3000, dtype=np.float32).reshape(1500, 2)
        with moire_tap.Writer(path, expected_rows=3, flush_bytes=1000) as writer:
            for begin in range(0, 1500, 10):
                writer.append(writer.sample(tokens=range(10)), {f"t{n}": values[begin : begin + 10] for n in range(4)})
        self.assert_sound(path)
        self.assert_same_bits(Capture(path).values["t3"], values)

    def test_text_of_tokens(self):
        path = self.folder / "t.moire"
        with moire_tap.Writer(path, tokenizer=[b"a", b"\xe2\x82", b"\xac!", b""]) as writer:
            sample = writer.sample(tokens=[0, 1])
            writer.add_tokens(sample, [2, 0])
            writer.append(sample, {"x": np.zeros((4, 1), np.float32)})
        self.assert_sound(path)
        made = Capture(path)
        self.assertEqual(made.vocabulary, [b"a", b"\xe2\x82", b"\xac!", b""])
        self.assertEqual([int(token["text_offset"]) for token in made.tokens[0]], [0, 1, 3, 5])

    def test_the_readme_s_example(self):
        text = (SOURCE / "capture" / "python" / "README.md").read_text(encoding="utf-8")
        code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.S) if 'Writer("mine.moire", environment' in block)
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "capture" / "python")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_sound(self.folder / "mine.moire")

    def test_tokenizers_of_both_kinds(self):
        try:
            from tokenizers import Tokenizer, decoders, models, pre_tokenizers
        except ImportError:
            self.skipTest("the tokenizers package is not installed")
        byte_level = Tokenizer(models.BPE({"\u0120hi": 0, "\u00e9": 1, "<end>": 2}, []))
        byte_level.pre_tokenizer, byte_level.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
        byte_level.add_special_tokens(["<end>"])
        self.assertEqual(token_bytes(byte_level), [b" hi", b"\xe9", b"<end>"])
        pieces = Tokenizer(models.BPE({"\u2581hi": 0, "<0xE2>": 1}, []))
        self.assertEqual(token_bytes(pieces), [b" hi", b"\xe2"])


class Interrupted(TapCase):
    def test_an_exception_leaves_an_incomplete_file(self):
        path = self.folder / "e.moire"
        with self.assertRaises(ZeroDivisionError), moire_tap.Writer(path) as writer:
            writer.append(writer.sample(tokens=[1, 2]), {"x": np.ones((2, 3), np.float32)})
            1 / 0
        self.assertFalse(path.exists())
        made = Capture(f"{path}.part", swmr=True)
        self.assertEqual((made.state, len(made.rows)), (0, 2))
        self.assertEqual(made.events, ["recording ended early: ZeroDivisionError: division by zero"])
        self.assert_sound(f"{path}.part")

    def test_kill_leaves_sound_rows(self):
        path = self.folder / "k.moire"
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(SOURCE / "capture" / "python"), str(path)],
                                   stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        with self.assertRaisesRegex(moire_tap.MoireError, "another process is recording"):
            moire_tap.Writer(path)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        self.assert_sound(f"{path}.part")
        done = self.run_program(DIFF, "info", f"{path}.part")
        self.assertIn("incomplete", done.stdout)
        made = Capture(f"{path}.part", swmr=True)
        self.assertGreaterEqual(len(made.rows), 60)
        self.assertTrue((made.values["a"][:, 0] == made.rows["sample"]).all())
        with moire_tap.Writer(path) as writer:
            writer.append(writer.sample(tokens=[1]), {"x": np.ones(2, np.float32)})
        self.assertTrue((self.folder / "k.moire.part.old").exists())
        self.assert_sound(path)


    def test_no_room(self):
        """A file that may not grow stands for a full disk: at its making, while it grows, at any other moment."""
        path = self.folder / "f.moire"
        for limit in (3000, 40_000, 300_000, 900_000, 2_000_000):
            with self.subTest(limit=limit):
                done = self.run_program(sys.executable, "-c", FULL, SOURCE / "capture" / "python", path, limit)
                self.assertRegex(done.stdout, "^cannot write .*f.moire.part: File too large; what was committed before stays in it\n$",
                                 done.stderr)
                self.assertFalse(path.exists())
                if limit >= 900_000:
                    self.assert_sound(f"{path}.part")
                    self.assertGreater(len(Capture(f"{path}.part", swmr=True).rows), 3)


class Refusals(TapCase):
    def refused(self, sentence, action):
        with self.assertRaisesRegex(moire_tap.MoireError, sentence) as caught:
            action()
        self.assertNotIn("\n", str(caught.exception))

    def test_bad_input_is_one_sentence(self):
        writer_of = lambda *args, **kwargs: moire_tap.Writer(self.folder / "x.moire", *args, **kwargs)
        tap = moire_tap.Tap
        self.refused("no folder", lambda: moire_tap.Writer(self.folder / "no" / "x.moire"))
        self.refused("is a folder", lambda: moire_tap.Writer(self.folder))
        self.refused("no level", lambda: writer_of(level="everything"))
        self.refused("slash", lambda: writer_of([tap("a/b", 1)]))
        self.refused("two taps are named a", lambda: writer_of([tap("a", 1), tap("a", 2)]))
        self.refused("width 0", lambda: writer_of([tap("a", 0)]))
        self.refused("no tap of this capture", lambda: writer_of([tap("a", 1, inputs=["b"])]))
        self.refused("element type", lambda: writer_of([tap("a", 1, "complex64")]))
        self.refused("kind", lambda: writer_of([tap("a", 1, kind="stuff")]))
        self.refused("chooses 3 of 2", lambda: writer_of([], routers=[moire_tap.Router("gate", 2, 3)]))
        self.refused("is no tokenizer", lambda: writer_of(tokenizer=3))

    def test_bad_rows_are_one_sentence(self):
        writer = moire_tap.Writer(self.folder / "y.moire", [moire_tap.Tap("a", 2), moire_tap.Tap("b", 1)])
        sample = writer.sample(tokens=[1, 2])
        a, b = np.zeros((2, 2), np.float32), np.zeros((2, 1), np.float32)
        self.refused("no values of b", lambda: writer.append(sample, {"a": a}))
        self.refused("no tap c", lambda: writer.append(sample, {"a": a, "b": b, "c": b}))
        self.refused("shape 2 x 1 where 2 x 2", lambda: writer.append(sample, {"a": b, "b": b}))
        self.refused("fp64 were given where fp32", lambda: writer.append(sample, {"a": a.astype(float), "b": b}))
        self.refused("no sample 5", lambda: writer.append(5, {"a": a, "b": b}))
        writer.append(sample, {"a": a, "b": b})
        writer.finish()
        self.refused("is finished", lambda: writer.append(sample, {"a": a, "b": b}))
        self.assert_sound(self.folder / "y.moire")
        self.assertEqual(len(Capture(self.folder / "y.moire").rows), 2)

    def test_bits_without_a_type(self):
        writer = moire_tap.Writer(self.folder / "z.moire")
        self.refused("bits of bf16 as uint16", lambda: writer.append(writer.sample(), {"a": np.zeros((1, 2), np.uint16)}))

    def test_a_read_only_folder(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        os.chmod(self.folder, 0o500)
        self.addCleanup(os.chmod, self.folder, 0o700)
        self.refused("cannot write", lambda: moire_tap.Writer(self.folder / "x.moire", []))


if __name__ == "__main__":
    unittest.main()
