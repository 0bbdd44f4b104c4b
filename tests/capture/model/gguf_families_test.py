#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""One model of each family, once as a Hugging Face folder and once as a GGUF file: the same plan, the same tensors, the
same weight digest. Tensor names are gguf-py's own table; row orders, shapes and keys are those of llama.cpp's converter
(conversion/*.py, read in November 2026).

usage: gguf_families_test.py PATH/capture_checkpoint_dump
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import gguf
import numpy as np

DUMP = sys.argv.pop(1)
HIDDEN, HEADS, KV, HEAD, WIDTH, VOCABULARY, LAYERS, CONTEXT = 48, 4, 2, 12, 40, 96, 2, 64
EXPERTS, CHOSEN, EXPERT_WIDTH, SHARED_WIDTH = 5, 2, 20, 28
ARCH = gguf.MODEL_ARCH


def run(*arguments):
    done = subprocess.run([DUMP, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, values in tensors.items():
        header[name] = dict(dtype="F32", shape=values.shape, data_offsets=[offset, offset + values.nbytes])
        offset += values.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for values in tensors.values():
            out.write(values.tobytes())


def permuted(rows, heads):
    """LlamaModel.permute of the converter."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


class Family:
    """The tensors and both descriptions of a model whose parts the arguments name."""

    def __init__(self, architecture, arch, *, model_type, bias=False, out_bias=False, mlp_bias=False, gated=True, norms="rms",
                 after=False, qk_norm=None, experts=None, shared=False, permutes=False, head=HEAD, config=(), keys=()):
        self.architecture, self.arch, self.model_type = architecture, arch, model_type
        self.bias, self.out_bias, self.mlp_bias, self.gated = bias, out_bias, mlp_bias, gated
        self.norms, self.after, self.qk_norm, self.experts, self.shared = norms, after, qk_norm, experts, shared
        self.permutes, self.head, self.more_config, self.more_keys = permutes, head, dict(config), dict(keys)

    def tensors(self, rng):
        found = {}

        def add(name, *shape):
            found[name] = rng.standard_normal(shape).astype(np.float32)

        def linear(name, out, into, bias=False):
            add(name + ".weight", out, into)
            if bias:
                add(name + ".bias", out)

        def norm(name, width):
            if self.norms != "plain":
                add(name + ".weight", width)
            if self.norms == "layer":
                add(name + ".bias", width)

        add("model.embed_tokens.weight", VOCABULARY, HIDDEN)
        for i in range(LAYERS):
            layer = f"model.layers.{i}."
            if not self.after:
                norm(layer + "input_layernorm", HIDDEN)
            norm(layer + "post_attention_layernorm", HIDDEN)
            if self.after:
                norm(layer + "post_feedforward_layernorm", HIDDEN)
            for part, heads in (("q", HEADS), ("k", KV), ("v", KV)):
                linear(layer + f"self_attn.{part}_proj", heads * self.head, HIDDEN, self.bias)
                if self.qk_norm and part != "v":
                    add(layer + f"self_attn.{part}_norm.weight", self.head if self.qk_norm == "head" else heads * self.head)
            linear(layer + "self_attn.o_proj", HIDDEN, HEADS * self.head, self.out_bias)
            self.add_mlp(layer, linear)
        norm("model.norm", HIDDEN)
        add("lm_head.weight", VOCABULARY, HIDDEN)
        return found

    def add_mlp(self, layer, linear):
        if not self.experts:
            if self.gated:
                linear(layer + "mlp.gate_proj", WIDTH, HIDDEN, self.mlp_bias)
            linear(layer + "mlp.up_proj", WIDTH, HIDDEN, self.mlp_bias)
            linear(layer + "mlp.down_proj", HIDDEN, WIDTH, self.mlp_bias)
            return
        block, gate, down, up = self.experts
        linear(layer + block + ".gate", EXPERTS, HIDDEN)
        for e in range(EXPERTS):
            linear(layer + f"{block}.experts.{e}.{gate}", EXPERT_WIDTH, HIDDEN)
            linear(layer + f"{block}.experts.{e}.{down}", HIDDEN, EXPERT_WIDTH)
            linear(layer + f"{block}.experts.{e}.{up}", EXPERT_WIDTH, HIDDEN)
        if self.shared:
            linear(layer + block + ".shared_expert.gate_proj", SHARED_WIDTH, HIDDEN)
            linear(layer + block + ".shared_expert.up_proj", SHARED_WIDTH, HIDDEN)
            linear(layer + block + ".shared_expert.down_proj", HIDDEN, SHARED_WIDTH)
            linear(layer + block + ".shared_expert_gate", 1, HIDDEN)

    def config(self):
        return dict(architectures=[self.architecture], model_type=self.model_type, hidden_size=HIDDEN,
                    num_attention_heads=HEADS, num_key_value_heads=KV, intermediate_size=WIDTH, vocab_size=VOCABULARY,
                    num_hidden_layers=LAYERS, max_position_embeddings=CONTEXT, rope_theta=5e5, tie_word_embeddings=False,
                    torch_dtype="float32") | self.more_config

    def describe(self, writer):
        writer.add_block_count(LAYERS)
        writer.add_context_length(CONTEXT)
        writer.add_embedding_length(HIDDEN)
        writer.add_head_count(HEADS)
        writer.add_head_count_kv(KV)
        writer.add_rope_freq_base(5e5)
        if self.norms == "rms":
            writer.add_layer_norm_rms_eps(1e-5)
        else:
            writer.add_layer_norm_eps(1e-5)
        if self.head != HIDDEN // HEADS:
            writer.add_key_length(self.head)
            writer.add_value_length(self.head)
        if self.experts:
            writer.add_expert_count(EXPERTS)
            writer.add_expert_used_count(CHOSEN)
        for key, value in (dict(feed_forward_length=WIDTH) | self.more_keys).items():
            getattr(writer, "add_" + key)(value)

    def stored(self, tensors):
        """The converter's tensors: experts of a layer stacked, rows of q and k permuted, extents of 1 dropped."""
        experts = {}
        for name, values in tensors.items():
            if ".experts." in name:
                block, rest = name.split(".experts.")
                experts.setdefault(f"{block}.experts.{rest.split('.')[1]}.weight", []).append(values)
            elif self.permutes and ("q_proj" in name or "k_proj" in name):
                yield name, permuted(values, HEADS if "q_proj" in name else KV)
            elif name.endswith("shared_expert_gate.weight"):
                yield name, values[0]
            else:
                yield name, values
        for name, values in experts.items():
            yield name, np.stack(values)


class Gpt2(Family):
    def __init__(self):
        super().__init__("GPT2LMHeadModel", ARCH.GPT2, model_type="gpt2")

    def tensors(self, rng):
        shapes = {"wte.weight": (VOCABULARY, HIDDEN), "wpe.weight": (CONTEXT, HIDDEN), "ln_f.weight": (HIDDEN,),
                  "ln_f.bias": (HIDDEN,)}
        for i in range(LAYERS):
            for name, shape in [("ln_1", (HIDDEN,)), ("attn.c_attn", (HIDDEN, 3 * HIDDEN)), ("attn.c_proj", (HIDDEN, HIDDEN)),
                                ("ln_2", (HIDDEN,)), ("mlp.c_fc", (HIDDEN, 4 * HIDDEN)), ("mlp.c_proj", (4 * HIDDEN, HIDDEN))]:
                shapes[f"h.{i}.{name}.weight"] = shape
                shapes[f"h.{i}.{name}.bias"] = shape[-1:]
        return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}

    def config(self):
        return dict(architectures=[self.architecture], model_type="gpt2", n_embd=HIDDEN, n_head=HEADS, n_layer=LAYERS,
                    n_positions=CONTEXT, n_ctx=CONTEXT, vocab_size=VOCABULARY, layer_norm_epsilon=1e-5,
                    torch_dtype="float32")

    def describe(self, writer):
        writer.add_block_count(LAYERS)
        writer.add_context_length(CONTEXT)
        writer.add_embedding_length(HIDDEN)
        writer.add_feed_forward_length(4 * HIDDEN)
        writer.add_head_count(HEADS)
        writer.add_layer_norm_eps(1e-5)

    def stored(self, tensors):
        for name, values in tensors.items():
            linear = name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight"))
            yield "transformer." + name, values.T if linear else values


LLAMA_MLP = ("mlp", "gate_proj", "down_proj", "up_proj")
FAMILIES = [
    Family("LlamaForCausalLM", ARCH.LLAMA, model_type="llama", permutes=True, config=dict(rms_norm_eps=1e-5)),
    Family("Qwen2ForCausalLM", ARCH.QWEN2, model_type="qwen2", bias=True,
           config=dict(rms_norm_eps=1e-5, use_sliding_window=False, sliding_window=8, max_window_layers=1)),
    Family("Qwen3ForCausalLM", ARCH.QWEN3, model_type="qwen3", qk_norm="head", head=20,
           config=dict(rms_norm_eps=1e-5, head_dim=20)),
    Family("OlmoForCausalLM", ARCH.OLMO, model_type="olmo", norms="plain", permutes=True, config=dict(clip_qkv=6.5),
           keys=dict(clamp_kqv=6.5)),
    Family("Olmo2ForCausalLM", ARCH.OLMO2, model_type="olmo2", after=True, qk_norm="width", config=dict(rms_norm_eps=1e-5)),
    Family("OlmoeForCausalLM", ARCH.OLMOE, model_type="olmoe", qk_norm="width", experts=LLAMA_MLP,
           config=dict(rms_norm_eps=1e-5, num_experts=EXPERTS, num_experts_per_tok=CHOSEN, intermediate_size=EXPERT_WIDTH),
           keys=dict(feed_forward_length=EXPERT_WIDTH)),
    Family("Qwen2MoeForCausalLM", ARCH.QWEN2MOE, model_type="qwen2_moe", bias=True, experts=LLAMA_MLP, shared=True,
           config=dict(rms_norm_eps=1e-5, num_experts=EXPERTS, num_experts_per_tok=CHOSEN, norm_topk_prob=False,
                       moe_intermediate_size=EXPERT_WIDTH, shared_expert_intermediate_size=SHARED_WIDTH),
           keys=dict(expert_feed_forward_length=EXPERT_WIDTH, expert_shared_feed_forward_length=SHARED_WIDTH)),
    Family("Qwen3MoeForCausalLM", ARCH.QWEN3MOE, model_type="qwen3_moe", qk_norm="head", experts=LLAMA_MLP,
           config=dict(rms_norm_eps=1e-5, num_experts=EXPERTS, num_experts_per_tok=CHOSEN, norm_topk_prob=True,
                       moe_intermediate_size=EXPERT_WIDTH), keys=dict(expert_feed_forward_length=EXPERT_WIDTH)),
    Family("MixtralForCausalLM", ARCH.LLAMA, model_type="mixtral", permutes=True,
           experts=("block_sparse_moe", "w1", "w2", "w3"),
           config=dict(rms_norm_eps=1e-5, num_local_experts=EXPERTS, num_experts_per_tok=CHOSEN, sliding_window=None,
                       intermediate_size=EXPERT_WIDTH), keys=dict(feed_forward_length=EXPERT_WIDTH)),
    Gpt2(),
    Family("Jais2ForCausalLM", ARCH.JAIS2, model_type="jais2", bias=True, out_bias=True, mlp_bias=True, gated=False,
           norms="layer", config=dict(layer_norm_eps=1e-5), keys=dict(rope_dimension_count=HEAD)),
]


class GgufFamiliesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "model.gguf"
        self.hub = Path(self.folder.name) / "hub"
        self.hub.mkdir()
        self.rng = np.random.default_rng(11)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, family, more=None, apart=False):
        """Both forms; `more` has the last word over the GGUF file. `apart`: a tensor an expert."""
        tensors = family.tensors(self.rng)
        (self.hub / "config.json").write_text(json.dumps(family.config()))
        write_safetensors(self.hub / "model.safetensors", tensors)
        names = gguf.get_tensor_name_map(family.arch, LAYERS)
        writer = gguf.GGUFWriter(self.path, gguf.MODEL_ARCH_NAMES[family.arch])
        family.describe(writer)
        for name, values in family.stored(tensors):
            stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
            self.assertIsNotNone(stored, name)
            parts = {stored: values}
            if apart and "_exps." in stored:
                parts = {stored.replace("_exps", f".{e}"): values[e] for e in range(EXPERTS)}
            for part, rows in parts.items():
                writer.add_tensor(part, np.ascontiguousarray(rows))
        if more:
            more(writer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    def plans(self):
        plans = [json.loads(run("plan", path)) for path in (self.hub, self.path)]
        for plan in plans:
            for own in ("name", "end_tokens"):
                del plan[own]
        return plans

    def test_file_and_folder_are_one_model(self):
        for family in FAMILIES:
            with self.subTest(family.architecture):
                self.write(family)
                ours, theirs = self.plans()
                for key in ("norm_eps", "clip"):  # fp32 in a GGUF file
                    if key in theirs:
                        self.assertAlmostEqual(ours.pop(key), theirs.pop(key), places=9)
                self.assertEqual(ours, theirs)
                self.assertEqual(json.loads(run("list", self.hub)), json.loads(run("list", self.path)))
                self.assertEqual(run("digest", self.hub), run("digest", self.path))

    def test_a_tensor_an_expert(self):
        """Mixtral as llama.cpp stored it before March 2024: blk.N.ffn_gate.E.weight."""
        family = next(f for f in FAMILIES if f.architecture == "MixtralForCausalLM")
        self.write(family, apart=True)
        self.assertIn(b"blk.1.ffn_gate.4.weight", self.path.read_bytes())
        self.assertNotIn(b"_exps", self.path.read_bytes())
        self.assertEqual(json.loads(run("list", self.hub)), json.loads(run("list", self.path)))
        self.assertEqual(run("digest", self.hub), run("digest", self.path))
        for name, words in (("blk.1.ffn_gate.5.weight", "experts.5"), ("blk.0.ffn_gate.x.weight", "ffn_gate.x"),
                            ("blk.0.ffn_up.0.bias", "ffn_up.0.bias"), ("blk.0.attn_q.0.weight", "attn_q.0")):
            self.write(family, lambda w: w.add_tensor(name, np.zeros((EXPERT_WIDTH, HIDDEN), np.float32)), apart=True)
            with self.assertRaisesRegex(RuntimeError, words):
                run("list", self.path)
        self.write(family, lambda w: w.add_tensor("blk.0.ffn_gate_exps.weight", np.zeros((EXPERTS, EXPERT_WIDTH, HIDDEN), np.float32)),
                   apart=True)
        with self.assertRaisesRegex(RuntimeError, "twice"):
            run("list", self.path)
        self.write(FAMILIES[0], lambda w: w.add_tensor("blk.0.ffn_gate.0.weight", np.zeros((WIDTH, HIDDEN), np.float32)))
        with self.assertRaisesRegex(RuntimeError, "experts.0"):
            run("list", self.path)

    def test_scaled_rotation(self):
        for kind, scaling in [("linear", dict(factor=2.0)), ("yarn", dict(factor=4.0, original_max_position_embeddings=CONTEXT))]:
            family = Family("Qwen2ForCausalLM", ARCH.QWEN2, model_type="qwen2", bias=True,
                            config=dict(rms_norm_eps=1e-5, rope_scaling=dict(rope_type=kind, **scaling)))

            def scaled(writer):
                writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
                writer.add_rope_scaling_factor(scaling["factor"])
                if kind == "yarn":
                    writer.add_rope_scaling_orig_ctx_len(CONTEXT)

            self.write(family, scaled)
            ours, theirs = self.plans()
            self.assertEqual(ours["scaled"], theirs["scaled"])
            self.assertEqual(ours["context"], theirs["context"])

    def test_what_the_plan_cannot_say_is_refused(self):
        for more, words in [(lambda w: w.add_sliding_window(8), "window"), (lambda w: w.add_expert_count(4), "experts"),
                            (lambda w: w.add_tensor("blk.0.attn_sinks.weight", np.zeros(4, np.float32)), "attn_sinks")]:
            self.write(FAMILIES[1], more)
            with self.assertRaisesRegex(RuntimeError, words):
                run("list", self.path)


if __name__ == "__main__":
    unittest.main()
