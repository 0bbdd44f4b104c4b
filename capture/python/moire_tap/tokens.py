# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What each token id decodes to, from a tokenizer of transformers or tokenizers."""

import json
import re

from .errors import MoireError

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def _byte_alphabet():
    """GPT-2's letters for bytes, as a mapping from letter to byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in plain}
    letters.update({chr(256 + n): byte for n, byte in enumerate(b for b in range(256) if b not in plain)})
    return letters


_ALPHABET = _byte_alphabet()


def _kinds(definition):
    """Every "type" in a tokenizer.json's part."""
    if isinstance(definition, dict):
        yield definition.get("type")
        for value in definition.values():
            yield from _kinds(value)
    elif isinstance(definition, list):
        for value in definition:
            yield from _kinds(value)


def _piece_bytes(piece, byte_level):
    if byte_level:
        if all(letter in _ALPHABET for letter in piece):
            return bytes(_ALPHABET[letter] for letter in piece)
        return piece.encode()
    byte = _BYTE.fullmatch(piece)
    return bytes([int(byte.group(1), 16)]) if byte else piece.replace("\u2581", " ").encode()


def token_bytes(tokenizer):
    """The bytes of ids 0, 1, …; b"" for ids that the tokenizer does not know. A list of bytes is taken as it is."""
    if isinstance(tokenizer, (list, tuple)):
        return [piece if isinstance(piece, bytes) else str(piece).encode() for piece in tokenizer]
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "to_str"):
        definition = json.loads(backend.to_str())
        byte_level = "ByteLevel" in set(_kinds([definition.get("decoder"), definition.get("pre_tokenizer")]))
        added = {token["id"]: token["content"] for token in definition.get("added_tokens", [])}
        pieces = {number: piece for piece, number in backend.get_vocab(with_added_tokens=False).items()}
    elif hasattr(tokenizer, "get_vocab"):
        byte_level = hasattr(tokenizer, "byte_decoder")
        added = {number: str(token) for number, token in getattr(tokenizer, "added_tokens_decoder", {}).items()}
        pieces = {number: piece for piece, number in tokenizer.get_vocab().items()}
    else:
        raise MoireError(f"a {type(tokenizer).__name__} is no tokenizer; give one of transformers or tokenizers")
    known = [b""] * (max([*pieces, *added], default=-1) + 1)
    for number, piece in pieces.items():
        known[number] = _piece_bytes(piece, byte_level)
    for number, content in added.items():
        known[number] = content.encode()
    return known
