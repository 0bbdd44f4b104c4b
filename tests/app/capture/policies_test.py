# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Precision policies: two layers computed by hand, what a capture says of its policy, and files of rules that are wrong."""
import importlib.util
import json
import shutil
import unittest

import numpy as np

from capture_case import DIFF, SOURCE, CaptureCase

POLICY = """
name = "half and half"

[[rule]]
modules = "*.down_proj"
weights = "bf16"
compute = "fp16"

[[rule]]
modules = "*.mlp.*"
weights = "fp16"
compute = "fp32"

[[rule]]
modules = "lm_head"
weights = "fp32"
compute = "bf16"

[[rule]]
modules = "*"
compute = "bf16"
"""


def hand_model():
    spec = importlib.util.spec_from_file_location("make_expected", SOURCE / "tests/capture/policies/make_expected.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Policies(CaptureCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.hand = hand_model()
        cls.expected = json.loads((SOURCE / "tests/capture/policies/expected.json").read_text())
        cls.small = cls.shared / "small"
        cls.hand.write_model(cls.small, "bf16")

    def ids(self, ids=None):
        return self.write("ids.json", json.dumps([ids or self.hand.IDS]))

    def policy(self, name):
        return ("--policy-file", self.write("rules.toml", POLICY)) if name == "file" else ("--policy", name)

    def exported(self, path):
        arrays = self.folder / "arrays"
        shutil.rmtree(arrays, ignore_errors=True)
        self.assertEqual(self.call(DIFF, "export", path, "--npy", arrays, "--quiet").returncode, 0)
        return {file.stem: np.load(file) for file in arrays.glob("*.npy")}

    def test_two_layers_by_hand(self):
        for name, taps in self.expected.items():
            listed = self.capture("taps", self.small, *self.policy(name)).splitlines()
            self.assertEqual({line.split()[0]: line.split()[1] for line in listed},
                             {tap: entry["dtype"] for tap, entry in taps.items()}, name)
            for arithmetic in ("native", "ordered"):
                path = self.run_model("hand", "--ids", self.ids(), *self.policy(name), "--arithmetic", arithmetic, model=self.small)
                arrays = self.exported(path)
                for tap, entry in taps.items():
                    with self.subTest(f"{name} {arithmetic} {tap}"):
                        wanted = np.array(entry["values"])
                        # A rounding that is missing or too many would change 16-bit values by whole steps of 2^-8 or 2^-11.
                        step = {"fp32": 1e-6, "bf16": 2.0**-15, "fp16": 2.0**-15}[entry["dtype"]]
                        np.testing.assert_allclose(arrays[tap], wanted, rtol=step, atol=step * np.abs(wanted).max())

    def test_environment(self):
        wanted = {"layercast": "*: fp32 with bf16 weights",
                  "selective:head+norm": "*.input_layernorm: fp32; *.post_attention_layernorm: fp32; model.norm: fp32; lm_head: fp32; "
                                         "*: bf16",
                  "file": "*.down_proj: fp16 with bf16 weights; *.mlp.*: fp32 with fp16 weights; lm_head: bf16 with fp32 weights; *: bf16"}
        names = {"selective:head+norm": "selective:norm+head", "file": "half and half"}
        for name, rules in wanted.items():
            environment = self.info(self.run_model("run", "--ids", self.ids(), *self.policy(name), model=self.small))["environment"]
            self.assertEqual(environment["numerics.policy"], names.get(name, name))
            self.assertEqual(environment["numerics.policy_rules"], rules)
        environment = self.info(self.run_model("run", "--ids", self.ids(), "--policy", "fp16", model=self.small))["environment"]
        self.assertIn("fp32 product of widened values", environment["numerics.k_plan"])

    def test_layercast_is_fp32_over_16_bit_weights(self):
        """The weights of an fp32 model are rounded once; all else is what fp32 makes of the rounded ones."""
        wide = self.folder / "wide"
        self.hand.write_model(wide, "fp32")
        run = ("--ids", self.ids(), "--arithmetic", "ordered")
        rounded = self.run_model("rounded", *run, "--policy", "fp32", model=self.small)
        self.assert_bitwise_equal(rounded, self.run_model("held", *run, "--policy", "layercast", model=self.small))
        self.assert_bitwise_equal(rounded, self.run_model("wide", *run, "--policy", "layercast", model=wide))
        self.assertEqual(self.compare(rounded, self.run_model("fp32", *run, "--policy", "fp32", model=wide))[0], 1)

    def test_ordered_does_not_depend_on_the_batch(self):
        prompts = self.write("prompts.jsonl", "".join(json.dumps({"text": t}) + "\n" for t in ("The capital of France is", "x", "def norm(x")))
        run = ("--prompts", prompts, "--arithmetic", "ordered", "--policy", "selective:attn+router", "--max-new", "4", "--ignore-eos")
        one = self.run_model("one", *run, "--batch", "1", "--threads", "1")
        self.assert_bitwise_equal(one, self.run_model("three", *run, "--batch", "3", "--threads", "2"))

    def test_comparison_names_the_policies(self):
        run = ("--text", "The capital of France is", "--max-new", "3")
        captures = {policy: self.run_model(policy.replace(":", "_"), *run, "--policy", policy)
                    for policy in ("bf16", "layercast", "fp32", "selective:norm+head")}
        for reference, target in (("layercast", "bf16"), ("fp32", "selective:norm+head")):
            status, text = self.compare(captures[reference], captures[target])
            self.assertEqual(status, 1, text)
            self.assertIn(f"policy {reference} against {target}", text)
        other = POLICY.replace('compute = "fp16"', 'compute = "bf16"')
        files = [self.run_model(f"file{i}", *run, "--policy-file", self.write("rules.toml", text.replace("down_proj", "experts")))
                 for i, text in enumerate((POLICY, other))]
        self.assertIn("numerics.policy_rules", self.compare(*files)[1])

    def test_wrong_words(self):
        run = ("run", self.small, "--ids", self.ids(), "-o", self.folder / "out.moire", "--policy")
        for word, says in (("float8", "layercast"), ("selective:norm+legs", "the part 'legs'")):
            with self.subTest(word):
                self.refused(*run, word, says=says)
        self.refused("taps", self.small, "--policy", "selective:router", says="this model has none")

    def test_wrong_files(self):
        rule = lambda **keys: "[[rule]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        last = rule(modules="*", compute="bf16")
        for text, says in (
                ('name = "a"\n', "has no rules"), ("rule = 3\n", "line 1.*has to be a list of tables"),
                ("rule = [3]\n", "line 1.*a rule has to be a table"), ("[[rules]]\n", "line 1.*'rules' is unknown"),
                ('name = 3\n' + last, "line 1.*'name' has to be a text"), (rule(modules="*"), "line 1.*lacks 'compute'"),
                (rule(compute="bf16"), "line 1.*lacks 'modules'"), (rule(modules=3, compute="bf16"), "line 2.*'modules' has to be a text"),
                (rule(modules="*", compute="int8"), "line 3.*'compute' is no dtype of a policy"),
                (rule(modules="*", compute="bf16", weights="fp64"), "line 4.*'weights' is no dtype of a policy"),
                (rule(modules="*", compute="bf16", bias="bf16"), "line 4.*'bias' is unknown"),
                (rule(modules="*.norm1", compute="bf16") + last, r"line 1.*no module of this model matches '\*\.norm1'"),
                ('name = "nomlp"\n' + last, "the name of another policy"), ("[[rule]\n", "line 1.*is not TOML")):
            with self.subTest(says):
                file = self.write("bad.toml", text)
                self.refused("taps", self.small, "--policy-file", file, says=says)
        missing = self.folder / "missing.toml"
        self.refused("run", self.small, "--ids", self.ids(), "-o", self.folder / "out.moire", "--policy-file", missing, says="missing.toml")
        self.assertEqual(list(self.folder.glob("out.moire*")), [])
        json_file = self.write("rules.json", '{"rule": [{"modules": "*",\n "compute": "fp8"}]}')
        self.refused("taps", self.small, "--policy-file", json_file, says="line 2.*'compute' is no dtype")
        both = self.write("rules.toml", POLICY)
        self.refused("taps", self.small, "--policy", "bf16", "--policy-file", both, says="--policy")

    def test_files_in_json(self):
        file = self.write("mine.json", json.dumps({"rule": [{"modules": "lm_head", "compute": "fp32"}, {"modules": "*", "compute": "bf16"}]}))
        path = self.run_model("json", "--ids", self.ids(), "--policy-file", file, model=self.small)
        self.assertEqual(self.info(path)["environment"]["numerics.policy"], "mine")
        self.assert_bitwise_equal(path, self.run_model("word", "--ids", self.ids(), "--policy", "selective:head", model=self.small))

    def test_16_bit_weights_stay_as_they_are_stored(self):
        """Computing in fp32 takes no fp32 copy of a 16-bit model."""
        big = self.folder / "big"
        hidden, inner, vocabulary, layers = 512, 2048, 8000, 6
        config = {**self.hand.CONFIG, "hidden_size": hidden, "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 64,
                  "intermediate_size": inner, "vocab_size": vocabulary, "num_hidden_layers": layers}
        widths = {"mlp.gate_proj": (inner, hidden), "mlp.up_proj": (inner, hidden), "mlp.down_proj": (hidden, inner),
                  **{f"self_attn.{name}_proj": (hidden, hidden) for name in "qkvo"}}
        shapes = {"model.embed_tokens": (vocabulary, hidden), "lm_head": (vocabulary, hidden), "model.norm": (hidden,)}
        for layer in range(layers):
            shapes.update({f"model.layers.{layer}.{name}": shape for name, shape in widths.items()})
            shapes.update({f"model.layers.{layer}.{name}_layernorm": (hidden,) for name in ("input", "post_attention")})
        header, end = {}, 0
        for name, shape in shapes.items():
            header[name + ".weight"] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + 2 * int(np.prod(shape))]}
            end += 2 * int(np.prod(shape))
        text = json.dumps(header).encode()
        text += b" " * (-(len(text) + 8) % 64)
        big.mkdir()
        (big / "config.json").write_text(json.dumps(config))
        (big / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + b"\x3c\x3c" * (end // 2))
        peak = {policy: self.info(self.run_model(policy, "--ids", self.ids(), "--policy", policy, "--threads", "2", "--level", "digest",
                                                 model=big))["environment"]["run.peak_bytes"]
                for policy in ("bf16", "layercast", "fp32")}
        self.assertLess(peak["layercast"], peak["bf16"] + 0.3 * end)
        self.assertGreater(peak["fp32"], peak["bf16"] + 0.7 * end)  # which lets go of the file and takes one

    def test_fp16_at_its_ends(self):
        """Beyond 65504 an fp16 activation is infinite, below 2^-14 a subnormal one is kept."""
        ends = self.folder / "ends"
        shutil.copytree(self.small, ends)
        raw = bytearray((ends / "model.safetensors").read_bytes())
        size = int.from_bytes(raw[:8], "little")
        begin = json.loads(raw[8:8 + size])["model.layers.0.mlp.up_proj.weight"]["data_offsets"][0] + 8 + size
        row = 2 * self.hand.HIDDEN
        raw[begin:begin + row] = (0x477F).to_bytes(2, "little") * self.hand.HIDDEN  # 65280, of output 0
        raw[begin + row:begin + 2 * row] = (0x3500).to_bytes(2, "little") + bytes(row - 2)  # 2^-21 and zeros, of output 1
        (ends / "model.safetensors").write_bytes(raw)
        for arithmetic in ("native", "ordered"):
            arrays = self.exported(self.run_model("ends", "--ids", self.ids(), "--policy", "fp16", "--arithmetic", arithmetic, model=ends))
            given = arrays["model.layers.0.post_attention_layernorm.out"].astype(np.float64)
            got = arrays["model.layers.0.mlp.up_proj.out"]
            large = 65280 * given.sum(1)
            self.assertTrue((np.abs(large) > 70000).any())
            np.testing.assert_array_equal(got[np.abs(large) > 70000, 0], np.copysign(np.inf, large[np.abs(large) > 70000]))
            np.testing.assert_array_equal(got[:, 1], (given[:, 0] * 2.0**-21).astype(np.float16).astype(np.float32))


if __name__ == "__main__":
    unittest.main()
