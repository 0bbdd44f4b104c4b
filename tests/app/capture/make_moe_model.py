# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes a small random model of the OLMoE family on the spot: config.json, model.safetensors (bfloat16) and a
byte-level BPE tokenizer.json. Needs nothing but Python; the seed is fixed. The constants below are for the tests to set.

The model knows nothing, its text is noise. What is realistic are the numbers: logits spread over some ten units, norms
keep the residual stream in bounds, and some of the router's decisions are close, as in a trained model; those are the
ones that a change of arithmetic can turn over.
"""
import array
import json
import math
import random
import re
import struct
import sys

HIDDEN, LAYERS, HEADS, KV_HEADS = 128, 6, 4, 4
EXPERTS, CHOSEN, EXPERT_WIDTH = 16, 4, 64
CONTEXT = 1024
VOCABULARY = 640
SPECIAL = ["<|endoftext|>", "<|padding|>"]

# Standard deviation = gain / sqrt(fan in).
GAIN_ROUTER = 1.0   # router logits of about 1: sixteen experts lie close together
GAIN_QUERY_KEY = 1.3
GAIN_HEAD = 2.5     # logits of about 2.5
GAIN_OUTPUT = 0.7   # what a block adds, against a stream of about 1
GAIN_EXPERT_OUTPUT = 1.6  # the weights of the chosen experts sum to about a half

TEXT = """Two fine gratings laid over each other show a pattern that neither of them has. A tiny shift of one grating
moves the pattern a long way, so the eye sees what the ruler can't. We lay two runs of one model over each other: they've
the same weights and the same words, and still they part at some token, because the order of a sum changes its last bit.
The first layer that differs isn't always the one that's wrong. Where do they part, how much, and why?
The capital of France is Paris. The capital of Japan is Tokyo. The capital of Kenya is Nairobi. Water boils at 100 degrees.
If every raven is black and this bird is a raven, then this bird is black. If a is larger than b, then b is smaller than a.
def norm(x, eps=1e-5):
    return x / sqrt(mean(x * x) + eps)

def sum_of(rows):
    total = 0
    for row in rows:
        total = total + row
    return total

for (int i = 0; i < rows; ++i) { sum += a[i] * b[i]; }
Deux grilles fines posées l'une sur l'autre montrent un dessin que ni l'une ni l'autre ne porte.
Zwei feine Gitter, übereinander gelegt, zeigen ein Muster, das keines von beiden hat.
1 2 4 8 16 32 64 128 256 512 1024 2048 4096
"""


# ---- tokenizer

def byte_alphabet():
    """GPT-2's spelling of the 256 bytes as printable characters."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    spelling = {b: chr(b) for b in plain}
    spelling.update({b: chr(0x100 + i) for i, b in enumerate(others)})
    return spelling


def words_of(text):
    """GPT-2's pattern; letters and digits by Python's own classes, good enough for the text above."""
    letter, digit = r"[^\W\d_]", r"\d"
    return re.findall(rf"'s|'t|'re|'ve|'m|'ll|'d| ?{letter}+| ?{digit}+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+", text)


def train_merges(text, count):
    """Byte pair encoding: always the most frequent pair, of equals the one that sorts first."""
    spelling = byte_alphabet()
    words = {}
    for word in words_of(text):
        key = tuple(spelling[b] for b in word.encode())
        words[key] = words.get(key, 0) + 1
    merges = []
    while len(merges) < count:
        pairs = {}
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + n
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        merged = {}
        for word, n in words.items():
            out, i = [], 0
            while i < len(word):
                if word[i:i + 2] == best:
                    out.append(word[i] + word[i + 1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            merged[tuple(out)] = merged.get(tuple(out), 0) + n
        words = merged
    return merges


def tokenizer_of(text):
    alphabet = sorted(byte_alphabet().values())
    merges = train_merges(text, VOCABULARY - len(SPECIAL) - len(alphabet))
    tokens = list(dict.fromkeys([*SPECIAL, *alphabet, *(a + b for a, b in merges)]))
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, t in enumerate(SPECIAL)]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
            "pre_tokenizer": byte_level, "post_processor": byte_level, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {t: i for i, t in enumerate(tokens)}, "merges": [list(pair) for pair in merges]}}


# ---- weights

def shapes():
    """Name, shape, gain, in the order in which they are drawn. Gain None: a norm's weight."""
    yield "model.embed_tokens.weight", (VOCABULARY, HIDDEN), math.sqrt(HIDDEN)
    head = HIDDEN // HEADS
    for n in range(LAYERS):
        layer = f"model.layers.{n}."
        yield layer + "input_layernorm.weight", (HIDDEN,), None
        yield layer + "self_attn.q_proj.weight", (HEADS * head, HIDDEN), GAIN_QUERY_KEY
        yield layer + "self_attn.k_proj.weight", (KV_HEADS * head, HIDDEN), GAIN_QUERY_KEY
        yield layer + "self_attn.v_proj.weight", (KV_HEADS * head, HIDDEN), 1.0
        yield layer + "self_attn.o_proj.weight", (HIDDEN, HEADS * head), GAIN_OUTPUT
        yield layer + "self_attn.q_norm.weight", (HEADS * head,), None
        yield layer + "self_attn.k_norm.weight", (KV_HEADS * head,), None
        yield layer + "post_attention_layernorm.weight", (HIDDEN,), None
        yield layer + "mlp.gate.weight", (EXPERTS, HIDDEN), GAIN_ROUTER
        for e in range(EXPERTS):
            expert = f"{layer}mlp.experts.{e}."
            yield expert + "gate_proj.weight", (EXPERT_WIDTH, HIDDEN), 1.0
            yield expert + "up_proj.weight", (EXPERT_WIDTH, HIDDEN), 1.0
            yield expert + "down_proj.weight", (HIDDEN, EXPERT_WIDTH), GAIN_EXPERT_OUTPUT
    yield "model.norm.weight", (HIDDEN,), None
    yield "lm_head.weight", (VOCABULARY, HIDDEN), GAIN_HEAD


def normal_values(rng, count):
    """Standard normal values by the Box-Muller formula: random.gauss is free to change between versions of Python."""
    values = array.array("f")
    while len(values) < count:
        radius = math.sqrt(-2.0 * math.log(1.0 - rng.random()))
        angle = 2.0 * math.pi * rng.random()
        values.append(radius * math.cos(angle))
        values.append(radius * math.sin(angle))
    return values[:count]


def bfloat16(values):
    """Bytes of the values rounded to bfloat16, ties to even."""
    words = array.array("I", values.tobytes())
    halves = array.array("H", (((w + 0x7FFF + (w >> 16 & 1)) >> 16) & 0xFFFF for w in words))
    if sys.byteorder == "big":
        halves.byteswap()
    return halves.tobytes()


def draw(rng, shape, gain):
    values = normal_values(rng, math.prod(shape))
    if gain is None:
        return bfloat16(array.array("f", (1.0 + 0.2 * x for x in values)))
    scale = gain / math.sqrt(shape[-1])
    return bfloat16(array.array("f", (scale * x for x in values)))


def write_weights(path, seed):
    rng = random.Random(seed)
    header, parts, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, shape, gain in shapes():
        data = draw(rng, shape, gain)
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [offset, offset + len(data)]}
        parts.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)  # so that every tensor can be used where it lies
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


# ---- config.json

def config():
    return {
        "architectures": ["OlmoeForCausalLM"], "model_type": "olmoe", "torch_dtype": "bfloat16",
        "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "intermediate_size": EXPERT_WIDTH, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "num_experts": EXPERTS,
        "num_experts_per_tok": CHOSEN, "norm_topk_prob": False, "hidden_act": "silu", "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0, "rope_scaling": None, "max_position_embeddings": CONTEXT, "attention_bias": False,
        "attention_dropout": 0.0, "clip_qkv": None, "tie_word_embeddings": False, "output_router_logits": False,
        "router_aux_loss_coef": 0.01, "eos_token_id": 0, "pad_token_id": 1, "use_cache": True,
        "transformers_version": "4.57.1"}
