# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated tensor parallelism and K-plans: every sum computed again by NumPy from the recorded inputs, and what stays equal."""
import itertools
import json
import os
import unittest

import h5py
import numpy as np

from capture_case import SOURCE, CaptureCase, read_safetensors

LLAMA = SOURCE / "tests/data/models/llama_small"  # inner indices 64 (o_proj) and 160 (down_proj), a bias on neither
GPT2 = SOURCE / "tests/data/models/gpt2"          # 72 and 150, with biases
ORDINARY = ("seq", "oneshot", "twoshot", "ring")
TREES = ("tree-a", "tree-b", "tree-c")
FULL = os.environ.get("MOIRE_FULL") == "1"


def to_bf16(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def to_fp16(x):
    return x.astype(np.float16).astype(np.float32)


ROUND = {"bf16": to_bf16, "fp16": to_fp16, "fp32": lambda x: x.astype(np.float32)}


def fma(a, b, c):
    """round32(a·b + c), once: the product is exact in fp64, the sum is rounded to odd there, so that the second rounding is the only one."""
    p, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s = p + c
    other = s - p
    error = (p - (s - other)) + (c - other)
    even = (s.view(np.uint64) & 1) == 0
    return np.where((error != 0) & even, np.nextafter(s, np.where(error > 0, np.inf, -np.inf)), s).astype(np.float32)


def dot(x, w, begin, end):
    """One accumulator over inputs [begin, end): rows × outputs."""
    total = np.zeros((x.shape[0], w.shape[0]), np.float32)
    for k in range(begin, end):
        total = fma(x[:, k, None], w[None, :, k], total)
    return total


def tree_product(x, w, begin, leaves, leaf, group, contract, rounded):
    """Recursion over `leaves` leaves from input `begin`; the group is that of the whole tree."""
    if leaves > group:
        half = leaves // 2
        one = tree_product(x, w, begin, half, leaf, group, contract, rounded)
        two = tree_product(x, w, begin + half * leaf, half, leaf, group, contract, rounded)
        return rounded(one + two)
    if contract == "tree-b":
        return rounded(dot(x, w, begin, begin + leaves * leaf))
    total = rounded(dot(x, w, begin, begin + leaf))
    for t in range(1, leaves):
        total = rounded(total + rounded(dot(x, w, begin + t * leaf, begin + (t + 1) * leaf)))
    return total


def tree_partials(x, w, tp, leaf, contract, rounded):
    width = x.shape[1] // tp
    leaves = odd = width // leaf
    while odd % 2 == 0:
        odd //= 2
    group = odd if contract == "tree-b" or odd > 1 else min(leaves, 2)
    return [tree_product(x, w, rank * width, leaves, leaf, group, contract, rounded) for rank in range(tp)]


def joined(partials, rounded):
    while len(partials) > 1:
        partials = [rounded(partials[i] + partials[i + 1]) for i in range(0, len(partials), 2)]
    return partials[0]


def folded(partials, order, rounded, each):
    total = partials[order[0]]
    for rank in order[1:]:
        total = total + partials[rank]
        total = rounded(total) if each else total
    return rounded(total)


def reduced(mode, partials, rounded, element_bytes):
    """Element by element, as the message lies in memory."""
    n = len(partials)
    if mode == "auto":  # two ranks, or a small message among up to eight
        mode = "oneshot"
    flat = [p.reshape(-1) for p in partials]
    out = np.empty_like(flat[0])
    pack = 16 // element_bytes
    packs = -(-len(out) // pack)
    share = -(-(-(-len(out) // n)) // pack) * pack
    for i in range(len(out)):
        order = list(range(n))
        if mode == "twoshot":
            owner = min(i // pack // (packs // n), n - 1) if packs >= n else n - 1
            order = [(owner + j) % n for j in range(n)]
        elif mode == "ring":
            order = [(i // share + 1 + j) % n for j in range(n)]
        out[i] = folded([p[i:i + 1] for p in flat], order, rounded, mode in ("seq", "ring"))[0]
    return out.reshape(partials[0].shape)


def planned(x, w, block, split, combine, partial):
    inputs = x.shape[1]
    blocks = [(k, min(inputs, k + block)) for k in range(0, inputs, block)]
    each = -(-len(blocks) // split)
    slices = []
    for begin in range(0, len(blocks), each):
        total = None
        for k, end in blocks[begin:begin + each]:
            product = dot(x, w, k, end)
            total = product if total is None else (total + product).astype(np.float32)
        slices.append(partial(total))
    if combine == "tree":
        step = 1
        while step < len(slices):
            for i in range(0, len(slices) - step, 2 * step):
                slices[i] = partial(slices[i] + slices[i + step])
            step *= 2
        return slices[0]
    return folded(slices, range(len(slices)), (lambda s: s) if combine == "wide" else partial, combine == "seq")


class Weights:
    def __init__(self, model):
        self.header, self.data = read_safetensors(model / "model.safetensors")

    def __call__(self, name):
        entry = self.header[name]
        assert entry["dtype"] == "BF16", entry
        begin, end = entry["data_offsets"]
        wide = np.frombuffer(self.data[begin:end], np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(entry["shape"])


def values(capture, tap):
    with h5py.File(capture, "r") as file:
        return file["values"][tap][:].astype(np.float32)


def tap_names(capture):
    with h5py.File(capture, "r") as file:
        return list(file["values"])


class Parallel(CaptureCase):
    def setUp(self):
        super().setUp()
        self.ids = self.write("ids.json", json.dumps([[5 + 3 * i % 140 for i in range(11)]]))

    def run_llama(self, name, *arguments, model=LLAMA):
        return self.run_model(name, "--ids", self.ids, "--arithmetic", "ordered", *arguments, model=model)

    def assert_same(self, ours, expected, what):
        np.testing.assert_array_equal(ours.view(np.uint32), expected.astype(np.float32).view(np.uint32), what)

    def policies(self):
        said = self.capture("run", "--help")
        return [policy for policy in ("bf16", "fp32", "fp16") if policy in said.split("--policy", 1)[1].split("--", 1)[0]]

    def test_trees_are_the_recursion(self):
        weights = Weights(LLAMA)
        policies = self.policies()
        self.assertGreaterEqual(len(policies), 2)
        few = [("bf16", "tree-a", 4), ("bf16", "tree-b", 4), ("bf16", "tree-c", 4), ("bf16", "tree-b", 1), ("fp32", "tree-a", 4), ("fp16", "tree-a", 4)]
        for policy, contract, tp in itertools.product(policies, TREES, (1, 4)) if FULL else [case for case in few if case[0] in policies]:
            with self.subTest(f"{policy} {contract} {tp}"):
                run = self.run_llama("run", "--policy", policy, "--reduce", contract, "--tp", tp, "--tree-leaf", 4,
                                     "--taps", "model.layers.0.*_proj.in", "--taps", "model.layers.0.*_proj.out",
                                     *(("--taps", "model.layers.0.*.partial.*") if tp > 1 else ()))
                for module in ("self_attn.o_proj", "mlp.down_proj"):
                    path = f"model.layers.0.{module}"
                    rounded = ROUND[policy]
                    between = ROUND["fp32"] if contract == "tree-c" else rounded
                    w = rounded(weights(path + ".weight"))
                    partials = tree_partials(values(run, path + ".in"), w, tp, 4, contract, between)
                    for rank in range(tp if tp > 1 else 0):
                        self.assert_same(values(run, f"{path}.partial.{rank}"), partials[rank], f"{path} {rank}")
                    self.assert_same(values(run, path + ".out"), rounded(joined(partials, between)), path)

    def test_ordinary_reductions(self):
        weights = Weights(LLAMA)
        few = [*(("bf16", mode, "ordered") for mode in (*ORDINARY, "auto")), ("fp32", "twoshot", "ordered"), ("fp32", "ring", "native"), ("bf16", "seq", "native")]
        for policy, mode, arithmetic in itertools.product(("bf16", "fp32"), (*ORDINARY, "auto"), ("ordered", "native")) if FULL else few:
            with self.subTest(f"{policy} {mode} {arithmetic}"):
                run = self.run_model("run", "--ids", self.ids, "--arithmetic", arithmetic, "--policy", policy, "--reduce", mode, "--tp", 4,
                                     "--taps", "model.layers.1.*_proj.in", "--taps", "model.layers.1.*_proj.out", "--taps", "*.partial.*", model=LLAMA)
                for module in ("self_attn.o_proj", "mlp.down_proj"):
                    path = f"model.layers.1.{module}"
                    x, w = values(run, path + ".in"), weights(path + ".weight")
                    width = x.shape[1] // 4
                    partials = [values(run, f"{path}.partial.{rank}") for rank in range(4)]
                    for rank, partial in enumerate(partials):
                        begin, end = rank * width, (rank + 1) * width
                        if arithmetic == "ordered":
                            self.assert_same(partial, ROUND[policy](dot(x, w, begin, end)), f"{path} {rank}")
                        else:
                            exact = x[:, begin:end].astype(np.float64) @ w[:, begin:end].T.astype(np.float64)
                            np.testing.assert_allclose(partial, exact, rtol=2**-8 if policy == "bf16" else 1e-5, atol=1e-4)
                    self.assert_same(values(run, path + ".out"), reduced(mode, partials, ROUND[policy], 2 if policy == "bf16" else 4), path)

    def test_the_bias_comes_once_behind_the_sum(self):
        weights = Weights(GPT2)
        run = self.run_model("run", "--ids", self.ids, "--policy", "bf16", "--reduce", "seq", "--tp", 3, "--taps", "*", "--taps", "*.partial.*", model=GPT2)
        for module in ("attn.c_proj", "mlp.c_proj"):
            path = f"transformer.h.0.{module}"
            partials = [values(run, f"{path}.partial.{rank}") for rank in range(3)]
            name = next(n for n in weights.header if n.endswith(f"h.0.{module}.bias"))
            self.assert_same(values(run, path + ".out"), to_bf16(reduced("seq", partials, to_bf16, 2) + weights(name)), path)

    def test_k_plans(self):
        weights = Weights(LLAMA)
        for text, plan, usual in (("block=16,split=2,combine=tree,partial=bf16", (16, 2, "tree", to_bf16), "bf16"), ("split=3,partial=fp16", (22, 3, "seq", to_fp16), "fp32"),
                                  ("block=24,combine=wide,split=2,partial=bf16", (24, 2, "wide", to_bf16), "fp32"), ("block=8", (8, 1, "seq", ROUND["fp32"]), "bf16"),
                                  ("block=8,split=8,combine=tree", (8, 8, "tree", ROUND["fp32"]), "fp32")):
            for policy in ("bf16", "fp32") if FULL else (usual,):
                with self.subTest(f"{text} {policy}"):
                    run = self.run_llama("run", "--policy", policy, "--k-plan", text)
                    inputs = {"self_attn.q_proj": "input_layernorm.out", "self_attn.o_proj": "self_attn.o_proj.in", "mlp.up_proj": "post_attention_layernorm.out"}
                    for module, tap in inputs.items():
                        path = f"model.layers.1.{module}"
                        expected = planned(values(run, f"model.layers.1.{tap}"), weights(path + ".weight"), *plan)
                        self.assert_same(values(run, path + ".out"), ROUND[policy](expected), path)
                    recorded = self.info(run)["environment"]["numerics.k_plan"]
                    for field in text.split(","):
                        self.assertIn(field, recorded)

    def test_k_plans_do_not_depend_on_the_batch(self):
        prompts = self.write("many.json", json.dumps([[7, 8, 9, 10, 11], [5, 6], [20, 21, 22], [9] * 9]))
        for text in ("block=16,split=2,combine=tree,partial=bf16", "block=8,split=3") if FULL else ("block=16,split=2,combine=tree,partial=bf16",):
            run = ("--ids", prompts, "--arithmetic", "ordered", "--k-plan", text, "--max-new", "3", "--ignore-eos")
            one = self.run_model("one", *run, "--threads", 1, model=LLAMA)
            self.assert_bitwise_equal(one, self.run_model("four", *run, "--batch", 4, "--threads", 3, model=LLAMA))
            plain = self.run_model("plain", "--ids", prompts, "--arithmetic", "ordered", "--max-new", "3", "--ignore-eos", model=LLAMA)
            status, text = self.compare(plain, one)
            self.assertEqual(status, 1)
            self.assertRegex(text, "k_plan|K-plan|one fp32 accumulator")

    def test_partials_only_when_asked_for(self):
        usual = self.run_llama("usual", "--tp", 2)
        self.assertFalse([name for name in tap_names(usual) if "partial" in name])
        asked = self.run_llama("asked", "--tp", 2, "--taps", "*", "--taps", "*.partial.*")
        partials = [name for name in tap_names(asked) if "partial" in name]
        self.assertEqual(len(partials), 4 * 2 * 2)  # layers, sites, ranks
        self.assertIn("Equal in what was compared (11 rows × 73 taps); 16 taps of the target have no counterpart", self.compare(usual, asked)[1])
        tree = ("--reduce", "tree-a", "--tree-leaf", 4, "--taps", "*", "--taps", "*.partial.*")
        status, text = self.compare(self.run_llama("two", "--tp", 2, *tree), self.run_llama("four", "--tp", 4, *tree))
        self.assertIn("Equal in what was compared (11 rows × 73 taps)", text)  # a half is not a quarter
        moe = self.run_model("moe", "--ids", self.ids, "--tp", 2, "--reduce", "seq", "--arithmetic", "ordered", "--taps", "*", "--taps", "*.partial.*",
                             model=SOURCE / "tests/data/models/olmoe_small")
        path = "model.layers.0.mlp.experts.down"
        slots = [values(moe, f"{path}.partial.{rank}.slots") for rank in range(2)]
        self.assert_same(values(moe, f"{path}.slots"), to_bf16(slots[0] + slots[1]), path)
        self.refused("run", LLAMA, "--ids", self.ids, "--taps", "*.partial.*", says="(?s)no tap.*partial.*--tp 2")

    def test_padding_is_in_no_partial(self):
        prompts = self.write("many.json", json.dumps([[7, 8, 9, 10, 11], [5, 6], [20, 21, 22]]))
        for model in ("llama_small", "olmoe_small"):
            run = ("--ids", prompts, "--arithmetic", "ordered", "--tp", 2, "--reduce", "seq", "--taps", "*", "--taps", "*.partial.*")
            one = self.run_model("one", *run, model=SOURCE / "tests/data/models" / model)
            self.assert_bitwise_equal(one, self.run_model("padded", *run, "--batch", 3, "--padding", "left", model=SOURCE / "tests/data/models" / model))

    def test_trees_keep_the_bits_and_others_do_not(self):
        run = ("--ids", self.ids, "--max-new", "4", "--ignore-eos", "--taps", "model.layers.3.out", "--taps", "lm_head.out")
        for contract in TREES if FULL else ("tree-b",):
            one = self.run_model("one", *run, "--reduce", contract, "--tree-leaf", 4, model=LLAMA)
            for tp in (2, 4, 8):
                self.assert_bitwise_equal(one, self.run_model("many", *run, "--reduce", contract, "--tree-leaf", 4, "--tp", tp, model=LLAMA))
        plain = self.run_model("plain", *run, model=LLAMA)
        for mode in ORDINARY:
            status, text = self.compare(plain, self.run_model("many", *run, "--reduce", mode, "--tp", 4, model=LLAMA))
            self.assertEqual(status, 1, text)

    def test_the_cause_speaks_of_the_ranks(self):
        one = self.run_llama("one")
        four = self.run_llama("four", "--tp", 4, "--reduce", "ring")
        status, text = self.compare(one, four)
        self.assertEqual(status, 1)
        self.assertRegex(text, r"o_proj is summed over ranks, and the runs sum differently \(size 1 against 4\)")
        seq = self.run_llama("seq", "--tp", 4, "--reduce", "seq")
        self.assertRegex(self.compare(four, seq)[1], r"summed over ranks, and the runs sum differently \(reduction ring against seq\)")
        head = ("--taps", "lm_head.out")
        status, text = self.compare(self.run_llama("one_head", *head), self.run_llama("four_head", *head, "--tp", 4, "--reduce", "ring"))
        self.assertIn("The runs differ only in how they sum over ranks (size 1 against 4); the sum where that begins was not recorded", text)
        environment = self.info(four)["environment"]
        self.assertEqual((environment["numerics.tp_size"], environment["numerics.reduction"]), (4, "ring"))
        self.assertEqual(self.info(one)["environment"]["numerics.reduction"], "none")
        tree = self.run_llama("tree", "--tp", 2, "--reduce", "tree-b", "--tree-leaf", 8)
        self.assertEqual(self.info(tree)["environment"]["numerics.reduction"], "tree-b, leaf 8")
        self.assertEqual(self.info(self.run_llama("usual", "--tp", 2))["environment"]["numerics.reduction"], "auto")

    def test_refusals(self):
        run = ("run", LLAMA, "--ids", self.ids)
        self.refused(*run, "--tp", 4, "--reduce", "tree-a", says=r"model\.layers\.0\.self_attn\.o_proj: its inner index of 64 is not a whole number of leaves of 256.*--tree-leaf 8 works")
        self.refused(*run, "--tp", 16, "--reduce", "tree-b", "--tree-leaf", 4, says=r"model\.layers\.0\.mlp\.down_proj: .*160 has 40 leaves of 4, which form whole subtrees for at most 8 ranks.*--tp 8 works here, and so does --tree-leaf 2")
        self.refused(*run, "--tp", 3, "--reduce", "tree-c", says="power of two")
        self.refused(*run, "--tp", 7, says=r"o_proj: its inner index of 64 does not divide into 7 equal parts.*--tp 4 works")
        self.refused(*run, "--tp", 2, "--reduce", "sideways", says="unknown reduction 'sideways'")
        self.refused(*run, "--tp", 0)
        self.refused(*run, "--tp", 5000)
        self.refused(*run, "--tp", 2, "--tree-leaf", 8, says="--tree-leaf is the leaf of a tree")
        self.refused(*run, "--reduce", "tree-a", "--tree-leaf", 0)
        for text in ("block=0", "combine=ring", "blok=3"):
            self.refused(*run, "--arithmetic", "ordered", "--k-plan", text, says="K-plan")
        self.refused(*run, "--k-plan", "block=4", says="a K-plan is an order of ordered")
        odd = ("run", SOURCE / "tests/data/models/qwen2", "--ids", self.ids)
        self.refused(*odd, "--tp", 2, "--reduce", "tree-a", "--tree-leaf", 4, says="down_proj|o_proj")


if __name__ == "__main__":
    unittest.main()
