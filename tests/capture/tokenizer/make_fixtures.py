# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Writes data/: small byte-level BPE tokenizers trained by the `tokenizers` library, and the ids that library gives
for every string of tricky_strings.py. Run by hand; made with tokenizers 0.23.3:

    python3 make_fixtures.py
"""
import json
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tricky_strings import BYTES, STRINGS

HERE = Path(__file__).resolve().parent / "data"
WORD = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = WORD + r"\p{N}{1,3}" + REST
QWEN2 = WORD + r"\p{N}" + REST
SPECIAL = ["<|begin_of_text|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEXT = """The grating over the other grating shows a pattern; they'd the same weights, and it's not the same at 1024 or 37.
    for (int i = 0; i < rows; ++i) { sum += a[i] * b[i]; }  // 32 lanes
    def norm(x, eps=1e-5):\n        return x / sqrt(mean(x * x) + eps)
Das Gitter läuft über das andere; où est la première différence ? Где же она? النموذج الأول नमस्ते दुनिया
和第二个模型 並べて見る 한국어 🙂👍🏽 The capital of France is Paris. Once upon a time there was a small model that counted tokens.
I'm, you're, we've, she'll, can't, it's, he'd; 12 123 1234 3.14 the the the then there their other another.\r\n\r\n\t\tend
"""


def byte_level(use_regex, prefix=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=use_regex)


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), behavior="isolated")


def train(pre, normalizer=None, alphabet=None, size=420):
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre
    if normalizer:
        tok.normalizer = normalizer
    tok.decoder = decoders.ByteLevel()
    tok.post_processor = processors.ByteLevel(trim_offsets=True)
    tok.train_from_iterator([TEXT], trainers.BpeTrainer(
        vocab_size=size, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet is None else alphabet))
    return tok


def with_bos(tok):
    tok.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single=f"{SPECIAL[0]} $A", special_tokens=[(SPECIAL[0], tok.token_to_id(SPECIAL[0]))])])
    return tok


def with_added(tok):
    """Every switch of an added token, contents that are prefixes of each other, ids beyond the vocabulary."""
    tok.add_tokens([AddedToken("<mask>", lstrip=True, normalized=False), AddedToken("MARK", single_word=True, normalized=False),
                    AddedToken("<strip>", lstrip=True, rstrip=True, normalized=False), AddedToken("café!", normalized=True),
                    AddedToken("MARKED", normalized=True), AddedToken("<a>", normalized=False), AddedToken("<ab>", normalized=False),
                    AddedToken("<abc>", rstrip=True, normalized=False)])
    tok.add_special_tokens([f"<|reserved_{i}|>" for i in range(10)])
    tok.post_processor = processors.TemplateProcessing(
        single=f"{SPECIAL[0]} $A {SPECIAL[3]}",
        special_tokens=[(t, tok.token_to_id(t)) for t in (SPECIAL[0], SPECIAL[3])])
    return tok


def edited(tok, **model):
    """The tokenizer with fields of its model overwritten."""
    description = json.loads(tok.to_str())
    description["model"].update(model)
    return Tokenizer.from_str(json.dumps(description))


def string_merges(tok):
    """The older spelling of merges: one string each."""
    description = json.loads(tok.to_str())
    description["model"]["merges"] = [" ".join(pair) for pair in description["model"]["merges"]]
    return json.dumps(description, ensure_ascii=False)


def make():
    digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(True)])
    llama3 = pre_tokenizers.Sequence([split(LLAMA3), byte_level(False)])
    qwen2 = pre_tokenizers.Sequence([split(QWEN2), byte_level(False)])
    made = {
        "smollm": train(digits),
        "llama3": with_bos(edited(train(llama3), ignore_merges=True)),
        "qwen2": with_added(train(qwen2, normalizer=normalizers.NFC())),
        "gpt2": train(byte_level(True)),
        "prefix_space": train(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=False), byte_level(True, True)])),
        # Bytes without a token: they vanish, or become the unknown token.
        "few_bytes": train(byte_level(True), alphabet=[chr(c) for c in range(33, 127)], size=330),
    }
    made["unknown"] = edited(made["few_bytes"], unk_token="<|endoftext|>")
    return made


def main():
    HERE.mkdir(exist_ok=True)
    expected = {"origin": f"tokenizers {tokenizers.__version__}, make_fixtures.py", "strings": STRINGS,
                "bytes": [b.hex() for b in BYTES], "ids": {}, "ids_of_bytes": {}, "decoded": {}}
    for name, tok in make().items():
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        text = string_merges(tok) if name in ("gpt2", "few_bytes") else json.dumps(json.loads(tok.to_str()), ensure_ascii=False)
        (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8")
        saved = Tokenizer.from_file(str(folder / "tokenizer.json"))
        expected["ids"][name] = [saved.encode(s).ids for s in STRINGS]
        expected["ids_of_bytes"][name] = [saved.encode(b.decode("utf-8", "replace")).ids for b in BYTES]
        expected["decoded"][name] = [saved.decode(i, skip_special_tokens=False) for i in expected["ids"][name]]
    (HERE / "expected.json").write_text(json.dumps(expected, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(len(STRINGS), "strings,", len(BYTES), "byte strings,", {f.name: f.stat().st_size for f in HERE.rglob("*.json")})


if __name__ == "__main__":
    main()
