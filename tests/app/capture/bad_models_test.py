# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Damaged and unsupported models: exit 2, one sentence that names the place, what to do next."""
import json
import os
import re
import shutil
import struct
import unittest

from capture_case import CAPTURE, CaptureCase, read_safetensors, write_safetensors

try:
    import gguf
    import numpy
except ImportError:
    gguf = None


class BadFolders(CaptureCase):
    def copy(self):
        folder = self.folder / "model"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.model, folder)
        return folder

    def run_refused(self, model, says, *arguments):
        arguments = arguments or ("--text", "The")
        self.refused("run", model, *arguments, "-o", self.folder / "out.moire", says=says)
        self.assertEqual(list(self.folder.glob("out.moire*")), [])

    def with_config(self, **changes):
        folder = self.copy()
        config = json.loads((folder / "config.json").read_text())
        for key, value in changes.items():
            config.pop(key)
            if value is not None:
                config[key] = value
        (folder / "config.json").write_text(json.dumps(config))
        return folder

    def with_weights(self, change):
        folder = self.copy()
        header, data = read_safetensors(folder / "model.safetensors")
        data = change(header, data) or data
        write_safetensors(folder / "model.safetensors", header, data)
        return folder

    def test_nothing_there(self):
        self.run_refused(self.folder / "nowhere", "nowhere")

    def test_empty_folder(self):
        (self.folder / "hollow").mkdir()
        self.run_refused(self.folder / "hollow", "config.json")

    def test_a_file_that_is_no_model(self):
        self.run_refused(self.write("model.bin", "something"), "model.bin")

    def test_unknown_architecture(self):
        self.run_refused(self.with_config(architectures=["KlingonForCausalLM"], model_type="klingon"), "(?i)klingon.*Llama")

    def test_missing_key(self):
        self.run_refused(self.with_config(num_attention_heads=None), "num_attention_heads")

    def test_config_is_no_json(self):
        folder = self.copy()
        (folder / "config.json").write_text("{")
        self.run_refused(folder, "config.json")

    def test_weights_missing(self):
        folder = self.copy()
        (folder / "model.safetensors").unlink()
        self.run_refused(folder, "safetensors")

    def test_shard_missing(self):
        folder = self.copy()
        header, _ = read_safetensors(folder / "model.safetensors")
        (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
        names = [n for n in header if n != "__metadata__"]
        index = {"metadata": {}, "weight_map": {n: f"model-0000{1 if i else 2}-of-00002.safetensors" for i, n in enumerate(names)}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        self.run_refused(folder, "model-00002-of-00002.safetensors")

    def test_overlapping_tensors(self):
        def change(header, _):
            a, b = sorted((n for n in header if n.endswith("layernorm.weight")))[:2]
            header[a]["data_offsets"] = header[b]["data_offsets"]
        self.run_refused(self.with_weights(change), "model.safetensors")

    def test_offsets_out_of_range(self):
        def change(header, data):
            begin, end = header["lm_head.weight"]["data_offsets"]
            header["lm_head.weight"]["data_offsets"] = [begin + len(data), end + len(data)]
        self.run_refused(self.with_weights(change), "model.safetensors")

    def test_data_truncated(self):
        self.run_refused(self.with_weights(lambda _, data: data[:-2]), "model.safetensors")

    def test_header_longer_than_the_file(self):
        folder = self.copy()
        raw = (folder / "model.safetensors").read_bytes()
        for size in (len(raw), 1 << 40, (1 << 64) - 1):
            (folder / "model.safetensors").write_bytes(struct.pack("<Q", size) + raw[8:])
            self.run_refused(folder, "model.safetensors")

    def test_tensor_missing(self):
        self.run_refused(self.with_weights(lambda h, _: h.update({"other.weight": h.pop("model.norm.weight")})), "model.norm.weight")

    def test_fewer_layers_than_the_weights_have(self):
        self.run_refused(self.with_config(num_hidden_layers=1), r"does not use: model\.layers\.1\.\S+ and \d+ others")

    def test_bias_that_the_configuration_denies(self):
        def change(header, data):
            header["model.layers.0.self_attn.q_proj.bias"] = {"dtype": "BF16", "shape": [0], "data_offsets": [len(data), len(data)]}
        self.run_refused(self.with_weights(change), r"does not use: model\.layers\.0\.self_attn\.q_proj\.bias")

    def test_tensor_of_another_shape(self):
        self.run_refused(self.with_config(intermediate_size=8), "experts")

    def with_header_text(self, change):
        """The weights with the text of their header changed."""
        folder = self.copy()
        raw = (folder / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        text = change(raw[8:8 + size])
        (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + size:])
        return folder

    def test_broken_headers(self):
        name = rb'"model\.norm\.weight": ?({.*?})'
        for label, change, says in (
                ("twice", lambda text: re.sub(name, rb'\g<0>, "model.norm.weight": \g<1>', text), "twice|overlaps"),
                ("no JSON", lambda text: b"x" * len(text), "not JSON"), ("cut", lambda text: text.rstrip()[:-5], "not JSON"),
                ("empty", lambda text: b"{}", "behind its last tensor"), ("a list", lambda text: b"[]", "not JSON"),
                ("deep", lambda text: b'{"a":' * 1000, "unknown key")):
            with self.subTest(label):
                self.run_refused(self.with_header_text(change), "model.safetensors: .*(" + says + ")")

    def test_broken_entries(self):
        for field, value, says in (
                ("dtype", "F32", "spans"), ("dtype", "I16", "(?i)holds i(nt)?16"), ("dtype", "F8_E4M3", "spans"), ("dtype", "Q7", "unknown dtype Q7"),
                ("dtype", 5, "number"), ("shape", [1 << 40, 1 << 40], "spans"), ("shape", [-32], "negative"), ("shape", "32", "string"),
                ("shape", [1] * 40, "extents"), ("data_offsets", [8, 0], "ends before"), ("data_offsets", [0], "data_offsets"),
                ("data_offsets", [0.5, 2], "integer"), ("data_offsets", [1 << 62, (1 << 62) + 64], "reaches|gap"), ("colour", 1, "unknown key")):
            with self.subTest(f"{field}: {value}"):
                self.run_refused(self.with_weights(lambda h, _, f=field, v=value: h["model.norm.weight"].update({f: v})), says)
        self.run_refused(self.with_weights(lambda h, _: h["model.norm.weight"].pop("dtype") and None), "lacks dtype")

    def test_broken_index(self):
        folder = self.copy()
        (folder / "model.safetensors").unlink()
        for content, says in (("{", "not JSON"), ("[]", "weight_map"), ("{}", "weight_map"), ('{"weight_map": []}', "weight_map"),
                              ('{"weight_map": {"a": 3}}', "string|a"), ('{"weight_map": {"a": "../../x.safetensors"}}', "a"),
                              ('{"weight_map": {"a": "/etc/passwd"}}', "a")):
            with self.subTest(content):
                (folder / "model.safetensors.index.json").write_text(content)
                self.run_refused(folder, "index.json: .*" + says)

    def test_tokenizer_missing(self):
        folder = self.copy()
        (folder / "tokenizer.json").unlink()
        self.run_refused(folder, "tokenizer.json")
        self.refused("tokenize", folder, "--text", "a", says="tokenizer.json")
        # Ids need no tokenizer.
        self.capture("run", folder, "--ids", self.write("ids.json", "[1, 2]"), "-o", self.folder / "ids.moire")
        self.assertIn("lm_head.out", self.capture("taps", folder))

    def test_tokenizer_of_another_kind(self):
        folder = self.copy()
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        tokenizer["model"]["type"] = "Unigram"
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        self.run_refused(folder, "Unigram")

    def test_unreadable(self):
        if os.getuid() != 0:
            self.skipTest("needs to change the user id")
        def become_nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        folder = self.copy()
        for path in (self.shared, self.folder):
            path.chmod(0o755)
        if self.call(CAPTURE, "--version", preexec_fn=become_nobody).returncode != 0:
            self.skipTest("another user cannot start the program")
        (folder / "model.safetensors").chmod(0o600)
        self.refused("taps", folder, says="(?i)permission", preexec_fn=become_nobody)


@unittest.skipIf(gguf is None, "needs the Python package gguf")
class BadGguf(CaptureCase):
    def gguf(self, name="model.gguf"):
        """A tiny Llama in a GGUF file, with the vocabulary of the test's model."""
        vocabulary = json.loads((self.model / "tokenizer.json").read_text())["model"]
        tokens = list(vocabulary["vocab"])
        hidden, heads, width, layers = 32, 2, 64, 1
        random = numpy.random.default_rng(3)
        path = self.folder / name
        w = gguf.GGUFWriter(path, "llama")
        w.add_context_length(64)
        w.add_embedding_length(hidden)
        w.add_block_count(layers)
        w.add_feed_forward_length(width)
        w.add_head_count(heads)
        w.add_head_count_kv(heads)
        w.add_layer_norm_rms_eps(1e-5)
        w.add_rope_freq_base(10000.0)
        w.add_rope_dimension_count(hidden // heads)
        w.add_vocab_size(len(tokens))
        w.add_tokenizer_model("gpt2")
        w.add_tokenizer_pre("gpt-2")
        w.add_token_list(tokens)
        w.add_token_types([3, 3] + [1] * (len(tokens) - 2))
        w.add_token_merges([" ".join(pair) for pair in vocabulary["merges"]])
        w.add_eos_token_id(0)

        def add(tensor, *shape):
            w.add_tensor(tensor, random.standard_normal(shape).astype("<f4") * numpy.float32(0.2))

        add("token_embd.weight", len(tokens), hidden)
        for n in range(layers):
            for tensor in ("attn_q", "attn_k", "attn_v", "attn_output"):
                add(f"blk.{n}.{tensor}.weight", hidden, hidden)
            add(f"blk.{n}.ffn_gate.weight", width, hidden)
            add(f"blk.{n}.ffn_up.weight", width, hidden)
            add(f"blk.{n}.ffn_down.weight", hidden, width)
            for tensor in ("attn_norm", "ffn_norm"):
                w.add_tensor(f"blk.{n}.{tensor}.weight", numpy.ones(hidden, "<f4"))
        w.add_tensor("output_norm.weight", numpy.ones(hidden, "<f4"))
        add("output.weight", len(tokens), hidden)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_tensors_to_file()
        w.close()
        return path

    def test_sound(self):
        path = self.gguf()
        text = "The capital of France, 123 we've <|endoftext|>x"
        self.assertEqual(self.capture("tokenize", path, "--text", text), self.capture("tokenize", self.model, "--text", text))
        out = self.run_model("gguf", "--text", "The", "--max-new", "3", "--ignore-eos", model=path)
        self.assertEqual(self.info(out)["rows"], len(self.capture("tokenize", path, "--text", "The").split()) + 2)

    def test_truncated(self):
        whole = self.gguf().read_bytes()
        places = {0, 3, 4, 12, 24, 100, 5000, len(whole) // 2, len(whole) - 1}
        if os.environ.get("MOIRE_FULL") == "1":
            places |= set(range(0, len(whole), max(1, len(whole) // 300)))
        for size in sorted(places):
            self.refused("run", self.write("cut.gguf", whole[:size]), "--text", "a", "-o", self.folder / "o.moire", says="cut.gguf")

    def test_absurd_counts(self):
        whole = self.gguf().read_bytes()
        for at in (8, 16):  # number of tensors, number of metadata entries
            for count in (1 << 62, (1 << 64) - 1, 1 << 33):
                raw = whole[:at] + struct.pack("<Q", count) + whole[at + 8:]
                self.refused("run", self.write("bad.gguf", raw), "--text", "a", "-o", self.folder / "o.moire", says="bad.gguf")

    def test_broken_metadata(self):
        one = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"a"  # version 3, no tensor, one entry named "a"
        nested = b"".join(struct.pack("<IQ", 9, 1) for _ in range(100_000))
        for label, raw, says in (
                ("version", b"GGUF" + struct.pack("<IQQ", 99, 0, 0), "version 99"), ("byte order", b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "byte order"),
                ("magic", b"GGUX" + bytes(100), "GGUF"), ("no metadata", b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "general.architecture"),
                ("name", b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 63), "broken.gguf"), ("text", one + struct.pack("<IQ", 8, 1 << 50), "broken.gguf"),
                ("array", one + struct.pack("<IIQ", 9, 4, 1 << 50), "broken.gguf"), ("nested", one + struct.pack("<I", 9) + nested, "nested|deep"),
                ("type", one + struct.pack("<I", 77) + bytes(64), "broken.gguf")):
            with self.subTest(label):
                self.refused("taps", self.write("broken.gguf", raw), says=says)

    def test_unknown_tensor_type(self):
        whole = self.gguf().read_bytes()
        name = b"blk.0.attn_q.weight"
        at = whole.index(struct.pack("<Q", len(name)) + name) + 8 + len(name) + 4 + 2 * 8
        self.assertEqual(whole[at:at + 4], struct.pack("<I", 0))
        raw = whole[:at] + struct.pack("<I", 16) + whole[at + 4:]  # IQ2_XXS
        self.refused("run", self.write("type.gguf", raw), "--text", "a", "-o", self.folder / "o.moire", says="(?i)attn_q|type|IQ2")

    def test_unknown_pre_tokenizer(self):
        raw = self.gguf().read_bytes().replace(b"gpt-2", b"gpt-x")
        self.refused("tokenize", self.write("pre.gguf", raw), "--text", "a", says="gpt-x")


if __name__ == "__main__":
    unittest.main()
