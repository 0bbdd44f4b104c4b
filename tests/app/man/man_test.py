# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Every option and command of --help stands in the manual page, and the page names no other:
man_test.py PROGRAM PAGE [COMMAND...]."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

program, page_file, *commands = sys.argv[1:]
page = Path(page_file).read_text()
text = re.sub(r'\\f[BRI]|^\.\S+ |"', " ", page.replace(r"\-", "-"), flags=re.M)
environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
helped = set()
for command in [[], *([c] for c in commands)]:
    done = subprocess.run([program, *command, "--help"], capture_output=True, env=environment, check=True)
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", done.stdout.decode()))
    options |= set(re.findall(r"^  (-\w),--", done.stdout.decode(), re.M))
    assert "--help" in options, command
    helped |= options
written = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) | set(re.findall(r"(?<![\w-])-\w(?![\w-])", text))
assert helped <= written, f"not in {page_file}: {sorted(helped - written)}"
assert written <= helped, f"only in {page_file}: {sorted(written - helped)}"
for command in commands:
    assert re.search(rf"\b{command}\b", text), command
if shutil.which("groff"):
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page_file], capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
