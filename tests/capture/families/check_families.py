# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Every model family against Hugging Face transformers, on small random models; by hand, not part of the tests.

    check_families.py REFERENCE BIN [--work DIR] [--families NAME ...] [--jobs N] [--write FAMILIES.md]

REFERENCE is a folder with make_model.py (makes a random model), run_reference.py (runs transformers and records every
module) and compare_npz.py (holds exported taps against that); BIN has moire-capture and moire-diff. Needs PyTorch and
transformers. Per family, dims and seed: fp32 with 24 greedy tokens, bf16 on given ids, both styles of config.json, both
orders of adding experts, and `ordered` in one pass against token by token. MOIRE_FULL=1 takes all seeds, else one. With
--fp16 the same as bf16 in float16, which is no column of the table; with --attention sdpa both use LibTorch's fused kernel
(BIN has to be built with LibTorch 2).
"""
import argparse
import concurrent.futures
import contextlib
import importlib
import io
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PROMPT = "The model's first layer: 1024 rows, où est-ce? 🙂"
STEPS = 24
STYLES = ("hub4", "v5")
# Mixtures of experts with wide router margins first: a narrow one flips between any two orders of summation. (Seed 1 of the
# odd qwen3_moe has a tie at which transformers' own two orders of adding experts go on to choose different ones.)
SEEDS = {("olmoe", "small"): (11, 1, 2), ("olmoe", "odd"): (44, 1, 2), ("qwen2_moe", "small"): (16, 1, 2),
         ("qwen2_moe", "odd"): (21, 1, 2), ("qwen3_moe", "small"): (58, 1, 2), ("qwen3_moe", "odd"): (29, 2, 7),
         ("mixtral", "small"): (46, 1, 2), ("mixtral", "odd"): (10, 1, 2)}
FAMILIES = ("llama", "smollm2", "mistral", "qwen2", "qwen3", "olmo", "olmo2", "olmoe", "qwen2_moe", "qwen3_moe", "mixtral",
            "jais2", "gpt2", "llama linear", "llama dynamic", "llama yarn", "llama yarn mscale")
SCALINGS = {  # of a small llama, whose prompt is longer than the original context
    "linear": {"rope_type": "linear", "factor": 4.0}, "dynamic": {"rope_type": "dynamic", "factor": 4.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    "yarn mscale": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16, "beta_fast": 8.0, "mscale": 1.0,
                    "mscale_all_dim": 0.5, "truncate": False}}
FP32 = ("--rtol", "1e-5")
BF16 = ("--rtol", "2e-2", "--argmax-gap", "0.1")


checker = None  # of a worker process


class Checker:
    def __init__(self, reference, programs, work, fp16, attention):
        sys.path.insert(0, str(reference))
        self.maker = importlib.import_module("make_model")
        self.runner = importlib.import_module("run_reference")
        self.comparer = importlib.import_module("compare_npz")
        self.programs, self.work, self.attention = programs, work, attention
        if attention != "eager":  # which the reference asks for
            from transformers import AutoModelForCausalLM
            load = AutoModelForCausalLM.from_pretrained
            AutoModelForCausalLM.from_pretrained = lambda *a, **named: load(*a, **{**named, "attn_implementation": attention})
        self.policies = [("fp32", "float32", STEPS, FP32), ("bf16", "bfloat16", 0, BF16)] + [("fp16", "float16", 0, BF16)] * fp16
        self.own = Path(tempfile.mkdtemp(dir=work))  # several may share `work`, and no folder of it

    def call(self, program, *arguments, allowed=(0,)):
        done = subprocess.run([self.programs / program, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode not in allowed:
            raise RuntimeError(f"{program} {' '.join(map(str, arguments))}: {done.stderr}")
        return done

    def model(self, family, dims, seed, style):
        folder = self.work / f"{family.replace(' ', '_')}-{dims}-{seed}-{style}"
        scaling = SCALINGS.get(family.removeprefix("llama "))
        changes = {"max_position_embeddings": 16, "rope_parameters": {**scaling, "rope_theta": 10000.0}} if scaling else {}
        if not (folder / "tokenizer.json").exists():
            self.maker.make(family.split()[0], seed, folder, dims, "float32", style, overrides=changes)
        return folder

    def expected(self, folder, dtype, steps, experts):
        """What transformers makes of the model; kept, since it never changes."""
        kind = "" if self.attention == "eager" else "." + self.attention
        path = self.work / f"{folder.name}.{dtype}.{steps}.{experts}{kind}.npz"
        if not path.exists():
            from transformers import AutoTokenizer
            ids = AutoTokenizer.from_pretrained(folder)(PROMPT).input_ids
            np.savez(path, **self.runner.run(folder, ids, dtype, steps, experts=experts))
        return path

    def ours(self, folder, npz, *options):
        """Exported taps of moire-capture on the ids of a reference."""
        ids = self.own / "ids.json"
        ids.write_text(json.dumps(np.load(npz)["ids"].tolist()))
        capture, taps = self.own / "ours.moire", self.own / "taps"
        self.call("moire-capture", "run", folder, "--ids", ids, "--threads", 1, "--attention", self.attention, *options, "-o", capture)
        subprocess.run(["rm", "-rf", taps], check=True)
        self.call("moire-diff", "export", capture, "--npy", taps)
        return taps

    def compare(self, npz, taps, options):
        """Passed, taps compared, the worst relative L2, each tap's share of equal values, what failed."""
        said, before = io.StringIO(), sys.argv
        sys.argv = ["compare_npz", str(npz), str(taps), *options]
        try:
            with contextlib.redirect_stdout(said):
                status = self.comparer.main()
        finally:
            sys.argv = before
        text = said.getvalue()
        shares = [float(m[1]) for m in re.finditer(r" ([\d.]+)%(?:  FAIL)?$", text, re.M)]
        last = re.search(r"^(\d+) of (\d+) taps compared, worst (\S+) (\S+),", text, re.M)
        failures = [line for line in text.splitlines() if line.startswith("FAIL")]
        return status == 0, int(last[1]), float(last[4]), shares, failures

    def same_bits(self, folder, npz, policy):
        """`ordered` in one pass against token by token."""
        ids = self.own / "ids.json"
        ids.write_text(json.dumps(np.load(npz)["ids"].tolist()))
        captures = []
        for construction in ("once", "steps"):
            captures.append(self.own / f"{construction}.moire")
            self.call("moire-capture", "run", folder, "--ids", ids, "--policy", policy, "--arithmetic", "ordered",
                      "--construction", construction, "--threads", 2, "-o", captures[-1])
        return self.call("moire-diff", *captures, allowed=(0, 1)).returncode == 0

    def check(self, family, dims, seed):
        """One line of the table."""
        folders = [self.model(family, dims, seed, style) for style in STYLES]
        line = {"family": family, "dims": dims, "seed": seed, "failures": []}
        orders = {"eager": "ascending"}
        if "num_experts_per_tok" in json.loads((folders[0] / "config.json").read_text()):
            orders["batched_mm"] = "slots"
        for policy, dtype, steps, options in self.policies:
            for experts, order in orders.items():
                npz = self.expected(folders[0], dtype, steps, experts)
                for folder in folders:
                    more = ("--expert-order", order) if experts != "eager" else ()
                    taps = self.ours(folder, npz, "--policy", policy, "--max-new", steps, *(("--ignore-eos",) if steps else ()), *more)
                    passed, count, worst, shares, failures = self.compare(npz, taps, options)
                    name = f"{policy} {folder.name.rsplit('-', 1)[1]}" + (" slots" if more else "")
                    line["failures"] += [f"{name}: {failure}" for failure in failures]
                    if folder is folders[0] and not more:
                        line.update({"taps": count, f"{policy} worst": worst, f"{policy} equal": float(np.mean(shares))})
                    if folder is folders[0] and more:
                        line[f"{policy} slots"] = worst
            if family == "llama dynamic":
                continue  # the frequencies of a pass depend on its length
            line[f"{policy} steps"] = self.same_bits(folders[0], npz, policy)
            if not line[f"{policy} steps"]:
                line["failures"].append(f"{policy} ordered: token by token gives other bits than one pass")
        return line


def table(lines):
    text = ["| family | dims | seed | taps | fp32 worst rel. L2 | fp32, slot order | bf16 worst rel. L2 | bf16, slot order | bf16 values "
            "equal | ordered: steps = once | result |",
            "|---|---|---|---|---|---|---|---|---|---|---|"]
    for line in lines:
        number = lambda key: f"{line[key]:.1e}" if key in line else "–"
        same = "–" if "fp32 steps" not in line else "yes" if line["fp32 steps"] and line["bf16 steps"] else "NO"
        result = "same" if not line["failures"] else "; ".join(f.replace("|", "/") for f in line["failures"][:3])
        text.append(f"| {line['family']} | {line['dims']} | {line['seed']} | {line['taps']} | {number('fp32 worst')} | {number('fp32 slots')} | "
                    f"{number('bf16 worst')} | {number('bf16 slots')} | {line['bf16 equal']:.1f} % | {same} | {result} |")
    return "\n".join(text) + "\n"


def summary(lines):
    near = sum(line["bf16 equal"] >= 97 for line in lines)
    return (f"\nfp32: worst tap {max(line['fp32 worst'] for line in lines):.1e}. bf16: {near} of {len(lines)} models have at least 97 % "
            f"of all values equal, the one with fewest {min(line['bf16 equal'] for line in lines):.1f} %.\n")


def check_one(task):
    a, family, dims, seed = task
    global checker
    checker = checker or Checker(a.reference, a.programs, a.work, a.fp16, a.attention)
    return checker.check(family, dims, seed)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("reference", type=Path)
    p.add_argument("programs", type=Path)
    p.add_argument("--work", type=Path, default=Path("families"))
    p.add_argument("--families", nargs="*", default=FAMILIES)
    p.add_argument("--write", type=Path, help="replace the table in this file")
    p.add_argument("--fp16", action="store_true", help="check that policy too")
    p.add_argument("--attention", choices=["eager", "sdpa"], default="eager")
    p.add_argument("--jobs", type=int, default=1, help="models at a time")
    a = p.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    seeds = 3 if os.environ.get("MOIRE_FULL") == "1" else 1
    tasks = [(a, family, dims, seed) for family in a.families for dims in (("small",) if " " in family else ("small", "odd"))
             for seed in SEEDS.get((family, dims), (1, 2, 3))[:1 if " " in family else seeds]]
    lines = []
    with concurrent.futures.ProcessPoolExecutor(a.jobs, multiprocessing.get_context("spawn")) as pool:
        for line in pool.map(check_one, tasks):
            lines.append(line)
            print(table(lines).splitlines()[-1], flush=True)
    if a.write:
        text = a.write.read_text()
        a.write.write_text(text.partition("| family | dims |")[0] + table(lines) + summary(lines))
    return 1 if any(line["failures"] for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
