# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The Markdown table of a policy study: policy_table.py study.json   (written by policy_study.sh; needs h5py)"""
import json
import sys
from pathlib import Path

import h5py

COLUMNS = (("B1", "MSE of logits", "{:.1e}"), ("C1", "KL, nats", "{:.1e}"), ("E1", "top-1 equal, %", "{:.2f}"),
           ("E3", "top-5 sets equal, %", "{:.1f}"), ("H1", "expert sets equal, %", "{:.2f}"),
           ("H2", "… in all layers, %", "{:.1f}"))


def cell(measure, target, form):
    estimate = measure["values"][target]
    if not estimate or estimate["value"] is None:
        return "–"
    text, interval = form.format(estimate["value"]), estimate.get("interval")
    return text + (f" ({form.format(interval['low'])} … {form.format(interval['high'])})" if interval else "")


def parted(path):
    """Samples in which a token of the reference's greedy response is not the target's best: there a free run would part."""
    with h5py.File(path) as file:
        rows, tokens = file["rows"][:], file["tokens"][:]
        flipped = set()
        for sample in range(len(file["samples"])):
            response = tokens["response"][tokens["sample"] == sample]
            own = rows[rows["sample"] == sample]
            scored = own[own["position"] + 1 < len(response)]
            if any(response[row["position"] + 1] and row["score_rank"] > 0 for row in scored):
                flipped.add(sample)
        return f"{len(flipped)} of {len(file['samples'])}"


def main():
    study = json.loads(Path(sys.argv[1]).read_text())
    print("| policy, arithmetic | " + " | ".join(title for _, title, _ in COLUMNS) + " | texts that part |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for n, target in enumerate(study["targets"]):
        cells = [cell(study["measures"][name], n, form) for name, _, form in COLUMNS]
        print(f"| {Path(target).stem} | {' | '.join(cells)} | {parted(target)} |")


if __name__ == "__main__":
    main()
