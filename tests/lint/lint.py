#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the tree that a machine can check. Usage: lint.py ROOT CHECK; prints each breach, exit 1 if any."""

import pathlib
import re
import shutil
import subprocess
import sys

CPP = (".h", ".cpp", ".cu", ".hip")
SKIPPED = {"build", ".git", "LICENSES", "data", "node_modules", "__pycache__"}

# Which folders a folder may include from, besides itself. The order of HOUSE and ARCHITECTURE.md.
ALLOWED = {
    "core/base": set(),
    "core/numeric": {"core/base"},
    "core/settings": {"core/base"},
    "core/arith": {"core/base", "core/numeric"},
    "core/trace": {"core/base", "core/numeric"},
    "core/store": {"core/base", "core/numeric", "core/trace"},
    "core/wire": {"core/base", "core/numeric", "core/trace"},
    "core/import": {"core/base", "core/numeric", "core/trace"},
    "core/diff/statistics": {"core/base", "core/numeric"},
    "core/diff": {"core/base", "core/numeric", "core/settings", "core/arith", "core/trace"},
    "core/report": {"core/base", "core/numeric", "core/trace", "core/diff"},
    "capture/model": {"core"},
    "capture/device": {"core/base", "core/numeric", "core/trace"},
    "capture/engine": {"core", "capture/model", "capture/device"},
    "capture/task": {"core", "capture/model"},
    "capture/server": {"core", "capture/model", "capture/engine", "capture/task"},
    "widgets/jobs": {"core/base"},
    "widgets/models": {"core", "widgets/jobs"},
    "widgets/plot": {"core", "widgets/jobs", "widgets/models"},
    "widgets/views": {"core", "widgets/jobs", "widgets/models", "widgets/plot"},
    "widgets/dialogs": {"core", "widgets/jobs", "widgets/models", "widgets/plot", "widgets/views"},
    "app/terminal": {"core/base"},
    "app/diff": {"core", "app/terminal"},
    "app/capture": {"core", "capture", "app/terminal"},
    "app/gui": {"core", "widgets", "app/terminal"},
}

# Third-party headers and the only places that may include them.
HOMES = [
    (r"<(hdf5|H5\w*)\.h", ("core/store",)),
    (r"<zmq", ("core/wire", "tests/bench/live")),
    (r"<(torch|ATen|c10)/", ("capture/engine",)),
    (r"<(cuda|hip)[/_]", ("capture/device",)),
    (r"<qcustomplot", ("widgets/plot",)),
    (r"<Q[A-Z]", ("widgets", "app/gui", "tests")),
]

LIMITS = {"header": 250, "source": 450, "test": 600}


def files(root: pathlib.Path, *suffixes: str):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file() and path.suffix in suffixes and not SKIPPED.intersection(relative.parts):
            yield path, relative


def includes(path: pathlib.Path):
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.match(r'\s*#\s*include\s+(["<][^">]+)[">]', line)
        if found:
            yield found.group(1)


def inside(folder: str, place: str) -> bool:
    return folder == place or folder.startswith(place + "/")


def check_layers(root):
    for path, relative in files(root, *CPP):
        folder = relative.parent.as_posix()
        allowed = next((ALLOWED[room] for room in ALLOWED if inside(folder, room)), None)
        room = next((room for room in ALLOWED if inside(folder, room)), folder)
        for name in includes(path):
            if name.startswith('"'):
                seen = name[1:]
                if "../" in seen or not (root / seen).exists():
                    if not seen.endswith(".moc"):
                        yield f"{relative}: includes are written from the root of the tree: {seen}"
                elif allowed is not None and not any(inside(seen, place) for place in allowed | {room}):
                    yield f"{relative}: {room} may not see {seen}"
            else:
                for pattern, places in HOMES:
                    if re.match(pattern, name) and not any(inside(folder, place) for place in places):
                        if not folder.startswith("tests"):
                            yield f"{relative}: {name}> belongs to {', '.join(places)} only"


def check_cycles(root):
    """No two folders, and no two headers, include each other, over any number of steps."""
    for level in ("folder", "header"):
        edges = {}
        for path, relative in files(root, *CPP):
            if relative.parts[0] == "tests" or (level == "header" and path.suffix != ".h"):
                continue
            start = relative.parent.as_posix() if level == "folder" else relative.as_posix()
            for name in includes(path):
                if name.startswith('"') and (root / name[1:]).exists():
                    end = pathlib.PurePosixPath(name[1:])
                    end = end.parent.as_posix() if level == "folder" else end.as_posix()
                    if end != start:
                        edges.setdefault(start, set()).add(end)
        state = {}

        def visit(node, trail):
            state[node] = "open"
            for following in sorted(edges.get(node, ())):
                if state.get(following) == "open":
                    yield f"{level} cycle: " + " → ".join(trail[trail.index(following):] + [following])
                elif following not in state:
                    yield from visit(following, trail + [following])
            state[node] = "closed"

        for node in sorted(edges):
            if node not in state:
                yield from visit(node, [node])


def check_sizes(root):
    for path, relative in files(root, *CPP, ".py", ".sh", ".cmake"):
        kind = "test" if relative.parts[0] == "tests" else "header" if path.suffix == ".h" else "source"
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LIMITS[kind]:
            yield f"{relative}: {lines} lines, a {kind} has at most {LIMITS[kind]}"


def check_spdx(root):
    for path, relative in files(root, *CPP, ".py", ".sh", ".cmake"):
        folder = relative.parent.as_posix()
        gui = any(inside(folder, place) for place in ("widgets", "app/gui", "tests/widgets", "tests/app/gui", "tests/bench/widgets"))
        licences = ("GPL-3.0-or-later",) if folder in ("app/gui",) or inside(folder, "widgets") else (
            ("GPL-3.0-or-later", "Apache-2.0") if gui else ("Apache-2.0",))
        head = "\n".join(path.read_text(encoding="utf-8").splitlines()[:4])
        if "SPDX-FileCopyrightText: 2026 Moire contributors" not in head:
            yield f"{relative}: no SPDX-FileCopyrightText line"
        if not any(f"SPDX-License-Identifier: {licence}" in head for licence in licences):
            yield f"{relative}: SPDX-License-Identifier should be {' or '.join(licences)}"


def check_documents(root):
    """A document names only files that exist: `path/with.suffix` and links."""
    for path, relative in files(root, ".md"):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        names = re.findall(r"`([\w.-]+(?:/[\w.{}-]+)+\.\w+)`", text)
        names += [name for name in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in name]
        for name in names:
            if name.startswith("build/") or "{" in name or "<" in name:
                continue
            if not any((place / name).exists() for place in (root, path.parent)):
                yield f"{relative}: names {name}, which does not exist"


def check_words(root):
    for path, relative in files(root, *CPP, ".py", ".sh", ".cmake", ".md", ".txt"):
        if relative.name == "lint.py":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b(?! *\(#\d+\))", line):
                yield f"{relative}:{number}: a TODO needs an issue number"
            if re.search(r"\.\./shared|(^|[\s\"'`(=])/(work|root|farm)/", line):
                yield f"{relative}:{number}: points outside the project"


def check_format(root):
    tool = next((name for name in ("clang-format-14", "clang-format") if shutil.which(name)), None)
    if tool is None:
        print("clang-format is not installed; skipped")
        sys.exit(77)
    paths = [str(path) for path, _ in files(root, ".h", ".cpp", ".cu")]
    done = subprocess.run([tool, "--dry-run", "-Werror", *paths], capture_output=True, text=True, check=False)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})
    for path in wrong:
        yield f"{pathlib.Path(path).relative_to(root)}: not as clang-format writes it"


CHECKS = {name.removeprefix("check_"): function for name, function in list(globals().items()) if name.startswith("check_")}


def main() -> int:
    root, check = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    breaches = list(CHECKS[check](root))
    print("\n".join(breaches))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
