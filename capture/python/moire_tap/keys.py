# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""CURVE keys as files (PROTOCOL.md, section 8), as moire-capture keygen writes them."""

import os
import re
from dataclasses import dataclass

import zmq

from .errors import MoireError

_KEY = re.compile(r"(secret |public |)([0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40})")
_LARGEST_FILE = 4096


@dataclass
class KeyPair:
    public: str
    secret: str


def _keys_in(path):
    """{label: key} of a file's lines; a line of its own has the label ""."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            lines = file.read(_LARGEST_FILE).splitlines()
    except OSError as error:
        raise MoireError(f"cannot read the key {path}: {error.strerror}; moire-capture keygen makes one") from error
    found = [_KEY.fullmatch(line.rstrip()) for line in lines if not line.startswith("#")]
    return {match[1].strip(): match[2] for match in found if match}


def read_pair(path):
    """The pair in NAME.key; refused where others than its owner can read it."""
    secret = _keys_in(path).get("secret")
    if os.stat(path).st_mode & 0o077:
        raise MoireError(f"others can read the secret key {path}; chmod 600 it, and make a new one if it was copied")
    if secret is None:
        raise MoireError(f"{path} holds no secret key; moire-capture keygen makes one")
    return KeyPair(zmq.curve_public(secret.encode()).decode(), secret)


def read_public(path):
    key = _keys_in(path).get("")
    if key is None:
        raise MoireError(f"{path} holds no public key; moire-capture keygen makes one")
    return key


def authorised_keys(folder):
    """The keys of all *.pub files of a folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise MoireError(f"cannot read the folder of keys {folder}: {error.strerror}") from error
    return {read_public(os.path.join(folder, name)) for name in names if name.endswith(".pub")}
