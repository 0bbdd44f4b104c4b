# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Headers of messages as CBOR (PROTOCOL.md, section 2): maps with text keys, definite lengths, no tags, nothing evaluated."""

import struct

import numpy as np

from .errors import MoireError

MAX_NESTING = 16
_LENGTHS = {24: 1, 25: 2, 26: 4, 27: 8}
_FLOATS = {25: "e", 26: "f", 27: "d"}
_SIMPLE = {20: False, 21: True, 22: None}


def _head(kind, number):
    if number < 24:
        return bytes([kind << 5 | number])
    for code, size in _LENGTHS.items():
        if number < 1 << 8 * size:
            return bytes([kind << 5 | code]) + number.to_bytes(size, "big")
    raise MoireError(f"{number} does not fit into 64 bits")


def encode(value):
    """Bytes of a value. Text that holds bytes in surrogates (not UTF-8) travels as a byte string."""
    pieces = []
    _encode(value, pieces.append)
    return b"".join(pieces)


def _encode(value, add):
    if value is None or isinstance(value, (bool, np.bool_)):
        add(b"\xf6" if value is None else b"\xf5" if value else b"\xf4")
    elif isinstance(value, (int, np.integer)):
        add(_head(0, int(value)) if value >= 0 else _head(1, -1 - int(value)))
    elif isinstance(value, (float, np.floating)):
        add(b"\xfb" + struct.pack(">d", value))
    elif isinstance(value, str):
        try:
            data = value.encode()
            add(_head(3, len(data)) + data)
        except UnicodeEncodeError:
            data = value.encode("utf-8", "surrogateescape")
            add(_head(2, len(data)) + data)
    elif isinstance(value, (bytes, bytearray)):
        add(_head(2, len(value)) + bytes(value))
    elif isinstance(value, dict):
        add(_head(5, len(value)))
        for key, item in value.items():
            _encode(key, add)
            _encode(item, add)
    else:
        add(_head(4, len(value)))
        for item in value:
            _encode(item, add)


def decode(data, max_items):
    """The map that `data` holds, all of it. Errors: one sentence; never takes more memory than a small multiple of `data`."""
    reader = _Reader(bytes(data), max_items)
    value = reader.value(0)
    if reader.place != len(reader.data):
        raise MoireError("bytes follow the header's map")
    if not isinstance(value, dict):
        raise MoireError("a header is no map")
    return value


class _Reader:
    def __init__(self, data, max_items):
        self.data, self.place, self._left = data, 0, max_items

    def _take(self, count):
        if count > len(self.data) - self.place:
            raise MoireError("a header ends too early")
        piece = self.data[self.place:self.place + count]
        self.place += count
        return piece

    def value(self, depth):
        self._left -= 1
        if self._left < 0 or depth > MAX_NESTING:
            raise MoireError("a header holds too many items or is nested too deeply")
        first = self._take(1)[0]
        kind, code = first >> 5, first & 31
        if kind == 7:
            return self._simple(code)
        if code > 27 or kind == 6:
            raise MoireError("a header holds a tag, an indefinite length or a reserved code")
        number = code if code < 24 else int.from_bytes(self._take(_LENGTHS[code]), "big")
        if kind < 2:
            if number >= 1 << 63:
                raise MoireError("an integer beyond 64 bits with sign")
            return number if kind == 0 else -1 - number
        if kind < 4:
            return self._text(self._take(number), kind)
        if number * (kind - 3) > min(self._left, len(self.data) - self.place):
            raise MoireError("a header says more items than it has bytes")
        if kind == 4:
            return [self.value(depth + 1) for _ in range(number)]
        return self._map(number, depth)

    def _map(self, count, depth):
        fields = {}
        for _ in range(count):
            key = self.value(depth + 1)
            if not isinstance(key, str) or key in fields:
                raise MoireError("a map's key that is no text or comes twice")
            fields[key] = self.value(depth + 1)
        return fields

    @staticmethod
    def _text(piece, kind):
        if kind == 2:
            return piece
        try:
            return piece.decode()
        except UnicodeDecodeError:
            raise MoireError("a text that is not UTF-8") from None

    def _simple(self, code):
        if code in _SIMPLE:
            return _SIMPLE[code]
        if code not in _FLOATS:
            raise MoireError("a header holds a value of no meaning")
        return struct.unpack(">" + _FLOATS[code], self._take(_LENGTHS[code]))[0]
