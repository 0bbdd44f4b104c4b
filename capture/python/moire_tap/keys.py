# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""CURVE keys as files (PROTOCOL.md, section 8), as moire-capture keygen writes them."""

import os
import re
from dataclasses import dataclass

import zmq

from .errors import MoireError

_KEY = re.compile(r"(?<![^\s\"=:])[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}(?![^\s\"])")
_LARGEST_FILE = 1 << 16


@dataclass
class KeyPair:
    public: str
    secret: str


def _keys_in(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read(_LARGEST_FILE)
    except OSError as error:
        raise MoireError(f"cannot read the key {path}: {error.strerror}; moire-capture keygen makes one") from error
    return _KEY.findall(text)


def read_pair(path):
    """The pair in NAME.key; refused where others than its owner can read it."""
    found = _keys_in(path)
    if os.stat(path).st_mode & 0o077:
        raise MoireError(f"others can read the secret key {path}; chmod 600 it, and make a new one if it was copied")
    for secret in found:
        public = zmq.curve_public(secret.encode()).decode()
        if public in found:
            return KeyPair(public, secret)
    raise MoireError(f"{path} holds no secret key with its public one; moire-capture keygen makes one")


def read_public(path):
    found = _keys_in(path)
    if not found:
        raise MoireError(f"{path} holds no public key; moire-capture keygen makes one")
    return found[0]


def authorised_keys(folder):
    """The keys of all *.pub files of a folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise MoireError(f"cannot read the folder of keys {folder}: {error.strerror}") from error
    return {read_public(os.path.join(folder, name)) for name in names if name.endswith(".pub")}
