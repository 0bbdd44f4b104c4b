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
model=$root/resources/demo/austen-moe
mkdir -p "$folder"

capture() { # name, then arguments
    local output=$folder/$1.moire
    shift
    [ -e "$output" ] || "$bin/moire-capture" run "$model" "$@" -o "$output"
}

capture fp32-ordered --prompts "$root/resources/demo/study_prompts.jsonl" --policy fp32 --arithmetic ordered --max-new 48 --ignore-eos
targets=()
for policy in bf16 fp16 layercast selective:norm+router+head selective:norm+attn+router+head nomlp fp32; do
    for arithmetic in ordered native; do
        name=${policy/:/-}-$arithmetic
        [ "$name" != fp32-ordered ] || continue
        capture "$name" --replay-from "$folder/fp32-ordered.moire" --policy "$policy" --arithmetic "$arithmetic"
        targets+=("$folder/$name.moire")
    done
done
"$bin/moire-diff" study "$folder/fp32-ordered.moire" "${targets[@]}" --baseline "$folder/bf16-native.moire" \
    --full "$folder/fp32-native.moire" --json -o "$folder/study.json"
echo "$folder/study.json"
