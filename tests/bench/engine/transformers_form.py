#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Prints the best seconds that transformers takes for a prompt of 256 tokens and so many more, one by one, in a model of
SmolLM2-135M's shapes with random weights.

usage: transformers_form.py fp32|bf16 DECODED
"""
import sys
import time

import torch
from transformers import LlamaConfig, LlamaForCausalLM

ROUNDS = 3


def main():
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[sys.argv[1]]
    decoded = int(sys.argv[2])
    config = LlamaConfig(hidden_size=576, num_attention_heads=9, num_key_value_heads=3, intermediate_size=1536,
                         num_hidden_layers=30, vocab_size=49152, max_position_embeddings=2048, tie_word_embeddings=True)
    model = LlamaForCausalLM(config).to(dtype).eval()
    ids = torch.arange(256).unsqueeze(0) * 191 % 49152
    best = float("inf")
    with torch.inference_mode():
        for round_ in range(ROUNDS + 1):  # the first one warms up
            begin = time.perf_counter()
            done = model(ids, use_cache=True)
            for i in range(decoded):
                done = model(ids[:, i:i + 1], past_key_values=done.past_key_values, use_cache=True)
                done.logits.argmax(-1)
            if round_ > 0:
                best = min(best, time.perf_counter() - begin)
    print(best)


if __name__ == "__main__":
    main()
