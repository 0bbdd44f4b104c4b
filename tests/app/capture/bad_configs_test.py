# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""config.json and tokenizer.json, key by key: missing, of a wrong type, out of range; every refusal names file and key.
The long form (MOIRE_FULL=1) tries every wrong value with every key."""
import json
import os
import shutil
import unittest

from capture_case import CaptureCase

FULL = os.environ.get("MOIRE_FULL") == "1"

COUNTS = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_experts",
          "num_experts_per_tok", "max_position_embeddings")
NO_COUNTS = ("32", [32], {}, True, 2.5, 0, -1, 1 << 40, 1e300)
NO_POSITIVE = ("1", [1], {}, False, 0, -1.5)
NO_FLAG = ("true", 1, [], {})
NO_TEXT = (3, ["a"], {}, True)


class BadConfigs(CaptureCase):
    def setUp(self):
        super().setUp()
        self.copy = self.folder / "model"
        shutil.copytree(self.model, self.copy)

    def refused_with(self, file, change, says):
        """The model with one file changed."""
        path = self.copy / file
        before = path.read_text()
        content = json.loads(before)
        changed = change(content)
        path.write_text(json.dumps(content if changed is None else changed))
        command = ("tokenize", self.copy, "--text", "a") if file == "tokenizer.json" else ("taps", self.copy)
        self.refused(*command, says=rf"{file}: .*{says}")
        path.write_text(before)

    def refused_value(self, key, value):
        with self.subTest(f"{key}: {value!r}"):
            self.refused_with("config.json", lambda c: c.update({key: value}), key)

    def wrong_values(self, keys, values):
        """Every key with a value of its own, or with all of them."""
        for i, key in enumerate(keys):
            for value in values if FULL else [values[i % len(values)]]:
                self.refused_value(key, value)

    def test_missing(self):
        for key in (*COUNTS, "architectures", "rms_norm_eps"):
            with self.subTest(key):
                self.refused_with("config.json", lambda c, key=key: c.pop(key) and None, f"no key {key}")
        self.refused_value("hidden_size", None)

    def test_wrong_counts(self):
        self.wrong_values((*COUNTS, "num_key_value_heads", "head_dim"), NO_COUNTS)

    def test_wrong_numbers(self):
        self.wrong_values(("rms_norm_eps", "rope_theta", "clip_qkv"), NO_POSITIVE)

    def test_wrong_flags(self):
        self.wrong_values(("norm_topk_prob", "attention_bias", "tie_word_embeddings"), NO_FLAG)

    def test_wrong_names(self):
        self.wrong_values(("hidden_act", "torch_dtype"), NO_TEXT)
        for key, value in (("architectures", []), ("architectures", "OlmoeForCausalLM"), ("architectures", [3]),
                           ("torch_dtype", "int8"), ("hidden_act", "gelu"), ("eos_token_id", -1), ("eos_token_id", ["a"])):
            self.refused_value(key, value)

    def test_wrong_rotation(self):
        for value, says in ((3, "rope_scaling"), ({"rope_type": "longrope", "factor": 2}, "longrope"), ({"rope_type": "yarn", "factor": "2"}, "factor"), ({"rope_type": "linear"}, "factor"),
                            ({"rope_type": 5}, "rope_type"), ({"rope_type": "llama3", "factor": 8.0}, "low_freq_factor"),
                            ({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 1.0,
                              "original_max_position_embeddings": 64}, "high_freq_factor")):
            with self.subTest(str(value)):
                self.refused_with("config.json", lambda c, value=value: c.update(rope_scaling=value), says)
        self.refused_value("partial_rotary_factor", 0.5)

    def test_wrong_together(self):
        for changes, says in (({"num_attention_heads": 5}, "hidden_size"), ({"num_key_value_heads": 3}, "key-value heads"),
                              ({"num_experts_per_tok": 9}, "9 experts of 4"), ({"quantization_config": {"bits": 4}}, "quantised")):
            with self.subTest(str(changes)):
                self.refused_with("config.json", lambda c, changes=changes: c.update(changes), says)

    def test_no_object(self):
        for content in ([], [[]], 3, "x", None):
            with self.subTest(repr(content)):
                path = self.copy / "config.json"
                path.write_text(json.dumps(content))
                self.refused("taps", self.copy, says="config.json: holds no JSON object")
        for content in ("", "{", "{" * 100, '{"a": 1, "a": 2}', '{"a": 1e9999}', b"\xff\xfe", "[" * 100000):
            with self.subTest(repr(content[:20])):
                (self.copy / "config.json").write_bytes(content if isinstance(content, bytes) else content.encode())
                self.refused("taps", self.copy, says="config.json")

    def test_tokenizer(self):
        for change, says in ((lambda t: [], "tokenizer"), (lambda t: {}, "'?model"), (lambda t: t.update(model=[]), "tokenizer"),
                             (lambda t: t["model"].pop("vocab") and None, "vocab"),
                             (lambda t: t["model"].pop("merges") and None, "merges"),
                             (lambda t: t["model"].update(vocab={"a": "b"}), "vocab|number|tokenizer"),
                             (lambda t: t["model"].update(vocab={"a": 1 << 60}), "id|vocab"),
                             (lambda t: t["model"].update(merges=["one"]), "merge"),
                             (lambda t: t["model"].update(merges=[["no such", "tokens"]]), "merge|token"),
                             (lambda t: t["model"].update(type="WordPiece"), "WordPiece"),
                             (lambda t: t.update(pre_tokenizer={"type": "BertPreTokenizer"}), "BertPreTokenizer"),
                             (lambda t: t.update(pre_tokenizer={}), "tokenizer"),
                             (lambda t: t.update(added_tokens=[{"id": -1, "content": "x"}]), "tokenizer|id|token")):
            said = says
            with self.subTest(said):
                self.refused_with("tokenizer.json", change, said)
        (self.copy / "tokenizer.json").write_bytes(b"")
        self.refused("tokenize", self.copy, "--text", "a", says="tokenizer.json: is not JSON")


if __name__ == "__main__":
    unittest.main()
