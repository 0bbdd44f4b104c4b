#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the bench programs of a folder, prints a line per figure, writes the list as JSON.

Exit 0 also when a goal is missed; 2 when a program fails or none is there.
"""

import argparse
import json
import pathlib
import subprocess
import sys


def line_of(figure: dict) -> str:
    sign = "≥" if figure["sense"] == "min" else "≤"
    verdict = "met" if figure["met"] else "MISSED"
    if figure["other"] is None:
        return f"{figure['name']}: {figure['ours']:.3g} {figure['unit']} (goal {sign} {figure['goal']:g}) {verdict}"
    return (
        f"{figure['name']}: {figure['ours']:.4g} against {figure['other']:.4g} {figure['unit']}, "
        f"ratio {figure['ratio']:.3f} (goal {sign} {figure['goal']:g}) {verdict}"
    )


def processor() -> str:
    """What kind of processor this is, and which of the instruction sets that the kernels know it has."""
    known = ("sse4_1", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "neon", "asimd")
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    lines = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    lines = {key.strip(): value.strip() for key, value in lines.items()}
    flags = set((lines.get("flags") or lines.get("Features") or "").split())
    return f"{lines.get('model name', 'unknown processor')}; features: {' '.join(f for f in known if f in flags) or 'none known'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--name", default="")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    programs = sorted(options.folder.glob(f"bench_{options.name}*"))
    if not programs:
        names = ", ".join(p.name.removeprefix("bench_") for p in sorted(options.folder.glob("bench_*")))
        print(f"There is no bench '{options.name}'; choose one of: {names}", file=sys.stderr)
        return 2
    print(processor(), flush=True)
    figures = []
    for program in programs:
        done = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
        for text in done.stdout.splitlines():
            if text.startswith("{"):
                figures.append(json.loads(text))
                print(line_of(figures[-1]), flush=True)
            else:
                print(text, flush=True)
        if done.returncode != 0:
            print(f"{program.name} failed with exit status {done.returncode}", file=sys.stderr)
            return 2
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    met = sum(figure["met"] for figure in figures)
    print(f"{met} of {len(figures)} goals met.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
