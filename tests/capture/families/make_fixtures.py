# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The small models of tests/data/models that stand for one family each, and what transformers makes of them.

    make_fixtures.py REFERENCE OUT
    make_fixtures.py REFERENCE OUT fp16     only what transformers makes of two of them in float16

REFERENCE as for check_families.py. Weights in bfloat16, no tokenizer. Of several seeds the one is kept whose greedy
tokens and experts are chosen most clearly, so that another order of summation chooses the same.
"""
import importlib
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

IDS = [(37 * i + 11) % 150 for i in range(16)]
STEPS = 8
SEEDS = range(1, 13)
KEPT = re.compile(r"\.(self_attn|attn|mlp|post_attention_layernorm|post_feedforward_layernorm|ln_2)\.out$")
KEPT_ROWS = 4
MODELS = {  # dims, overrides
    "mistral": ("odd", {}), "qwen2": ("odd", {"max_window_layers": 1}), "qwen3": ("odd", {"max_window_layers": 1}),
    "olmo": ("small", {}), "olmo2": ("odd", {}), "qwen2_moe": ("odd", {}), "qwen3_moe": ("small", {}), "mixtral": ("odd", {}),
    "gpt2": ("odd", {}), "jais2": ("odd", {})}


def clearness(arrays):
    """The least gap between the two best logits where a token was generated, and between chosen and rejected experts."""
    top = np.sort(arrays["lm_head.out"][-STEPS:], axis=1)
    gaps = [(top[:, -1] - top[:, -2]).min()]
    gaps += [30 * value.min() for name, value in arrays.items() if name.endswith(".margin")]  # margins are the smaller numbers
    return min(gaps)


def write(folder, arrays):
    folder.mkdir(parents=True)
    for name, value in arrays.items():
        if KEPT.search(name):
            np.save(folder / f"{name}.npy", value[-KEPT_ROWS:].astype(np.float32))
        elif name == "lm_head.out":
            np.save(folder / f"{name}.npy", value.astype(np.float32))
        elif name == "gen.ids" or name.endswith("mlp.gate.ids"):
            np.save(folder / f"{name}.npy", value.astype(np.int32))


def write_fp16(runner, out):
    """The last rows of one pass, the logits too."""
    for name in ("llama_small", "olmoe_small"):
        folder = out / name / "expected/fp16"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        arrays = runner.run(out / name, json.loads((out / name / "expected/ids.json").read_text()), "float16")
        for tap, value in arrays.items():
            if KEPT.search(tap) or tap == "lm_head.out":
                np.save(folder / f"{tap}.npy", value[-KEPT_ROWS:].astype(np.float32))


def main():
    reference, out = map(Path, sys.argv[1:3])
    sys.path.insert(0, str(reference))
    maker, runner = importlib.import_module("make_model"), importlib.import_module("run_reference")
    if sys.argv[3:] == ["fp16"]:
        write_fp16(runner, out)
        return
    for family, (dims, overrides) in MODELS.items():
        layers = {"n_layer" if family == "gpt2" else "num_hidden_layers": 2, "vocab_size": 160, **overrides}
        best = None
        for seed in SEEDS:
            work = Path(tempfile.mkdtemp())
            maker.make(family, seed, work, dims, "bfloat16", "hub4", overrides=layers)
            runs = {policy: runner.run(work, IDS, dtype, STEPS) for policy, dtype in (("fp32", "float32"), ("bf16", "bfloat16"))}
            clear = min(clearness(arrays) for arrays in runs.values())
            if best is None or clear > best[0]:
                best = (clear, seed, runs)
            shutil.rmtree(work)
        clear, seed, runs = best
        folder = out / family
        shutil.rmtree(folder, ignore_errors=True)
        work = Path(tempfile.mkdtemp())
        maker.make(family, seed, work, dims, "bfloat16", "hub4", overrides=layers)
        folder.mkdir(parents=True)
        for name in ("config.json", "model.safetensors"):
            shutil.copy(work / name, folder / name)
        maker.make(family, seed, work, dims, "bfloat16", "v5", overrides=layers)
        shutil.copy(work / "config.json", folder / "config.v5.json")
        shutil.rmtree(work)
        for policy, arrays in runs.items():
            write(folder / "expected" / policy, arrays)
        (folder / "expected/ids.json").write_text(json.dumps(IDS) + "\n")
        print(f"{family} {dims} seed {seed}: least gap {clear:.3f}", flush=True)


if __name__ == "__main__":
    main()
