# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Where moire-diff writes, and what it leaves when it is stopped: outputs_test.py MOIRE-DIFF MAKE_CAPTURES SCHEMA."""
import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unicodedata
from pathlib import Path

import jsonschema
import junitparser
import numpy as np

from diff_case import FOLDER, PROGRAM, SCHEMA, Case, main, pair, run

INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def default_signals():
    for number in INTERRUPTIONS:
        signal.signal(number, signal.SIG_DFL)


class Places(Case):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=FOLDER))
        self.addCleanup(shutil.rmtree, self.folder)
        self.text = run(*pair("bf16")).stdout

    def test_standard_output(self):
        for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            done = run(*pair("bf16"), "-o", name)
            self.assertEqual((done.returncode, done.stderr, done.stdout), (1, b"", self.text), name)
        self.assertEqual(run("matrix", *pair("bf16"), "-o", "-").stdout, run("matrix", *pair("bf16")).stdout)
        self.assertFalse((FOLDER / "-").exists())

    def test_a_folder_is_no_standard_output(self):
        for form in ("--npy", "--csv", "--safetensors"):
            self.trouble("export", "info.moire", form, "-", says="standard output")

    def test_appends_where_the_shell_does(self):
        log = self.folder / "log"
        log.write_bytes(b"before\n")
        with log.open("ab") as out:
            subprocess.run([PROGRAM, *pair("bf16"), "-o", "/dev/stdout"], cwd=FOLDER, stdout=out, check=False)
        self.assertEqual(log.read_bytes(), b"before\n" + self.text)

    def test_process_substitution(self):
        done = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" "$1" "$2" -o >(wc -c >"$3"); wait $!', PROGRAM,
                               *pair("bf16"), self.folder / "count"], cwd=FOLDER, capture_output=True, check=False)
        self.assertEqual(done.stderr, b"")
        for _ in range(100):  # bash does not wait for it in every version
            if (self.folder / "count").exists() and (self.folder / "count").read_text().strip():
                break
            time.sleep(0.05)
        self.assertEqual(int((self.folder / "count").read_text()), len(self.text))

    def test_descriptor_that_is_closed(self):
        self.trouble(*pair("bf16"), "-o", "/dev/fd/77", says="/dev/fd/77")

    def test_links(self):
        real = self.folder / "real.txt"
        real.write_text("old")
        (self.folder / "link.txt").symlink_to("real.txt")
        self.assertEqual(run(*pair("bf16"), "-o", self.folder / "link.txt").returncode, 1)
        self.assertTrue((self.folder / "link.txt").is_symlink())
        self.assertEqual(real.read_bytes(), self.text)
        (self.folder / "ahead.txt").symlink_to("not.yet.txt")
        self.assertEqual(run(*pair("bf16"), "-o", self.folder / "ahead.txt").returncode, 1)
        self.assertTrue((self.folder / "ahead.txt").is_symlink())
        self.assertEqual((self.folder / "not.yet.txt").read_bytes(), self.text)
        (self.folder / "circle.txt").symlink_to("circle.txt")
        self.trouble(*pair("bf16"), "-o", self.folder / "circle.txt", says="circle.txt")

    def test_endings_of_matrix_and_study(self):
        for command in (["matrix", *pair("bf16")], ["study", *pair("bf16"), "fp32.target.moire"]):
            for ending in ("csv", "md", "xml", "foo"):
                self.trouble(*command, "-o", f"never.{ending}", says=f"'.{ending}'")
        out = self.folder / "x.csv"
        self.assertEqual(run("matrix", *pair("bf16"), "--json", "-o", out).returncode, 1)
        json.loads(out.read_text())
        run("matrix", *pair("bf16"), "-o", self.folder / "x.htm")
        self.assertTrue((self.folder / "x.htm").read_text().startswith("<!DOCTYPE html>"))


class NotComparable(Case):
    FILES = ["info.moire", "stranger.moire"]

    def test_documents(self):
        sentence = run(*self.FILES).stderr
        for form in ("json", "junit", "csv", "md", "html"):
            done = run(*self.FILES, "--format", form)
            self.assertEqual((done.returncode, done.stderr), (3, sentence), form)
            self.assertIn(b"Not comparable: ", done.stdout)
        report = json.loads(run(*self.FILES, "--format", "json").stdout)
        schema = json.loads(Path(SCHEMA).read_text())
        self.assertEqual([e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(report)], [])
        self.assertEqual((report["exit"], report["taps"], report["measures"]), (3, [], {}))
        suites = junitparser.JUnitXml.fromstring(run(*self.FILES, "--format", "junit").stdout)
        self.assertEqual((suites.tests, suites.failures, suites.errors), (1, 0, 1))
        case, = list(list(suites)[0])
        self.assertIsInstance(case.result[0], junitparser.Error)
        tidy = shutil.which("tidy")
        if tidy:
            page = run(*self.FILES, "--format", "html").stdout
            faults = subprocess.run([tidy, "-q", "-e"], input=page, capture_output=True, check=False).stderr
            self.assertEqual(faults, b"")

    def test_text_is_the_sentence(self):
        self.trouble(*self.FILES, status=3)
        self.trouble(*self.FILES, "-o", "never.txt", status=3)


class Stopped(Case):
    def stopped(self, number, arguments, begun):
        """Starts it, sends the signal as soon as `begun` says so, and returns how it ended."""
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=FOLDER, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, preexec_fn=default_signals)
        until = time.monotonic() + 60
        while not begun() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(number)
        said = process.communicate(timeout=60)[1].decode()
        return process.returncode, said

    def test_comparison(self):
        for number in INTERRUPTIONS:
            folder = Path(tempfile.mkdtemp(dir=FOLDER))
            code, said = self.stopped(number, [*pair("big"), "-o", folder / "r.html"], lambda: any(folder.iterdir()))
            self.assertEqual(list(folder.iterdir()), [], (number, code, said))
            self.assertIn(code, (2, -number), said)  # before or after the files were open
            if code == 2:
                self.assertEqual(said, "moire-diff: the comparison was cancelled.\n")
            folder.rmdir()

    def test_export(self):
        for number in INTERRUPTIONS:
            for form in ("--npy", "--csv", "--safetensors"):
                folder = Path(tempfile.mkdtemp(dir=FOLDER))
                out = folder / "made" / "here"
                code, said = self.stopped(number, ["export", "big.ref.moire", form, out],
                                          lambda: out.exists() and any(out.iterdir()))
                if form == "--csv" or code != 0:  # the others may have come to their end first
                    self.assertEqual((code, said), (2, "moire-diff: the export was cancelled.\n"), (number, form))
                    self.assertEqual(list(folder.rglob("*")), [], (number, form))
                shutil.rmtree(folder)

    def test_nohup(self):
        """A hang-up that was ignored before stays ignored."""
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        process = subprocess.Popen([PROGRAM, "export", "big.ref.moire", "--npy", folder / "x", "--quiet"], cwd=FOLDER,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        while not (folder / "x").exists() and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=120), 0)
        shutil.rmtree(folder)

    def test_killed(self):
        folder = Path(tempfile.mkdtemp(dir=FOLDER))
        self.stopped(signal.SIGKILL, [*pair("big"), "-o", folder / "r.html"], lambda: any(folder.iterdir()))
        self.assertEqual([p.name.rsplit("-", 1)[0] for p in folder.iterdir()], ["r.html.part"])
        self.assertEqual(run(*pair("bf16"), "-o", folder / "r.html").returncode, 1)
        self.assertEqual([p.name for p in folder.iterdir()], ["r.html"])
        out = folder / "x"
        self.stopped(signal.SIGKILL, ["export", "big.ref.moire", "--npy", out], lambda: out.exists() and any(out.iterdir()))
        self.assertEqual(run("export", "big.ref.moire", "--npy", out).returncode, 0)
        self.assertEqual([p.name for p in out.iterdir() if ".part" in p.name], [])
        shutil.rmtree(folder)

    def test_limit_on_the_size_of_files(self):
        """As `ulimit -f` sets it: the signal that comes with it does not end the program."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        self.trouble(*pair("bf16"), "-o", "never.html", says="ulimit", preexec_fn=limit)
        for form in ("--npy", "--csv", "--safetensors"):
            self.trouble("export", "big.ref.moire", form, "never/there", says="ulimit", preexec_fn=limit)

    def test_no_escapes_in_the_progress(self):
        for environment in ({"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "xterm"}):
            ours, theirs = os.openpty()
            process = subprocess.Popen([PROGRAM, "export", "big.ref.moire", "--csv", "shown"], cwd=FOLDER,
                                       env=dict(os.environ, **environment), stdout=subprocess.DEVNULL, stderr=theirs)
            os.close(theirs)
            shown = b""
            try:
                while chunk := os.read(ours, 65536):
                    shown += chunk
            except OSError:  # the other end is closed
                pass
            os.close(ours)
            process.wait()
            shutil.rmtree(FOLDER / "shown")
            self.assertNotIn(b"\x1b", shown)
            if environment["TERM"] == "dumb":
                self.assertEqual(shown, b"")


class Odd(Case):
    """Names that no file can have, ids that stand twice, tokens that nobody can read."""

    def test_names_of_files(self):
        taps = [t["name"] for t in json.loads(run("info", "odd.ref.moire", "--json").stdout)["tap_list"]]
        with tempfile.TemporaryDirectory() as out:
            for form, ending in (("--npy", ".npy"), ("--csv", ".csv")):
                done = run("export", "odd.ref.moire", form, out, "--raw")
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                names = json.loads((Path(out) / "names.json").read_text())
                self.assertEqual(sorted(names.values()), sorted(["..", "n" * 300, "gen.ids", "c\nd", "\u200b"]))
                files = {p.name for p in Path(out).glob(f"*{ending}")}
                self.assertEqual(files, {f"{n}{ending}" for n in names} | {
                    f"{t}{ending}" for t in taps if t not in names.values()} | {f"gen.ids{ending}"})
            back = {v: k for k, v in names.items()}
            raw = np.load(Path(out) / (back["c\nd"] + ".npy"))
            self.assertEqual(raw.shape, (11, 24))
            self.assertEqual(np.load(Path(out) / "gen.ids.npy").tolist(), [2, 9, 3, 10])
            run("export", "odd.ref.moire", "--safetensors", out)
            head = (Path(out) / "capture.safetensors").read_bytes()
            keys = json.loads(head[8:8 + int.from_bytes(head[:8], "little")])
            self.assertTrue({"..", "c\nd", "n" * 300, "gen.ids", "__metadata__"} <= set(keys))
            self.assertEqual(len(keys), len(taps) + 2)

    def test_generated_ids_name_their_sample(self):
        with tempfile.TemporaryDirectory() as out:
            run("export", "odd.ref.moire", "--csv", out, "--sample", "q", "--taps", "lm_head.out")
            with open(Path(out) / "gen.ids.csv", newline="") as file:
                rows = list(csv.reader(file))
            self.assertEqual(rows, [["sample", "position", "value"], ["q", "3", "2"], ["q", "4", "9"],
                                    ["q#1", "3", "3"], ["q#1", "4", "10"]])

    def test_samples_have_the_names_of_sites(self):
        text = run(*pair("odd")).stdout.decode().split("\nSamples\n")[1].split("\n\n")[0]
        self.assertEqual([line[2:6].strip() for line in text.split("\n")[1:4]], ["q", "q#1", ""])
        page = run(*pair("odd"), "--format", "html").stdout.decode()
        self.assertIn(">q#1</th>", page)
        self.assertIn(">q#1</text>", page)
        self.assertIn("n" * 56 + "…</text>", page)
        self.assertEqual(run("show", "odd.ref.moire", "/0/lm_head.out").returncode, 0)
        self.assertEqual(run("show", *pair("odd"), "q#1/0/lm_head.out").returncode, 0)

    def test_nothing_unseen_and_nothing_endless(self):
        for form in ("text", "html", "md", "csv", "junit"):
            text = run(*pair("odd"), "--format", form).stdout.decode()
            unseen = {c for c in text if unicodedata.category(c) in ("Cf", "Cn", "Co") and c != "\n"}
            self.assertEqual(unseen, set(), form)
            self.assertNotIn("w" * 1001, text, form)
        page = run(*pair("odd"), "--format", "html").stdout.decode()
        self.assertIn("w" * 39 + "…</td>", page)
        self.assertNotIn("<strong></strong>", page)


if __name__ == "__main__":
    main()
