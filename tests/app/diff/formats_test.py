# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""CSV, Markdown, JUnit and HTML of moire-diff, read by someone else: formats_test.py MOIRE-DIFF MAKE_CAPTURES SCHEMA."""
import base64
import csv
import html.parser
import io
import json
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

import junitparser
import numpy as np

from diff_case import FOLDER, Case, main, pair, run


class Page(html.parser.HTMLParser):
    """Collects tags, attributes and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, k, v) for k, v in attrs]

    def handle_data(self, data):
        self.text.append(data)


def decode_png(data):
    """A 4-bit palette PNG by its specification; checks every CRC and zlib's checksum."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        kind, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (4, 3)
    lines = zlib.decompress(chunks[b"IDAT"])
    stride = 1 + (width + 1) // 2
    picture = np.zeros((height, width), int)
    for y in range(height):
        line = lines[y * stride:(y + 1) * stride]
        assert line[0] == 0
        picture[y] = [line[1 + x // 2] >> (4 if x % 2 == 0 else 0) & 15 for x in range(width)]
    return picture


class OtherFormats(Case):
    NAMES = ("bf16", "moe", "free", "wild", "digest", "hostile", "mixed")

    def test_csv_holds_the_numbers_of_the_json(self):
        for name in self.NAMES:
            report = json.loads(run(*pair(name), "--format", "json").stdout)
            table = list(csv.DictReader(io.StringIO(run(*pair(name), "--format", "csv").stdout.decode(), newline="")))
            self.assertTrue(all(None not in row and None not in row.values() for row in table))
            of = {(r["scope"], r["name"], r["id"]): r for r in table}
            self.assertEqual(len(of), len(table))
            self.assertEqual(of["verdict", "", ""]["note"], report["verdict"])
            groups = [("all", "", report["measures"])] + [("tap", t["name"], t["measures"]) for t in report["taps"]]
            for scope, place, measures in groups:
                for key, measure in measures.items():
                    row = of[scope, place, key]
                    self.assertEqual(row["value"] and float(row["value"]), "" if measure["value"] is None else measure["value"])
                    self.assertEqual(int(row["n"]), measure["n"])
                    if measure["interval"]:
                        self.assertEqual([float(row["low"]), float(row["high"])],
                                         [float(measure["interval"][k]) for k in ("low", "high")])
                    for part, value in measure.get("parameters", {}).items():
                        self.assertEqual(float(of[scope, place, f"{key}.{part}"]["value"]), float(value))

    def test_junit(self):
        for name in self.NAMES + ("equal",):
            files = ["info.moire", "info.moire"] if name == "equal" else pair(name)
            done = run(*files, "--format", "junit")
            suites = junitparser.JUnitXml.fromstring(done.stdout)
            self.assertIsInstance(suites, junitparser.JUnitXml)
            suite, = suites
            cases = list(suite)
            results = [case.result[0] if case.result else None for case in cases]
            failed = sum(isinstance(r, junitparser.Failure) for r in results)
            self.assertEqual((suite.tests, suite.failures, suite.errors), (len(cases), failed, 0))
            self.assertEqual(suite.skipped, sum(isinstance(r, junitparser.Skipped) for r in results))
            self.assertEqual((suites.tests, suites.failures), (suite.tests, suite.failures))
            self.assertEqual(failed > 0, done.returncode != 0)
            self.assertEqual(len({(c.classname, c.name) for c in cases}), len(cases))
            self.assertNotIn("\u202e", done.stdout.decode())

    def test_markdown(self):
        for name in self.NAMES:
            text = run(*pair(name), "--format", "md").stdout.decode()
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\u202e]")
            self.assertNotIn("</script>", re.sub(r"`[^`]*`|~~~sh\n.*~~~", "", text, flags=re.S))
            width = 0
            for line in text.split("\n"):
                if not line.startswith("|"):
                    width = 0
                    continue
                cells = len(re.findall(r"(?<!\\)\|", line))
                self.assertIn(width, (0, cells), line)
                width = cells


class Html(Case):
    def page(self, name):
        return run(*pair(name), "--format", "html").stdout.decode()

    def test_self_contained(self):
        for name in ("moe", "free", "wild", "digest", "single", "hostile"):
            text = self.page(name)
            page = Page(text)
            # A script of the page's own at its end, and what it knows of the maps; nothing is loaded.
            self.assertEqual(page.tags[-1], "script")
            self.assertIn("default-src 'none'", text)
            for cells in re.findall(r'<script type="application/json" class="cells">(.*?)</script>', text):
                known = json.loads(cells)
                self.assertEqual(len(known["words"]), len(known["light"]))
                self.assertEqual(len(known["names"]), known["rows"])
            for tag, key, value in page.attributes:
                if key in ("src", "href"):
                    self.assertTrue(value.startswith(("data:", "#")), (name, tag, value[:60]))
            self.assertNotRegex(text.replace("http-equiv", ""), r"https?://")
            self.assertEqual(page.tags.count("h1"), 1)
            self.assertIn(("html", "lang", "en"), page.attributes)
            self.assertEqual(sum(1 for tag, key, _ in page.attributes if tag == "li" and key == "class" and "chip" in _), 6)
            self.assertLess(len(text), 200_000)

    def test_tidy(self):
        tidy = shutil.which("tidy")
        if tidy is None:
            self.skipTest("tidy is not installed")
        for name in ("moe", "free", "wild", "digest", "hostile", "mixed", "odd"):
            done = subprocess.run([tidy, "-q", "-e"], input=self.page(name).encode(),
                                  capture_output=True)
            self.assertEqual(done.stderr.decode(), "", name)

    def test_hostile_names_are_escaped(self):
        text = self.page("hostile")
        self.assertEqual(text.count("</script>"), text.count("<script"))
        self.assertIn('"\\u003c/script\\u003e', text)  # in what the script knows of the map
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)
        self.assertIn("&lt;/script&gt;\\u001b[31m\\u202e", text)
        plain = run(*pair("hostile")).stdout.decode()
        self.assertNotIn("\x1b", plain)
        self.assertNotIn("\u202e", plain)

    def test_map_shows_every_site(self):
        text = self.page("bf16")
        pictures = [decode_png(base64.b64decode(x)) for x in re.findall(r"data:image/png;base64,([^\"]+)", text)]
        self.assertEqual(len(pictures), 2)
        np.testing.assert_array_equal(pictures[0], pictures[1])
        with tempfile.TemporaryDirectory() as out:
            sides = []
            for i, file in enumerate(pair("bf16")):
                run("export", file, "--npy", f"{out}/{i}")
                taps = [t["name"] for t in json.loads(run("info", file, "--json").stdout)["tap_list"]]
                sides.append([np.load(f"{out}/{i}/{t}.npy") for t in taps])
        self.assertEqual(pictures[0].shape, (8, 15))
        for y, (r, t) in enumerate(zip(*sides)):
            for x in range(15):
                equal = (r[x] == t[x]).all()
                self.assertEqual(pictures[0][y, x] == 1, equal, (y, x))
                self.assertTrue(equal or pictures[0][y, x] >= 3)


class Criteria(Case):
    def test_they_decide_the_exit_status(self):
        for name, criterion, status in (
                ("bf16", "rel<=1", 0), ("bf16", "rel<=1e-9", 1), ("bf16", "ulp<=1000", 0), ("bf16", "ulp<=0", 1),
                ("bf16", "bitwise", 1), ("bf16", "allclose(1, 1)", 0), ("bf16", "allclose(0, 0)", 1),
                ("bf16", "abs<=10", 0), ("bf16", "abs<=0", 1), ("bf16", "kl<=1", 0), ("bf16", "kl<=1e-9", 1),
                ("tied", "topk>=0", 0), ("moe", "routes>=0", 0), ("moe", "routes>=1", 1)):
            with self.subTest(f"{name} {criterion}"):
                done = run(*pair(name), "--criterion", criterion, "--format", "json", "--resamples", "0")
                report = json.loads(done.stdout)
                self.assertEqual((done.returncode, report["exit"]), (status, status), report["verdict"])
                self.assertEqual(sum(c["failed"] for c in report["tolerance"]["criteria"]) > 0, status == 1)
                self.assertEqual(report["first"]["tolerance"] is not None, status == 1)

    def test_nothing_to_check(self):
        done = run(*pair("bf16"), "--criterion", "tokens>=0.5", "--format", "json")  # no response in either
        self.assertEqual(done.returncode, 1)
        criterion, = json.loads(done.stdout)["tolerance"]["criteria"]
        self.assertEqual([criterion[k] for k in ("checked", "failed", "undecided")], [0, 0, 1])

    def test_floor_of_a_repeat(self):
        reference, target = pair("bf16")
        again = FOLDER / "again.moire"
        shutil.copy(FOLDER / target, again)
        self.trouble(reference, target, "--criterion", "floor(1)", "--repeat", target, says="the target itself")
        for repeat, status in ((again, 0), ("info.moire", 1)):
            done = run(reference, target, "--criterion", "floor(1)", "--repeat", repeat, "--format", "json")
            report = json.loads(done.stdout)
            self.assertEqual(done.returncode, status, report["verdict"])
            self.assertEqual(report["first"]["floor"] is not None, status == 1)

    def test_samples(self):
        report = json.loads(run(*pair("bf16"), "--samples", "sum*", "--format", "json").stdout)
        self.assertEqual([s["id"] for s in report["samples"]], ["sum/one"])
        self.trouble(*pair("bf16"), "--samples", "nobody", says="nobody")


if __name__ == "__main__":
    main()
