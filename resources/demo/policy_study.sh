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
target() { # policy, arithmetic
    local name=${1/:/-}-$2
    capture "$name" --replay-from "$folder/fp32-ordered.moire" --policy "$1" --arithmetic "$2"
    targets+=("$folder/$name.moire")
}
for policy in bf16 fp16 selective:norm+router+head nomlp layercast; do
    target $policy ordered
    target $policy native
done
target fp32 native
for part in norm attn mlp router head embed; do # alone
    target selective:$part ordered
done
"$bin/moire-diff" study "$folder/fp32-ordered.moire" "${targets[@]}" --baseline "$folder/bf16-native.moire" \
    --full "$folder/fp32-native.moire" --json -o "$folder/study.json"
echo "$folder/study.json"
