# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The Markdown table of a policy study: policy_table.py study.json   (written by policy_study.sh)"""
import json
import sys
from pathlib import Path

COLUMNS = (("B1", "MSE of logits", "{:.1e}"), ("C1", "KL, nats", "{:.1e}"), ("E1", "top-1 equal, %", "{:.2f}"),
           ("E3", "top-5 sets equal, %", "{:.1f}"), ("H1", "expert sets equal, %", "{:.2f}"),
           ("H2", "… in all layers, %", "{:.1f}"), ("A1", "equal bits, %", "{:.1f}"))


def cell(measure, target, form):
    estimate = measure["values"][target]
    if not estimate or estimate["value"] is None:
        return "–"
    text = form.format(estimate["value"])
    interval = estimate.get("interval")
    return text + (f" ({form.format(interval['low'])} … {form.format(interval['high'])})" if interval else "")


def main():
    study = json.loads(Path(sys.argv[1]).read_text())
    print("| policy, arithmetic | " + " | ".join(title for _, title, _ in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for n, target in enumerate(study["targets"]):
        cells = [cell(study["measures"][name], n, form) for name, _, form in COLUMNS]
        print(f"| {Path(target).stem} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
