# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Every option and command of --help stands in the manual page, each with its default, and the page
names no other:
man_test.py PROGRAM PAGE [COMMAND...]."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

program, page_file, *commands = sys.argv[1:]
page = Path(page_file).read_text()


def plain(source):
    """Without roff's requests, on one line."""
    return re.sub(r"\s+", " ", re.sub(r'\\f[BRI]|^\.\S+ |"', " ", source.replace(r"\-", "-"), flags=re.M))


def entries(shown):
    """Options of a --help with what stands behind them."""
    for entry in re.split(r"\n(?=  -|\n)", shown):
        option = re.match(r"\s*(?:-\w,)?(--[a-z][a-z-]*)", entry)
        if option:
            yield option[1], re.sub(r"\s+", " ", entry)


text = plain(page)
blocks = [plain(block) for block in page.split("\n.TP\n")[1:]]
environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
helped = set()
for command in [[], *([c] for c in commands)]:
    done = subprocess.run([program, *command, "--help"], capture_output=True, env=environment, check=True)
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", done.stdout.decode()))
    options |= set(re.findall(r"^  (-\w),--", done.stdout.decode(), re.M))
    assert "--help" in options, command
    helped |= options
    for option, words in entries(done.stdout.decode()):
        default = re.search(r"\(default: .*?\)(?=[\s;,.]|$)", words)
        if default:
            told = [b for b in blocks if re.search(rf"(?<![\w-]){option}(?![\w-])", b)]
            assert any(default[0] in b for b in told), f"{page_file}, {option}: lacks '{default[0]}'"
written = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) | set(re.findall(r"(?<![\w-])-\w(?![\w-])", text))
assert helped <= written, f"not in {page_file}: {sorted(helped - written)}"
assert written <= helped, f"only in {page_file}: {sorted(written - helped)}"
for command in commands:
    assert re.search(rf"\b{command}\b", text), command
if shutil.which("groff"):
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page_file], capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
