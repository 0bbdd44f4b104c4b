#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
#
# Holds the precision policies against each other on the demo model: the reference is fp32 in the ordered arithmetic, run
# freely; every target scores the reference's tokens. Writes study.json beside the captures; policy_table.py makes the
# table of it that capture/engine/POLICY_STUDY.md shows.
#
# usage: resources/demo/policy_study.sh FOLDER [BIN]     (BIN holds moire-capture and moire-diff; default build/bin)
set -euo pipefail

[ $# -ge 1 ] || {
    sed -n '5,10p' "${BASH_SOURCE[0]}" >&2
    exit 2
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$1
bin=${2:-$root/build/bin}
"$bin/moire-capture" run "$root/resources/demo/austen-moe" --prompts "$root/resources/demo/study_prompts.jsonl" \
    --max-new 48 --ignore-eos --matrix "$root/resources/demo/policy_study.toml" -o "$folder"
targets=()
for target in "$folder"/*.moire; do
    [ "$target" = "$folder/fp32-ordered.moire" ] || targets+=("$target")
done
"$bin/moire-diff" study "$folder/fp32-ordered.moire" "${targets[@]}" --baseline "$folder/bf16-native.moire" \
    --full "$folder/fp32-native.moire" --json -o "$folder/study.json"
echo "$folder/study.json"
