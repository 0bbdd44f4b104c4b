#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""GGUF files written with gguf-py, read by us: values bit for bit those of gguf.dequantize, the hub's names, shapes and
row order, the plan, and the weight digest computed again from core/store/FORMAT.md.

usage: gguf_test.py PATH/capture_checkpoint_dump
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

DUMP = sys.argv.pop(1)
TYPES = [Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0,
         Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K]
DTYPES = {"fp32": (np.uint32, 3), "fp16": (np.uint16, 2), "bf16": (np.uint16, 1)}


def run(*arguments):
    done = subprocess.run([DUMP, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def loaded(path):
    """Name to array, as our program loads them; 16-bit values as bits."""
    with tempfile.TemporaryDirectory() as folder:
        entries = json.loads(run("tensors", path, folder))
        return {name: (dtype, np.fromfile(Path(folder) / str(i), DTYPES[dtype][0]).reshape(shape))
                for i, (name, dtype, shape) in enumerate(entries)}


def random_blocks(rng, shape, kind):
    """Bytes of a tensor of that type, of every pattern: infinite and NaN scales too."""
    block, size = gguf.GGML_QUANT_SIZES[kind]
    return rng.integers(0, 256, (*shape[:-1], shape[-1] // block * size), np.uint8)


def permuted(rows, heads):
    """llama.cpp's convert_hf_to_gguf.py, LlamaModel.permute, on the bytes of rows."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def llama_tensors(hidden, heads, kv, width, vocabulary, layers):
    head = hidden // heads
    yield "token_embd.weight", "model.embed_tokens.weight", (vocabulary, hidden)
    yield "output_norm.weight", "model.norm.weight", (hidden,)
    yield "output.weight", "lm_head.weight", (vocabulary, hidden)
    for i in range(layers):
        ours, theirs = f"model.layers.{i}.", f"blk.{i}."
        yield theirs + "attn_norm.weight", ours + "input_layernorm.weight", (hidden,)
        yield theirs + "ffn_norm.weight", ours + "post_attention_layernorm.weight", (hidden,)
        yield theirs + "attn_q.weight", ours + "self_attn.q_proj.weight", (hidden, hidden)
        yield theirs + "attn_k.weight", ours + "self_attn.k_proj.weight", (kv * head, hidden)
        yield theirs + "attn_v.weight", ours + "self_attn.v_proj.weight", (kv * head, hidden)
        yield theirs + "attn_output.weight", ours + "self_attn.o_proj.weight", (hidden, hidden)
        yield theirs + "ffn_gate.weight", ours + "mlp.gate_proj.weight", (width, hidden)
        yield theirs + "ffn_up.weight", ours + "mlp.up_proj.weight", (width, hidden)
        yield theirs + "ffn_down.weight", ours + "mlp.down_proj.weight", (hidden, width)


def writer_for(path, name, hidden, heads, kv, width, layers):
    writer = gguf.GGUFWriter(path, name)
    writer.add_block_count(layers)
    writer.add_context_length(512)
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(width)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500000.0)
    return writer


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def digest(bits):
    """D of core/store/FORMAT.md."""
    bits = np.asarray(bits).ravel().astype(np.uint64)
    places = np.arange(1, bits.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return int(np.sum(mix(bits + places), dtype=np.uint64))


def weight_digest(tensors):
    total = 0
    for name, (dtype, values) in tensors.items():
        words = [digest(np.frombuffer(name.encode(), np.uint8)), DTYPES[dtype][1], values.ndim, *values.shape,
                 digest(values)]
        total += digest(np.array(words, np.uint64))
    return total % 2**64


class GgufTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "model.gguf"
        self.rng = np.random.default_rng(7)

    def tearDown(self):
        self.folder.cleanup()

    def same(self, got, expected_bits):
        self.assertEqual(got.shape, expected_bits.shape)
        differing = int(np.sum(got != expected_bits))
        self.assertEqual(differing, 0)

    def test_every_type_as_gguf_py_dequantises_it(self):
        for kind in TYPES:
            with self.subTest(kind.name):
                large = gguf.GGML_QUANT_SIZES[kind][0] == 256  # rows are whole blocks
                sizes = dict(hidden=256 if large else 128, heads=4, kv=2, width=512 if large else 160, layers=1)
                writer = writer_for(self.path, "llama", **sizes)
                expected = {}
                for theirs, ours, shape in llama_tensors(vocabulary=96, **sizes):
                    raw = random_blocks(self.rng, shape, kind)
                    stored = raw
                    if "attn_q." in theirs or "attn_k." in theirs:
                        stored = permuted(raw, 4 if "attn_q." in theirs else 2)
                    writer.add_tensor(theirs, np.ascontiguousarray(stored), raw_dtype=kind)
                    if kind in (Type.F16, Type.BF16):  # kept as they are
                        expected[ours] = raw.view(np.uint16)
                    else:
                        with np.errstate(all="ignore"):
                            expected[ours] = gguf.dequantize(raw, kind).view(np.uint32)
                finish(writer)
                got = loaded(self.path)
                self.assertEqual(sorted(got), sorted(expected))
                for name, bits in expected.items():
                    self.same(got[name][1], bits.reshape(got[name][1].shape))
                self.assertEqual(int(run("digest", self.path)), weight_digest(got))
                own = {Type.F16: "fp16", Type.BF16: "bf16"}.get(kind, "fp32")
                self.assertEqual(json.loads(run("plan", self.path))["dtype"], own)

    def test_sentence_pieces(self):
        """The pieces of tests/capture/tokenizer/data/sentencepiece in a GGUF file, against that library's ids."""
        folder = Path(__file__).resolve().parent.parent / "tokenizer" / "data"
        expected = json.loads((folder / "expected.json").read_text())
        sizes = dict(hidden=64, heads=4, kv=2, width=32, layers=1)
        pieces = expected["pieces"]
        writer = writer_for(self.path, "llama", **sizes)
        writer.add_tokenizer_model("llama")
        writer.add_token_list([p[0] for p in pieces])
        writer.add_token_scores([p[1] for p in pieces])
        writer.add_token_types([p[2] for p in pieces])
        writer.add_bos_token_id(1)
        writer.add_unk_token_id(0)
        for theirs, _, shape in llama_tensors(vocabulary=len(pieces), **sizes):
            writer.add_tensor(theirs, np.zeros(shape, np.float32))
        finish(writer)
        checked = 0
        for text, ids in zip(expected["strings"], expected["ids"]["sentencepiece"]):
            # Control tokens are text to the library alone; an argument has no NUL; runs of one length are enough.
            if "<s>" in text or "</s>" in text or "\0" in text or len(text) > 400:
                continue
            self.assertEqual(json.loads(run("ids", self.path, text)), ids, text)
            checked += 1
        self.assertGreater(checked, 300)
        self.assertEqual(json.loads(run("ids", self.path, "<s>a</s>"))[:2], [1, 1])

    def test_biases_are_put_back_too(self):
        sizes = dict(hidden=64, heads=4, kv=2, width=32, layers=1)
        writer = writer_for(self.path, "llama", **sizes)
        for theirs, _, shape in llama_tensors(vocabulary=8, **sizes):
            writer.add_tensor(theirs, np.zeros(shape, np.float32))
        biases = {}
        for theirs, ours, width, heads in [("attn_q", "self_attn.q_proj", 64, 4), ("attn_k", "self_attn.k_proj", 32, 2),
                                           ("attn_v", "self_attn.v_proj", 32, 0),
                                           ("attn_output", "self_attn.o_proj", 64, 0),
                                           ("ffn_gate", "mlp.gate_proj", 32, 0), ("ffn_up", "mlp.up_proj", 32, 0),
                                           ("ffn_down", "mlp.down_proj", 64, 0)]:
            values = self.rng.standard_normal(width).astype(np.float32)
            biases[f"model.layers.0.{ours}.bias"] = values
            writer.add_tensor(f"blk.0.{theirs}.bias", permuted(values, heads) if heads else values)
        finish(writer)
        got = loaded(self.path)
        for name, values in biases.items():
            self.same(got[name][1], values.view(np.uint32))
        plan = json.loads(run("plan", self.path))
        self.assertTrue(plan["qkv_bias"] and plan["out_bias"] and plan["mlp_bias"])

    def test_olmoe_experts_one_by_one(self):
        hidden, heads, kv, width, experts = 64, 4, 2, 32, 5
        sizes = dict(hidden=hidden, heads=heads, kv=kv, width=width, layers=2)
        writer = writer_for(self.path, "olmoe", **sizes)
        writer.add_expert_count(experts)
        writer.add_expert_used_count(2)
        expected = {}
        for theirs, ours, shape in llama_tensors(vocabulary=96, **sizes):
            if "ffn_gate" in theirs or "ffn_up" in theirs or "ffn_down" in theirs:
                continue
            values = self.rng.standard_normal(shape).astype(np.float32)
            writer.add_tensor(theirs, values)  # OLMoE's rows are not permuted
            expected[ours] = values
        for i in range(2):
            for theirs, ours, shape in [("attn_q_norm", "self_attn.q_norm", (hidden,)),
                                        ("attn_k_norm", "self_attn.k_norm", (hidden // 2,)),
                                        ("ffn_gate_inp", "mlp.gate", (experts, hidden))]:
                values = self.rng.standard_normal(shape).astype(np.float32)
                writer.add_tensor(f"blk.{i}.{theirs}.weight", values)
                expected[f"model.layers.{i}.{ours}.weight"] = values
            for name, shape in [("gate", (width, hidden)), ("up", (width, hidden)), ("down", (hidden, width))]:
                raw = random_blocks(self.rng, (experts, *shape), Type.Q4_1)
                writer.add_tensor(f"blk.{i}.ffn_{name}_exps.weight", raw, raw_dtype=Type.Q4_1)
                with np.errstate(all="ignore"):
                    dequantised = gguf.dequantize(raw, Type.Q4_1)
                for e, values in enumerate(dequantised):
                    expected[f"model.layers.{i}.mlp.experts.{e}.{name}_proj.weight"] = values
        finish(writer)
        got = loaded(self.path)
        self.assertEqual(sorted(got), sorted(expected))
        for name, values in expected.items():
            self.same(got[name][1], values.view(np.uint32))
        plan = json.loads(run("plan", self.path))
        self.assertEqual(plan["architecture"], "OlmoeForCausalLM")
        self.assertEqual(plan["moe"], dict(experts=experts, chosen=2, width=width, shared=0, normalise=False))

    def write_rope(self, factors):
        sizes = dict(hidden=256, heads=2, kv=2, width=32, layers=1)
        writer = writer_for(self.path, "llama", **sizes)
        for theirs, _, shape in llama_tensors(vocabulary=8, **sizes):
            if theirs != "output.weight":
                writer.add_tensor(theirs, np.zeros(shape, np.float32))
        writer.add_tensor("rope_freqs.weight", factors)
        finish(writer)

    @staticmethod
    def llama3_factors(factor, context, low=1.0, high=4.0, base=500000.0, dim=128):
        """llama.cpp's convert_hf_to_gguf.py, LlamaModel.generate_extra_tensors."""
        freqs = (1.0 / (np.float32(base) ** (np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim)))).astype(np.float32)
        factors = []
        for freq in freqs:
            wave = np.float32(2 * np.pi) / freq
            if wave < context / high:
                factors.append(1)
            elif wave > context / low:
                factors.append(factor)
            else:
                smooth = (context / wave - low) / (high - low)
                factors.append(1 / ((1 - smooth) / factor + smooth))
        return np.array(factors, np.float32)

    def test_llama3_scaling_is_recognised(self):
        for factor, context in [(8.0, 8192), (32.0, 8192), (8.0, 64)]:  # 64 = 512 / 8
            with self.subTest(factor=factor, context=context):
                self.write_rope(self.llama3_factors(factor, context))
                plan = json.loads(run("plan", self.path))
                self.assertEqual(plan["llama3"], [factor, 1.0, 4.0, context])
                self.assertTrue(plan["tied"])
                self.assertNotIn("rope_freqs.weight", [name for name, _, _ in json.loads(run("list", self.path))])

    def test_other_scaling_is_refused(self):
        for factors in [self.llama3_factors(8.0, 5000), np.linspace(1, 9, 64, dtype=np.float32),
                        np.full(64, np.nan, np.float32), np.zeros(64, np.float32)]:
            self.write_rope(factors)
            with self.assertRaisesRegex(RuntimeError, "rope_freqs.weight"):
                run("plan", self.path)
        self.write_rope(np.ones(63, np.float32))
        with self.assertRaisesRegex(RuntimeError, "rope_freqs.weight"):
            run("plan", self.path)

    def write_tokenizer(self, **changes):
        sizes = dict(hidden=32, heads=2, kv=2, width=32, layers=1)
        writer = writer_for(self.path, "llama", **sizes)
        for theirs, _, shape in llama_tensors(vocabulary=8, **sizes):
            writer.add_tensor(theirs, np.zeros(shape, np.float32))
        say = dict(model="gpt2", pre="smollm", tokens=["<s>", "</s>", "a", "b", "ab", "Ġ", "<keep this>", "unused"],
                   merges=["a b"], token_type=[3, 3, 1, 1, 1, 1, 4, 5], bos_token_id=0, eos_token_id=1)
        say.update(changes)
        for key, value in say.items():
            if value is not None:
                writer.add_key_value(f"tokenizer.ggml.{key}", value, self.kind_of(value),
                                     self.kind_of(value[0]) if isinstance(value, list) else None)
        finish(writer)

    @staticmethod
    def kind_of(value):
        kinds = {bool: "BOOL", int: "INT32", str: "STRING", list: "ARRAY"}
        return gguf.GGUFValueType[kinds[type(value)]]

    def ids(self, text):
        return json.loads(run("ids", self.path, text))

    def test_tokenizer(self):
        self.write_tokenizer()
        self.assertEqual(self.ids("ab a<s>b<keep this>"), [4, 5, 2, 0, 3, 6])
        self.write_tokenizer(add_bos_token=True, add_eos_token=True)
        self.assertEqual(self.ids("ab"), [0, 4, 1])
        self.write_tokenizer(pre="llama-bpe")  # begins with bos unless told otherwise
        self.assertEqual(self.ids("ab"), [0, 4])
        self.write_tokenizer(pre="llama-bpe", add_bos_token=False)
        self.assertEqual(self.ids("ab"), [4])

    def test_bad_tokenizers(self):
        for changes, words in [(dict(model="bert"), "byte-level BPE"), (dict(model="llama"), "scores"), (dict(pre="martian"), "martian"),
                               (dict(tokens=None), "tokenizer.ggml.tokens"), (dict(merges=None), "tokenizer.ggml.merges"),
                               (dict(tokens=[1, 2]), "tokens is not a list of strings"),
                               (dict(token_type=[1]), "token_type"), (dict(merges=["a z"]), "merge"),
                               (dict(add_bos_token=True, bos_token_id=8), "bos_token_id"),
                               (dict(add_bos_token=1), "add_bos_token"), (dict(pre=3), "pre")]:
            with self.subTest(**changes):
                self.write_tokenizer(**changes)
                with self.assertRaisesRegex(RuntimeError, words):
                    self.ids("ab")

    def test_missing_keys_and_wrong_types_are_named(self):
        sizes = dict(hidden=32, heads=2, kv=2, width=32, layers=1)
        keys = dict(block_count=1, context_length=64, embedding_length=32, feed_forward_length=32,
                    **{"attention.head_count": 2, "attention.layer_norm_rms_epsilon": 1e-5})
        for broken in keys:
            for value in (None, "text", -1, True, 1e300):
                with self.subTest(key=broken, value=value):
                    writer = gguf.GGUFWriter(self.path, "llama")
                    for key, sound in keys.items():
                        value_now = value if key == broken else sound
                        kind = {int: "INT32", float: "FLOAT64", str: "STRING", bool: "BOOL"}.get(type(value_now))
                        if value_now is not None:
                            writer.add_key_value("llama." + key, value_now, gguf.GGUFValueType[kind])
                    for theirs, _, shape in llama_tensors(vocabulary=8, **sizes):
                        writer.add_tensor(theirs, np.zeros(shape, np.float32))
                    finish(writer)
                    if broken.endswith("epsilon") and value == 1e300:
                        run("plan", self.path)  # odd, but a number above 0
                        continue
                    with self.assertRaisesRegex(RuntimeError, "llama." + broken):
                        run("plan", self.path)


if __name__ == "__main__":
    unittest.main()
