#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
#
# Compiles capture/ and moire-capture against a CUDA build of LibTorch, where one is installed, runs their tests and records
# the demo's model on the CPU with it. PyPI's torch 2.11 is such a build:
#   pip install --no-deps torch==2.11.0 nvidia-cufile nvidia-cusparselt-cu13 nvidia-nvshmem-cu13
# Needs nvcc on the PATH; needs no GPU (nothing is run on a device). ./moire.sh test --torch pypi does all of that.
#
# usage: packaging/check_cuda_torch.sh PYTHON TEST_PYTHON     (one that has torch, one that has what the tests need)
set -euo pipefail

[ $# -eq 2 ] || {
    sed -n '5,11p' "${BASH_SOURCE[0]}" >&2
    exit 2
}
python=$1
test_python=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/cuda-torch
command -v nvcc >/dev/null || {
    echo "check_cuda_torch: nvcc is not on the PATH; install the CUDA toolkit" >&2
    exit 2
}
packages=$("$python" -c 'import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("torch").origin).parent.parent)') || {
    echo "check_cuda_torch: $python has no torch; see the head of this script" >&2
    exit 2
}
# The pip packages keep each CUDA library in a folder of its own.
libraries=$(find "$packages/nvidia" -name lib -type d 2>/dev/null | tr '\n' ':')
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:-}
export TORCH_CUDA_ARCH_LIST=9.0

cmake -S "$root" -B "$build" -G Ninja -DMOIRE_GUI=OFF -DMOIRE_GPU=cuda -DCMAKE_CUDA_STANDARD=17 \
    -DCMAKE_PREFIX_PATH="$packages/torch" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_BUILD_TYPE=Release \
    -DMOIRE_DEVELOPER_MODE=ON -DMOIRE_PYTHON="$test_python"
cmake --build "$build"
"$build/bin/moire-capture" --version
ctest --test-dir "$build" -R '^(capture|engine|device)_' -j 2 --output-on-failure
for arithmetic in native ordered; do
    "$build/bin/moire-capture" run "$root/resources/demo/austen-moe" --text "It was a great misfortune to be obliged to" \
        --max-new 4 --ignore-eos --arithmetic $arithmetic --observer-check -o "$build/$arithmetic.moire"
done
echo "moire-capture compiles, passes its tests and records with the LibTorch of torch $("$python" -c 'import importlib.metadata; print(importlib.metadata.version("torch"))')."
