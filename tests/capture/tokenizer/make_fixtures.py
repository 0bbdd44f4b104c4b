# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Writes data/: small BPE tokenizers trained by the `tokenizers` and `sentencepiece` libraries, and the ids those
libraries give for every string of tricky_strings.py. Run by hand; made with tokenizers 0.23.3 and sentencepiece 0.2.3:

    python3 make_fixtures.py
"""
import io
import json
from pathlib import Path

import sentencepiece
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


BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
CONTROLS = ["<unk>", "<s>", "</s>"]


def train_characters(model, normalizer, pre, byte_tokens=True):
    """As SentencePiece's: characters, spaces as marks; the pre-tokenizer and normalizer only for training are others."""
    tok = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=byte_tokens))
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    tok.train_from_iterator([TEXT], trainers.BpeTrainer(
        vocab_size=620 if byte_tokens else 330, special_tokens=CONTROLS + (BYTE_TOKENS if byte_tokens else []),
        limit_alphabet=100, show_progress=False))
    description = json.loads(tok.to_str())
    description["added_tokens"] = [t for t in description["added_tokens"] if t["content"] in CONTROLS]
    description["model"].update(model)
    description["normalizer"] = normalizer
    description["pre_tokenizer"] = pre
    description["post_processor"] = json.loads(processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]).__getstate__())
    return Tokenizer.from_str(json.dumps(description))


def characters():
    mark = "\u2581"
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": mark}
    prepend = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": mark}, replace]}

    def metaspace(scheme, words):
        return {"type": "Metaspace", "replacement": mark, "prepend_scheme": scheme, "split": words}
    return {
        "llama2": train_characters({}, prepend, None),
        "mistral": train_characters({"ignore_merges": False}, None, metaspace("first", False)),
        "marked_words": train_characters({}, None, metaspace("always", True), byte_tokens=False),
        "unmarked": train_characters({"fuse_unk": False}, None, metaspace("never", False), byte_tokens=False),
    }


def sentence_pieces():
    """Settings as Llama 2's."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.splitlines()), model_writer=model, model_type="bpe", vocab_size=600, byte_fallback=True,
        character_coverage=0.98, normalization_rule_name="identity", remove_extra_whitespaces=False, split_digits=True,
        allow_whitespace_only_pieces=True, add_dummy_prefix=True, num_threads=1, minloglevel=2)
    return model.getvalue()


def piece_type(model, i):
    """As GGUF numbers them."""
    return 2 if model.IsUnknown(i) else 3 if model.IsControl(i) else 6 if model.IsByte(i) else 5 if model.IsUnused(i) else 1


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
    return made | characters()


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
        if name not in characters():  # whose decoders take spaces off the text as a whole
            expected["decoded"][name] = [saved.decode(i, skip_special_tokens=False) for i in expected["ids"][name]]
    folder = HERE / "sentencepiece"
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.model").write_bytes(sentence_pieces())
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    # The library alone takes control tokens for text; strings with one are left out of the test.
    expected["ids"]["sentencepiece"] = [[1] + model.encode(s) for s in STRINGS]
    expected["ids_of_bytes"]["sentencepiece"] = [[1] + model.encode(b.decode("utf-8", "replace")) for b in BYTES]
    expected["pieces"] = [[model.IdToPiece(i), model.GetScore(i), piece_type(model, i)] for i in range(model.GetPieceSize())]
    (HERE / "expected.json").write_text(json.dumps(expected, ensure_ascii=True, separators=(",", ":")) + "\n")
    print(len(STRINGS), "strings,", len(BYTES), "byte strings,", {f.name: f.stat().st_size for f in HERE.rglob("*.json")})


if __name__ == "__main__":
    main()
