# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""core/wire/PROTOCOL.md and core/wire/protocol.h hold the same words and numbers."""

import os
import re
import sys
from pathlib import Path

WIRE = Path(os.environ["MOIRE_SOURCE"]) / "core/wire"
SIZES = {"MiB": 2**20, "GiB": 2**30, "s": 1}


def header_words(text):
    """By namespace: the words of protocol.h."""
    words = {}
    for name, body in re.findall(r"namespace (type|reason|state|frame) \{(.*?)\} // namespace", text, re.S):
        words[name] = set(re.findall(r'string_view \w+ =\s*"([^"]+)"', body))
    return words


def header_numbers(text):
    numbers = {}
    for name, value in re.findall(r"inline constexpr (?:std::size_t|std::uint64_t|unsigned|int) (\w+) =\s*([^;]+);", text):
        shifted = re.fullmatch(r"std::(?:size_t|uint64_t)\{(\d+)\} << (\d+)U", value)
        numbers[name] = int(shifted[1]) << int(shifted[2]) if shifted else int(value)
    return numbers


def column(section, number):
    """The words in backticks of a column of a section's tables."""
    words = set()
    for line in section.splitlines():
        cells = line.split("|")
        if line.startswith("|") and len(cells) > number + 1 and not set(cells[1]) <= set("- "):
            words |= set(re.findall(r"`([a-z-]+)`", cells[number]))
    return words


def sections(text):
    parts = re.split(r"^## (\d+)\..*$", text, flags=re.M)
    return {int(n): body for n, body in zip(parts[1::2], parts[2::2])}


def main():
    header = (WIRE / "protocol.h").read_text()
    document = (WIRE / "PROTOCOL.md").read_text()
    words, numbers, parts = header_words(header), header_numbers(header), sections(document)
    wrong = []

    requests, rest = parts[3].split("`refused`: `reason`", 1)
    reasons = column(rest, 1)
    messages, frames = parts[4].split("**Frames of `rows`**", 1)
    types = (column(requests, 1) | column(requests, 3) | column(messages, 1) | column(parts[5], 2) | {"refused"}) - {"t"}
    states = set(re.findall(r"`([a-z]+)`", re.search(r"States of a run:(.*?)\.\n", messages, re.S)[1])) - {"lossless"}
    for name, documented in (("type", types), ("reason", reasons), ("state", states), ("frame", column(frames, 1))):
        for word in sorted(words[name] ^ documented):
            wrong.append(f"{name} {word}: only in {'protocol.h' if word in words[name] else 'PROTOCOL.md'}")

    said = {}
    for number, unit, name in re.findall(r"([\d,]+)(?: (MiB|GiB|s)\b)?[^`\d]{0,24}\(`(\w+)`\)", document):
        said[name] = int(number.replace(",", "")) * SIZES[unit or "s"]
    for power, name in re.findall(r"2\^(\d+) bytes \(`(\w+)`\)", document):
        said[name] = 2 ** int(power)
    said["protocolVersion"] = int(re.search(r"^Version (\d+)\.", document, re.M)[1])
    said["runFormat"] = int(re.search(r"`format` int \((\d+)\)", document)[1])
    said["defaultPort"] = int(re.search(r"control socket, port (\d+)", document)[1])
    for name, value in numbers.items():
        if said.get(name) != value:
            wrong.append(f"{name} is {value} in protocol.h and {said.get(name)} in PROTOCOL.md")
    print("\n".join(wrong) or f"{sum(map(len, words.values()))} words and {len(numbers)} numbers are the same")
    return 1 if wrong else 0


sys.exit(main())
