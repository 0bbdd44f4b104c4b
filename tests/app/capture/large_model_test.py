# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Memory that large models take: weights stay in the mapped file. The files are sparse, all weights 0."""
import json
import math
import os
import struct
import unittest

from capture_case import CAPTURE, CaptureCase

MEGABYTE = 10**6


def write_model(folder, hidden, layers, width, vocabulary=32000, heads=16):
    """A Llama in bf16; returns its bytes."""
    shapes = {"model.embed_tokens.weight": (vocabulary, hidden), "model.norm.weight": (hidden,),
              "lm_head.weight": (vocabulary, hidden)}
    for i in range(layers):
        layer = f"model.layers.{i}."
        for name, shape in [("input_layernorm", (hidden,)), ("post_attention_layernorm", (hidden,)),
                            *((f"self_attn.{part}_proj", (hidden, hidden)) for part in "qkvo"),
                            ("mlp.gate_proj", (width, hidden)), ("mlp.up_proj", (width, hidden)),
                            ("mlp.down_proj", (hidden, width))]:
            shapes[f"{layer}{name}.weight"] = shape
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * math.prod(shape)
        header[name] = dict(dtype="BF16", shape=shape, data_offsets=[begin, end])
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    folder.mkdir()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)
    (folder / "config.json").write_text(json.dumps(dict(
        architectures=["LlamaForCausalLM"], hidden_size=hidden, num_hidden_layers=layers, intermediate_size=width,
        vocab_size=vocabulary, num_attention_heads=heads, max_position_embeddings=4096, rms_norm_eps=1e-5,
        torch_dtype="bfloat16")))
    return end


class LargeModel(CaptureCase):
    def peak(self, *arguments):
        """Bytes of resident memory of a call that succeeds."""
        child = os.spawnv(os.P_NOWAIT, CAPTURE, [str(CAPTURE), *map(str, arguments)])
        _, status, usage = os.wait4(child, 0)
        self.assertEqual(status, 0)
        return usage.ru_maxrss * 1024

    def test_twenty_gigabytes_are_only_listed(self):
        size = write_model(self.folder / "huge", 4096, 46, 14336)
        self.assertGreater(size, 20_000 * MEGABYTE)
        ids = self.write("ids.json", "[[1, 2, 3]]")
        self.assertLess(self.peak("taps", self.folder / "huge"), 300 * MEGABYTE)
        self.assertLess(self.peak("run", self.folder / "huge", "--ids", ids, "--max-new", 100, "--dry-run"), 300 * MEGABYTE)

    def test_weights_stay_in_the_file(self):
        ids = self.write("ids.json", "[[1, 2, 3]]")
        small = write_model(self.folder / "small", 64, 1, 64, vocabulary=64)
        large = write_model(self.folder / "large", 1024, 10, 2816)
        for arithmetic in ("native", "ordered"):
            run = ("--ids", ids, "--arithmetic", arithmetic, "--taps", "model.norm.out")
            base = self.peak("run", self.folder / "small", *run, "-o", self.folder / f"small-{arithmetic}.moire")
            peak = self.peak("run", self.folder / "large", *run, "-o", self.folder / f"large-{arithmetic}.moire")
            self.assertLess(peak - base, 1.3 * (large - small), f"{arithmetic}: {peak}, {base}")


if __name__ == "__main__":
    unittest.main()
