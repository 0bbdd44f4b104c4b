# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""A Llama of two layers and what mixed precision policies make of it, computed by hand: NumPy in double, one rounding wherever
capture/engine/POLICIES.md says one. Nothing of the engine is used.

    make_expected.py FOLDER    writes FOLDER/{config.json,model.safetensors}
    make_expected.py           writes expected.json beside this script
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np

HIDDEN, HEADS, KV_HEADS, HEAD_DIM, INNER, VOCABULARY, LAYERS, EPS, THETA = 8, 2, 1, 4, 12, 16, 2, 1e-5, 100.0
IDS = [3, 14, 9]
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "num_attention_heads": HEADS,
          "num_key_value_heads": KV_HEADS, "head_dim": HEAD_DIM, "intermediate_size": INNER, "vocab_size": VOCABULARY,
          "num_hidden_layers": LAYERS, "rms_norm_eps": EPS, "rope_theta": THETA, "max_position_embeddings": 64, "hidden_act": "silu",
          "tie_word_embeddings": False, "torch_dtype": "bfloat16"}


def rounded(x, dtype):
    """To nearest, ties to even; doubles in, doubles out. (Double to fp32 to bf16 rounds twice: tie cases of 2^-29 are not met here.)"""
    x = np.asarray(x, dtype=np.float64)
    if dtype == "fp16":
        return x.astype(np.float16).astype(np.float64)
    single = x.astype(np.float32)
    if dtype == "fp32":
        return single.astype(np.float64)
    bits = single.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def wider(a, b):
    return a if a == b else "fp32"


def shapes():
    yield "model.embed_tokens.weight", (VOCABULARY, HIDDEN)
    for layer in range(LAYERS):
        path = f"model.layers.{layer}."
        yield path + "input_layernorm.weight", (HIDDEN,)
        yield path + "self_attn.q_proj.weight", (HEADS * HEAD_DIM, HIDDEN)
        yield path + "self_attn.k_proj.weight", (KV_HEADS * HEAD_DIM, HIDDEN)
        yield path + "self_attn.v_proj.weight", (KV_HEADS * HEAD_DIM, HIDDEN)
        yield path + "self_attn.o_proj.weight", (HIDDEN, HEADS * HEAD_DIM)
        yield path + "post_attention_layernorm.weight", (HIDDEN,)
        yield path + "mlp.gate_proj.weight", (INNER, HIDDEN)
        yield path + "mlp.up_proj.weight", (INNER, HIDDEN)
        yield path + "mlp.down_proj.weight", (HIDDEN, INNER)
    yield "model.norm.weight", (HIDDEN,)
    yield "lm_head.weight", (VOCABULARY, HIDDEN)


def make_weights():
    """fp32 values that are no bf16 values, from a linear congruential generator."""
    state, weights = 20, {}
    for name, shape in shapes():
        values = []
        for _ in range(int(np.prod(shape))):
            state = (6364136223846793005 * state + 1442695040888963407) % 2**64
            values.append((state >> 40) / 2**24 - 0.5)
        values = np.array(values).reshape(shape)
        weights[name] = rounded(values + 1 if "norm" in name else values, "fp32")
    return weights


def write_model(folder, dtype):
    """`dtype`: of the stored weights, bf16 or fp32."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {"bf16": ("bfloat16", "BF16"), "fp32": ("float32", "F32")}[dtype]
    (folder / "config.json").write_text(json.dumps({**CONFIG, "torch_dtype": names[0]}))
    header, data = {}, b""
    for name, values in make_weights().items():
        single = rounded(values, dtype).astype(np.float32)
        raw = single.tobytes() if dtype == "fp32" else (single.view(np.uint32) >> 16).astype(np.uint16).tobytes()
        header[name] = {"dtype": names[1], "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


class HandModel:
    """`precision(module)`: the dtypes of its weights and of what it computes."""

    def __init__(self, precision):
        self.precision, self.taps, self.dtypes = precision, {}, {}
        self.stored = {name: rounded(values, "bf16") for name, values in make_weights().items()}

    def compute(self, module):
        return self.precision(module)[1]

    def weight(self, module):
        weights, compute = self.precision(module)
        return rounded(rounded(self.stored[module + ".weight"], weights), compute)

    def tap(self, name, values, dtype):
        self.taps[name], self.dtypes[name] = values.reshape(len(IDS), -1), dtype
        return values

    def linear(self, module, x):
        dtype = self.compute(module)
        return self.tap(module + ".out", rounded(rounded(x, dtype) @ self.weight(module).T, dtype), dtype)

    def norm(self, module, x):
        dtype = self.compute(module)
        x = rounded(x, dtype)
        scaled = rounded(x / np.sqrt((x * x).mean(-1, keepdims=True) + EPS), dtype)
        return self.tap(module + ".out", rounded(scaled * self.weight(module), dtype), dtype)

    def rotate(self, x, dtype, cosines, sines):
        """rows × heads × head_dim."""
        half = HEAD_DIM // 2
        turned = np.concatenate([-x[..., half:], x[..., :half]], -1)
        return rounded(rounded(x * cosines[:, None], dtype) + rounded(turned * sines[:, None], dtype), dtype)

    def attention(self, path, x, tables):
        dtype = self.compute(path)
        heads = lambda name, count: rounded(self.linear(f"{path}.{name}", x), dtype).reshape(len(IDS), count, HEAD_DIM)
        q, k, v = heads("q_proj", HEADS), heads("k_proj", KV_HEADS), heads("v_proj", KV_HEADS)
        tables = [rounded(table, dtype) for table in tables]
        q = self.tap(path + ".q_rope.out", self.rotate(q, dtype, *tables), dtype)
        k = self.tap(path + ".k_rope.out", self.rotate(k, dtype, *tables), dtype)
        out = np.zeros((len(IDS), HEADS, HEAD_DIM))
        for row in range(len(IDS)):
            for head in range(HEADS):
                group = head // (HEADS // KV_HEADS)
                scores = rounded(rounded(k[:row + 1, group] @ q[row, head], dtype) * HEAD_DIM**-0.5, dtype)
                powers = np.exp(scores - scores.max())
                out[row, head] = rounded(rounded(powers / powers.sum(), dtype) @ v[:row + 1, group], dtype)
        attended = self.tap(path + ".o_proj.in", out.reshape(len(IDS), -1), dtype)
        return self.tap(path + ".out", self.linear(path + ".o_proj", attended), self.compute(path + ".o_proj"))

    def mlp(self, path, x):
        dtype = self.compute(path + ".act_fn")
        gate = rounded(self.linear(path + ".gate_proj", x), dtype)
        active = self.tap(path + ".act_fn.out", rounded(gate / (1 + np.exp(-gate)), dtype), dtype)
        up = self.linear(path + ".up_proj", x)
        dtype = wider(dtype, self.compute(path + ".up_proj"))
        inner = self.tap(path + ".down_proj.in", rounded(active * up, dtype), dtype)
        return self.tap(path + ".out", self.linear(path + ".down_proj", inner), self.compute(path + ".down_proj"))

    def run(self):
        module = "model.embed_tokens"
        stream = self.compute(module)
        x = self.tap(module + ".out", rounded(self.weight(module)[IDS], stream), stream)
        dtype = self.compute("model.rotary_emb")
        frequencies = rounded(1 / rounded(THETA ** (np.arange(0, HEAD_DIM, 2) / HEAD_DIM), "fp32"), "fp32")
        angles = rounded(np.arange(len(IDS))[:, None] * np.tile(frequencies, 2), "fp32")
        cosines = self.tap("model.rotary_emb.cos", rounded(rounded(np.cos(angles), "fp32"), dtype), dtype)
        sines = self.tap("model.rotary_emb.sin", rounded(rounded(np.sin(angles), "fp32"), dtype), dtype)
        for layer in range(LAYERS):
            path = f"model.layers.{layer}"
            attended = self.attention(path + ".self_attn", self.norm(path + ".input_layernorm", x), (cosines, sines))
            stream = wider(stream, self.compute(path + ".self_attn.o_proj"))
            x = rounded(x + attended, stream)
            inner = self.mlp(path + ".mlp", self.norm(path + ".post_attention_layernorm", x))
            stream = wider(stream, self.compute(path + ".mlp.down_proj"))
            x = self.tap(path + ".out", rounded(x + inner, stream), stream)
        self.linear("lm_head", self.norm("model.norm", x))
        return self


W, H = ("fp32", "fp32"), ("bf16", "bf16")


def of_file(module):
    """policy.toml of the test."""
    if module.endswith("down_proj"):
        return "bf16", "fp16"
    if ".mlp." in module:
        return "fp16", "fp32"
    return "fp32" if module == "lm_head" else "bf16", "bf16"


POLICIES = {
    "layercast": lambda module: ("bf16", "fp32"),
    "nomlp": lambda module: H if ".mlp." in module else W,
    "selective:norm+head": lambda module: W if "norm" in module or module == "lm_head" else H,
    "selective:attn+last1": lambda module: W if ".self_attn" in module or ".layers.1." in module or "rotary" in module else H,
    "file": of_file,
}


def main():
    if len(sys.argv) > 1:
        write_model(Path(sys.argv[1]), "bf16")
        return
    expected = {}
    for name, precision in POLICIES.items():
        model = HandModel(precision).run()
        expected[name] = {tap: {"dtype": model.dtypes[tap], "values": [[float(f"{v:.9g}") for v in row] for row in values]}
                          for tap, values in model.taps.items()}
    lines = json.dumps(expected).replace('}, "', '},\n"').replace('{"layercast"', '{\n"layercast"')
    (Path(__file__).parent / "expected.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
