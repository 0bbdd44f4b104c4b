# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""moire-diff as a user meets it: cli_test.py MOIRE-DIFF MAKE_CAPTURES SCHEMA."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import h5py
import jsonschema
import numpy as np

from diff_case import FOLDER, PROGRAM, SCHEMA, Case, main, pair, run


class Comparing(Case):
    def test_equal(self):
        done = run("info.moire", "info.moire")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertTrue(done.stdout.startswith(b"Bitwise equal"), done.stdout[:80])

    def test_every_report_keeps_the_contract(self):
        validator = jsonschema.Draft202012Validator(json.loads(Path(SCHEMA).read_text()))
        names = sorted(p.name[:-10] for p in Path(FOLDER).glob("*.ref.moire"))
        self.assertGreater(len(names), 10)
        for name in names:
            for options in ([], ["--first"], ["--taps", "lm_head.out"], ["--taps", "*.1.*", "--allow-missing"]):
                with self.subTest(name=name, options=options):
                    done = run(*pair(name), "--format", "json", *options)
                    report = json.loads(done.stdout.decode())
                    self.assertEqual([e.message for e in validator.iter_errors(report)], [])
                    self.assertEqual(done.returncode, report["exit"])
                    self.assertEqual(done.stderr, b"")

    def test_order_of_keys(self):
        report = json.loads(run(*pair("moe"), "--format", "json").stdout)
        self.assertEqual(list(report), ["schema", "verdict", "exit", "cause", "reference", "target",
                                        "environment_differences", "alignment", "first", "tolerance",
                                        "measures", "taps", "samples"])
        self.assertEqual(list(report["first"]), ["bitwise", "tolerance", "floor", "topk", "experts",
                                                 "argmax", "token", "nonfinite"])
        self.assertEqual(report["environment_differences"],
                         [{"key": "numerics.arithmetic", "reference": "ordered", "target": "native"}])

    def test_first_bitwise_against_the_arrays(self):
        first = json.loads(run(*pair("bf16"), "--format", "json").stdout)["first"]["bitwise"]
        for side, file in zip(("reference", "target"), pair("bf16")):
            with tempfile.TemporaryDirectory() as out:
                run("export", file, "--npy", out, "--raw", "--taps", first["tap"])
                rows = json.loads((Path(out) / "rows.json").read_text())
                row = rows.index({"sample": first["sample"], "position": first["position"], "phase": first["phase"]})
                self.assertEqual(row, first["row"])
                bits = np.load(Path(out) / (first["tap"] + ".npy"))[row, first["element"]]
                self.assertEqual(first[side]["bits"], f"0x{bits:04x}")
                value = np.array([int(bits) << 16], np.uint32).view(np.float32)[0]
                self.assertEqual(first[side]["value"], float(value))

    def test_same_bytes_at_any_thread_count(self):
        for form in ("text", "json", "html", "csv", "md", "junit"):
            outputs = {run(*pair("moe"), "--format", form, "--threads", n).stdout for n in (1, 2, 5)}
            self.assertEqual(len(outputs), 1, form)

    def test_text(self):
        text = run(*pair("free")).stdout.decode()
        lines = text.split("\n")
        report = json.loads(run(*pair("free"), "--format", "json").stdout)
        self.assertEqual(lines[0], report["verdict"])
        order = [text.index(h) for h in ("First divergences\n", "Families\n", "Taps that differ most\n", "Samples\n")]
        self.assertEqual(order, sorted(order))
        self.assertIn("not comparable", text)
        self.assertNotIn("\x1b", text)
        self.assertFalse([line for line in lines if line != line.rstrip()])

    def test_quiet_text_is_the_verdict(self):
        self.assertEqual(run(*pair("bf16"), "--quiet").stdout.count(b"\n"), 1)

    def test_colours_and_progress_only_on_a_terminal(self):
        def on_terminal(stream, **more):
            ours, theirs = os.openpty()
            environment = dict(os.environ, TERM="xterm", **more)
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: theirs}
            process = subprocess.Popen([PROGRAM, "info.moire", "info.moire"], cwd=FOLDER, env=environment, **streams)
            os.close(theirs)
            shown = b""
            try:
                while chunk := os.read(ours, 65536):
                    shown += chunk
            except OSError:  # the other end is closed
                pass
            os.close(ours)
            process.communicate()
            return shown

        environment = os.environ.pop("NO_COLOR", None)
        self.assertIn(b"\x1b[1m", on_terminal("stdout"))
        self.assertNotIn(b"\x1b", on_terminal("stdout", NO_COLOR="1"))
        self.assertNotIn(b"\x1b[1m", on_terminal("stderr"))
        if environment is not None:
            os.environ["NO_COLOR"] = environment

    def test_first_only(self):
        whole = json.loads(run(*pair("free"), "--format", "json").stdout)["first"]
        only = json.loads(run(*pair("free"), "--format", "json", "--first").stdout)["first"]
        for kind in whole:
            if whole[kind] is None:
                self.assertIsNone(only[kind])
            else:
                for key in ("sample", "row", "position", "tap"):
                    self.assertEqual(only[kind][key], whole[kind][key], (kind, key))

    def test_first_only_is_short(self):
        text = run(*pair("free"), "--first").stdout.decode()
        self.assertEqual(text.count("only the first divergences were asked for"), 1)
        self.assertLess(text.count("\n"), 60)

    def test_one_place_and_one_count(self):
        """Verdict, first divergences, samples and alignment speak of the same tokens and rows."""
        report = json.loads(run(*pair("free"), "--format", "json").stdout)
        text = run(*pair("free")).stdout.decode()
        token = report["first"]["token"]
        sample, = [s for s in report["samples"] if s["id"] == token["sample"]]
        self.assertEqual(sample["split"], token["position"] + 1)
        self.assertIn(f"part at token {sample['split']} of sample {sample['id']} (", report["verdict"])
        self.assertIn(f"token {sample['split']} is ", text)
        alignment = report["alignment"]
        sides = [alignment[f"rows_not_comparable_{side}"] for side in ("reference", "target")]
        self.assertEqual(sum(sides), sum(s["not_comparable"] for s in report["samples"]))
        self.assertIn(f"{sum(sides)} rows behind a split: not comparable ({sides[0]} of the reference, "
                      f"{sides[1]} of the target)", text)

    def test_markdown_says_origin_and_note(self):
        text = run(*pair("free"), "--format", "md").stdout.decode()
        self.assertRegex(text, r"\| emitted token \|.*\| (carried|introduced|unknown); token ")

    def test_format_from_the_name(self):
        for name, start in (("r.json", b"{"), ("r.html", b"<!DOCTYPE html>"), ("r.txt", b"First divergence"),
                            ("r.csv", b"scope,"), ("r.md", b"**First divergence"), ("r.xml", b"<?xml")):
            out = Path(FOLDER) / name
            self.assertEqual(run(*pair("bf16"), "-o", name).returncode, 1)
            self.assertTrue(out.read_bytes().startswith(start), name)
            out.unlink()

    def test_never_over_another_capture(self):
        other = Path(FOLDER) / "other.moire"
        shutil.copy(Path(FOLDER) / "info.moire", other)
        before = other.read_bytes()
        self.trouble(*pair("bf16"), "--format", "json", "-o", "other.moire", says="holds a capture")
        self.trouble("matrix", *pair("bf16"), "--json", "-o", "other.moire", says="holds a capture")
        self.assertEqual(other.read_bytes(), before)
        folder = Path(FOLDER) / "x"
        folder.mkdir()
        other.rename(folder / "capture.safetensors")
        self.trouble("export", "info.moire", "--safetensors", "x", says="holds a capture")
        self.assertEqual((folder / "capture.safetensors").read_bytes(), before)
        shutil.rmtree(folder)

    def damaged(self, name, dataset):
        """A copy of a capture with one bit of its first row changed in one dataset."""
        raw = bytearray((FOLDER / name).read_bytes())
        with h5py.File(FOLDER / name) as file:
            raw[file[dataset].id.get_chunk_info(0).byte_offset] ^= 1
        (FOLDER / "damaged.moire").write_bytes(raw)
        self.addCleanup((FOLDER / "damaged.moire").unlink)
        return "damaged.moire"

    def test_damaged_tables_are_no_divergence(self):
        with h5py.File(FOLDER / "moe.ref.moire") as file:
            router = next(iter(file["routing"]))
        for name, datasets in (("info.moire", ("counts", "statistics", "digests")),
                               ("topk.ref.moire", ("top_k/ids", "top_k/values", "top_k/log_sum_exp", "counts")),
                               ("moe.ref.moire", (f"routing/{router}/ids", f"routing/{router}/logits"))):
            for dataset in datasets:
                with self.subTest(name + " " + dataset):
                    broken = self.damaged(name, dataset)
                    self.assertEqual(run("verify", broken).returncode, 1)
                    self.trouble(name, broken, says="row 0")
                    self.trouble(broken, name, "--format", "json", says="row 0")
                    self.doCleanups()

    def test_damaged_values_are_not_handed_on(self):
        broken = self.damaged("info.moire", "values/model.layers.0.out")
        with h5py.File(FOLDER / broken) as file:
            self.assertIn("model.layers.0.out", file["values"])
        info = json.loads(run("info", broken, "--json").stdout)
        site = f"{info['sample_list'][0]['id']}/0/model.layers.0.out"
        self.trouble("info.moire", broken, says="contradict")
        self.trouble("show", broken, site, says="contradict their recorded digest")
        self.trouble("show", "info.moire", broken, site, says="contradict")
        self.trouble("export", broken, "--npy", "handed", says="contradict their recorded digest")
        self.trouble("export", broken, "--safetensors", "handed", says="contradict their recorded digest")

    def test_damaged_values_of_the_first_divergence(self):
        with tempfile.TemporaryDirectory() as out:
            run("export", "bf16.target.moire", "--npy", out, "--raw", "--taps", "model.layers.0.mlp.out")
            row = np.load(f"{out}/model.layers.0.mlp.out.npy")[2].tobytes()
        content = bytearray((FOLDER / "bf16.target.moire").read_bytes())
        self.assertEqual(content.count(row), 1)
        content[content.index(row)] ^= 1
        broken = FOLDER / "first-damaged.moire"
        broken.write_bytes(content)
        self.addCleanup(broken.unlink)
        self.trouble("bf16.ref.moire", broken.name, says="contradict their recorded digest")
        self.trouble("bf16.ref.moire", broken.name, "--criterion", "ulp<=2", "-o", "never.html", says="row 2")
        self.assertEqual(run("bf16.ref.moire", broken.name, "--first").returncode, 1)

    def test_empty_values(self):
        self.trouble("info.moire", "info.moire", "-o", "", says="--output needs a value")
        self.trouble("study", "info.moire", "moe.ref.moire", says="needs 3 or more")

    def test_control_characters_in_names(self):
        text = self.trouble("\x1b[31mno.moire", "info.moire", says="no such file")
        self.assertNotIn("\x1b", text)

    def test_pipe_without_a_writer(self):
        pipe = Path(FOLDER) / "pipe"
        os.mkfifo(pipe)
        self.trouble("info", "pipe", says="not a regular file")
        pipe.unlink()

    def test_overwrites_and_writes_to_a_device(self):
        out = Path(FOLDER) / "again.json"
        out.write_text("old")
        run(*pair("bf16"), "--format", "json", "-o", out.name)
        self.assertTrue(out.read_bytes().startswith(b"{"))
        out.unlink()
        self.assertEqual(run(*pair("bf16"), "-o", "/dev/null").returncode, 1)
        self.assertFalse(os.path.isfile("/dev/null"))

    def test_incomplete(self):
        done = run("info.moire", "unfinished.moire.part")
        self.assertEqual(done.returncode, 1)
        self.assertIn("incomplete", done.stdout.decode().split("\n")[0])
        allowed = run("info.moire", "unfinished.moire.part", "--allow-missing")
        self.assertEqual(allowed.returncode, 0, allowed.stdout)
        self.assertIn("incomplete", allowed.stdout.decode().split("\n")[0])

    def test_taps(self):
        report = json.loads(run(*pair("bf16"), "--format", "json", "--taps", "*.mlp.out", "--taps", "lm_head.out").stdout)
        self.assertEqual([t["name"] for t in report["taps"]],
                         ["model.layers.0.mlp.out", "model.layers.1.mlp.out", "lm_head.out"])


class Trouble(Case):
    def test_inputs(self):
        good = "info.moire"
        (Path(FOLDER) / "text.moire").write_text("not a capture")
        (Path(FOLDER) / "empty.moire").write_bytes(b"")
        whole = (Path(FOLDER) / good).read_bytes()
        (Path(FOLDER) / "short.moire").write_bytes(whole[:len(whole) // 2])
        with h5py.File(Path(FOLDER) / "other.moire", "w") as file:
            file["x"] = [1]
        self.trouble(good, "missing.moire", says="missing.moire")
        self.trouble("missing.moire", good, says="missing.moire")
        self.trouble(good, ".", says="folder")
        for bad in ("text.moire", "empty.moire", "short.moire", "other.moire"):
            for command in ([good, bad], [bad, good], ["info", bad], ["show", bad, "a/0/b"], ["verify", bad],
                            ["export", bad, "--npy", "never"]):
                with self.subTest(command=command):
                    self.trouble(*command, says=bad)
        for name in ("text", "empty", "short", "other"):
            (Path(FOLDER) / f"{name}.moire").unlink()

    def test_nothing_in_common(self):
        self.trouble("info.moire", "stranger.moire", status=3, says="sample")
        self.trouble("info.moire", "stranger.moire", "-o", "never.txt", status=3)

    def test_options(self):
        self.trouble(says="REF")
        self.trouble("info.moire", says="TARGET")
        self.trouble(*pair("bf16"), "--format", "yaml", says="--format")
        self.trouble(*pair("bf16"), "--frobnicate", says="--frobnicate")
        self.trouble(*pair("bf16"), "third.moire", says="third.moire")
        self.trouble(*pair("bf16"), "--threads", "0", says="--threads")
        self.trouble(*pair("bf16"), "--threads", "many", says="--threads")
        # AddressSanitizer maps far more than any limit.
        limit = None if b"__asan_init" in Path(PROGRAM).read_bytes() else (2 << 30, 2 << 30)
        many = run(*pair("bf16"), "--threads", "1024", "--format", "json",
                   preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, limit)))
        self.assertEqual(many.stdout, run(*pair("bf16"), "--threads", "1", "--format", "json").stdout)
        self.trouble("export", "info.moire", says="--npy DIR")
        self.trouble("verify", says="FILE")
        self.trouble("info", "info.moire", "--no-such", says="--no-such")
        self.trouble("export", "info.moire", "--no-such", says="Try 'moire-diff export --help'")
        self.trouble(*pair("bf16"), "--format", "json", "--format", "html", says="more than once")
        self.trouble(*pair("bf16"), "-o", says="needs a value")
        self.trouble(*pair("bf16"), "--resamples", "-1", says="a whole number, 0 to")
        self.trouble("show", "info.moire", says="FILE [TARGET] SITE")

    def test_contradictions(self):
        (Path(FOLDER) / "any.toml").write_text('name = "any"\n[[tap]]\npattern = "*"\ncriterion = "bitwise"\n')
        self.trouble(*pair("bf16"), "--tolerance", "any.toml", "--criterion", "bitwise", says="Leave one of the two out")
        self.trouble(*pair("bf16"), "--first", "--criterion", "ulp<=2", says="--first")
        self.trouble(*pair("bf16"), "--first", "--repeat", "info.moire", says="--first")
        self.trouble(*pair("bf16"), "--criterion", "floor(2)", says="--repeat")
        self.trouble(*pair("bf16"), "--repeat", "bf16.ref.moire", says="itself")
        self.trouble(*pair("bf16"), "--repeat", "nowhere.moire", says="nowhere.moire")
        self.trouble(*pair("bf16"), "--criterion", "nearly", says="nearly")
        self.trouble(*pair("bf16"), "--tolerance", "nowhere.toml", says="nowhere.toml")
        self.trouble(*pair("bf16"), "--mapping", "nowhere.toml", says="nowhere.toml")
        self.trouble(*pair("bf16"), "--tolerance", "any.toml", "-o", "any.toml", says="any.toml")
        (Path(FOLDER) / "any.toml").unlink()

    def test_profiles(self):
        """Every mistake in a profile or a mapping is one sentence that names line and key."""
        last = '\n[[tap]]\npattern = "*"\ncriterion = "bitwise"\n'
        for profile, says in (
                ('[[tap]]\npatern = "a"\ncriterion = "bitwise"' + last, "patern"),
                ('[[tap]]\npattern = "a"\ncriterion = "bitwize"' + last, "line 3"),
                ('[[tap]]\npattern = "no.such.tap"\ncriterion = "bitwise"' + last, "no.such.tap"),
                ('[[tap]]\npattern = "*.out"\ncriterion = "bitwise"', '"*"'),
                ('[[tap]]\npattern = "*"\ncriterion = "mse<=3"', "mse<=3"),
                ('name = 3' + last, "name"),
                ('nam = "x"' + last, "nam"),
                ('[[tap', "line 1"),
                ('', "[[tap]]")):
            with self.subTest(profile=profile):
                (FOLDER / "wrong.toml").write_text(profile)
                text = self.trouble(*pair("bf16"), "--tolerance", "wrong.toml", says=says)
                self.assertIn("wrong.toml", text)
                self.trouble(*pair("bf16"), "--tolerance", "wrong.toml", "-o", "never.html", says=says)
        taps = [f'"model.layers.{i}.mlp.out"' for i in range(2)]
        for mapping, says in (
                (f"[[map]]\nreference = {taps[0]}\ntarget = {taps[0]}\n[[map]]\nreference = {taps[1]}\ntarget = {taps[0]}",
                 "two taps to one"),
                ('[[map]]\nreference = "a.*"\ntarget = "b"', "for one"),
                ('[[map]]\nreference = "no.such.tap"\ntarget = "lm_head.out"', "no.such.tap"),
                ('[[map]]\nreference = "lm_head.out"', "target")):
            with self.subTest(mapping=mapping):
                (FOLDER / "wrong.toml").write_text(mapping)
                self.trouble(*pair("bf16"), "--mapping", "wrong.toml", "-o", "never.html", says=says)
        (FOLDER / "wrong.toml").unlink()

    def test_criteria_as_people_write_them(self):
        self.trouble(*pair("bf16"), "--criterion", "topk>=80%", says="write topk>=0.8")
        self.trouble(*pair("bf16"), "--criterion", "ulp<2", says="Write for instance ulp<=2")
        self.trouble(*pair("bf16"), "--criterion", "kl<=", says="kl<=1e-4")
        report = json.loads(run(*pair("bf16"), "--criterion", "ULP <= 2", "--format", "json").stdout)
        self.assertEqual(report["tolerance"]["criteria"][0]["criterion"], "ulp<=2")

    def test_shipped_profiles(self):
        names = sorted(p.stem for p in (Path(SCHEMA).parents[2] / "resources/tolerance").glob("*.toml"))
        text = self.trouble(*pair("bf16"), "--tolerance", "nosuch", says="nosuch")
        listed = ", ".join(names)
        self.assertIn(listed, text)
        self.assertIn(listed, re.sub(r"\s+", " ", run("--help").stdout.decode()))
        for name in names:
            done = run(*pair("bf16"), "--tolerance", name, "--format", "json",
                       *(["--repeat", "info.moire"] if name == "noise" else []))
            report = json.loads(done.stdout)
            self.assertEqual(report["tolerance"]["profile"], name)
            path = Path(SCHEMA).parents[2] / "resources/tolerance" / f"{name}.toml"
            if name != "noise":
                same = run(*pair("bf16"), "--tolerance", path, "--format", "json")
                self.assertEqual(same.stdout, done.stdout)
        (FOLDER / "strict").write_text('name = "mine"\n[[tap]]\npattern = "*"\ncriterion = "abs<=1"\n')
        mine = run(*pair("bf16"), "--tolerance", "./strict", "--format", "json")
        (FOLDER / "strict").unlink()
        self.assertEqual(json.loads(mine.stdout)["tolerance"]["profile"], "mine")

    def test_patterns(self):
        self.trouble(*pair("bf16"), "--taps", "no.such.*", says="no.such.*")
        self.trouble(*pair("bf16"), "--taps", "lm_head.out", "--taps", "nope", says="nope")
        self.trouble("export", "info.moire", "--npy", "never", "--taps", "nope", says="nope")
        self.trouble("export", "info.moire", "--npy", "never", "--sample", "nobody", says="nobody")

    def test_outputs(self):
        self.trouble(*pair("bf16"), "-o", "report.foo", says="no format of reports has the ending '.foo'")
        self.assertEqual(run(*pair("bf16"), "--format", "text", "-o", "report.foo").returncode, 1)
        self.assertEqual(run(*pair("bf16"), "-o", "report.txt").returncode, 1)
        self.trouble(*pair("bf16"), "-o", "no/such/folder/r.html", says="no/such/folder")
        self.trouble(*pair("bf16"), "-o", ".", says="folder")
        self.trouble(*pair("bf16"), "-o", "bf16.ref.moire", says="bf16.ref.moire")
        self.trouble("export", "info.moire", "--npy", "info.moire", says="info.moire")
        if os.path.exists("/dev/full"):
            self.trouble(*pair("bf16"), "-o", "/dev/full", says="space")
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *pair("bf16")], cwd=FOLDER, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"standard output", done.stderr)

    def test_sites(self):
        tap = "model.layers.0.mlp.out"
        for site, says in (("fact", "fact"), ("fact/x/" + tap, "x"), ("nobody/0/" + tap, "nobody"),
                           ("fact/99/" + tap, "99"), ("fact/0/nothing.out", "nothing.out"),
                           ("fact/0/" + tap + "/24", "24"), ("", "")):
            with self.subTest(site=site):
                self.trouble("show", "info.moire", site, says=says)

    def test_full_disk_leaves_nothing(self):
        """A limit on the file size stands in for a full disk."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

        self.trouble(*pair("bf16"), "-o", "never.html", preexec_fn=limit)
        self.trouble("export", "info.moire", "--npy", "never", preexec_fn=limit)


class OtherCommands(Case):
    def test_help_and_version(self):
        self.assertRegex(run("--version").stdout.decode(), r"\Amoire-diff \d+\.\d+\.\d+\n\Z")
        for command in ([], ["info"], ["show"], ["verify"], ["export"], ["matrix"], ["study"]):
            done = run(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            text = done.stdout.decode()
            self.assertRegex(text, r"Examples?:\n  moire-diff")
            self.assertIn("Usage: " + " ".join(["moire-diff", *command]) + " [OPTION…]", text)
            self.assertLessEqual(max(len(line) for line in text.split("\n")), 90, command)
        self.assertIn("Exit status", run("--help").stdout.decode())

    def test_info(self):
        info = json.loads(run("info", "moe.ref.moire", "--json").stdout)
        self.assertEqual((info["complete"], info["rows"], info["samples"], info["taps"]), (True, 15, 2, 14))
        self.assertEqual(info["environment"]["numerics.arithmetic"], "ordered")
        self.assertEqual(info["environment"]["run.peak_bytes"], 4096)
        self.assertEqual(len(info["tap_list"]), 14)
        text = run("info", "moe.ref.moire").stdout.decode()
        self.assertTrue(text.startswith("moe.ref.moire: complete\n"), text[:60])
        self.assertIn("model.layers.*.mlp.gate.out", text)

    def test_info_of_an_incomplete_capture(self):
        self.assertIn("incomplete", run("info", "unfinished.moire.part").stdout.decode())
        info = json.loads(run("info", "unfinished.moire.part", "--json").stdout)
        self.assertFalse(info["complete"])
        self.assertEqual(info["rows"], 9)

    def test_a_capture_named_like_a_command(self):
        shutil.copy(Path(FOLDER) / "info.moire", Path(FOLDER) / "info")
        self.assertEqual(run("./info", "info").returncode, 0)
        self.assertEqual(run("info", "info").returncode, 0)
        (Path(FOLDER) / "info").unlink()

    def test_show(self):
        done = run("show", "bf16.ref.moire", "sum/one/3/model.layers.0.mlp.out/5")
        with tempfile.TemporaryDirectory() as out:
            run("export", "bf16.ref.moire", "--npy", out, "--raw", "--sample", "sum/one")
            bits = int(np.load(Path(out) / "model.layers.0.mlp.out.npy")[3, 5])
        text = done.stdout.decode()
        self.assertIn(f"0x{bits:04x}", text)
        self.assertIn(f"{bits >> 15} {bits >> 7 & 255:08b} {bits & 127:07b}", text)
        self.assertRegex(text, r"digest +0x[0-9a-f]{16}\n")
        self.assertIn("24 finite, 0 NaN, 0 infinite", text)

    def test_show_two_captures(self):
        site = "sum/one/3/layers.0.mlp.out"
        text = run("show", *pair("bf16"), site).stdout.decode()
        with tempfile.TemporaryDirectory() as out:
            sides = []
            for i, file in enumerate(pair("bf16")):
                run("export", file, "--npy", f"{out}/{i}", "--raw", "--sample", "sum/one")
                sides.append(np.load(f"{out}/{i}/model.layers.0.mlp.out.npy")[3].astype(np.int64))
        unequal = int((sides[0] != sides[1]).sum())
        self.assertGreater(unequal, 0)
        self.assertIn(f"differ       {unequal} of 24 elements", text)
        shown = re.findall(r"^ +(\d+) +\S+ +0x([0-9a-f]{4}) +\S+ +0x([0-9a-f]{4}) +\S+ +(\d+)$", text, re.M)
        self.assertEqual(len(shown), unequal)
        key = lambda bits: -(bits & 0x7fff) if bits & 0x8000 else bits
        for element, ours, theirs, ulps in shown:
            pairs = [int(side[int(element)]) for side in sides]
            self.assertEqual(pairs, [int(ours, 16), int(theirs, 16)])
            self.assertEqual(int(ulps), abs(key(pairs[0]) - key(pairs[1])))
        one = run("show", *pair("bf16"), site + "/0").stdout.decode()
        self.assertIn(f"0x{sides[0][0]:04x}", one)
        self.assertIn("Best tokens", run("show", *pair("moe"), "fact/2/lm_head.out").stdout.decode())
        self.assertIn("Experts chosen", run("show", *pair("moe"), "fact/2/layers.1.mlp.gate.out").stdout.decode())
        for place in ("fact/99/lm_head.out", "nobody/0/lm_head.out", "fact/0/nothing", "fact/0/lm_head.out/160"):
            self.trouble("show", *pair("bf16"), place)
        self.trouble("show", "info.moire", "stranger.moire", "fact/0/lm_head.out", status=3)

    def test_integers_beyond_doubles(self):
        ours, theirs = 2 ** 53 + 5, 2 ** 53 + 6
        self.assertIn(f" {ours} ", run("show", "integers.ref.moire", "0/0/counter.out").stdout.decode())
        for site in ("0/0/counter.out", "0/0/counter.out/2"):
            text = run("show", *pair("integers"), site).stdout.decode()
            self.assertRegex(text, rf"\b{ours}\b(.|\n)*\b{theirs}\b")
        first = json.loads(run(*pair("integers"), "--format", "json").stdout)["first"]["bitwise"]
        self.assertEqual((first["reference"]["value"], first["target"]["value"], first["ulps"]), (ours, theirs, 1))
        for form in ("text", "csv", "md", "html"):
            text = run(*pair("integers"), "--format", form).stdout.decode()
            self.assertIn(str(ours), text)
            self.assertIn(str(theirs), text)

    def test_taps_without_their_ending(self):
        for site in ("fact/2/layers.0.mlp", "fact/2/model.layers.0.mlp", "fact/2/lm_head"):
            self.assertEqual(run("show", *pair("bf16"), site).returncode, 0, site)
        taps = lambda *names: json.loads(run(*pair("bf16"), "--format", "json", *(x for n in names for x in ("--taps", n)))
                                         .stdout)["alignment"]["taps"]
        self.assertEqual((taps("layers.0.mlp"), taps("layers.*.mlp", "lm_head")), (1, 3))
        with tempfile.TemporaryDirectory() as out:
            run("export", "bf16.ref.moire", "--npy", out, "--taps", "layers.1.mlp")
            self.assertIn("model.layers.1.mlp.out.npy", os.listdir(out))
        self.trouble(*pair("bf16"), "--taps", "layers.9.mlp", says="layers.9.mlp")

    def test_show_a_router_and_the_head(self):
        text = run("show", "moe.ref.moire", "fact/2/model.layers.1.mlp.gate.out").stdout.decode()
        with tempfile.TemporaryDirectory() as out:
            run("export", "moe.ref.moire", "--npy", out, "--sample", "fact")
            ids = np.load(Path(out) / "model.layers.1.mlp.gate.ids.npy")[2]
            logits = np.load(Path(out) / "lm_head.out.npy")[2]
        shown = re.findall(r"^ +\d+ +(\d+) +[\d.]+ +-?[\d.]+$", text, re.M)
        self.assertEqual([int(x) for x in shown[:2]], ids.tolist())
        head = run("show", "moe.ref.moire", "fact/2/lm_head.out").stdout.decode()
        best = sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:10]
        self.assertEqual([int(x) for x in re.findall(r"^ +\d+ +(\d+) +-?[\d.]+ +[\d.e-]+", head, re.M)][:10], best)

    def test_verify(self):
        self.assertEqual(run("verify", "moe.ref.moire").returncode, 0)
        done = run("verify", "unfinished.moire.part")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"incomplete", done.stdout)
        damaged = Path(FOLDER) / "damaged.moire"
        shutil.copy(Path(FOLDER) / "moe.ref.moire", damaged)
        with tempfile.TemporaryDirectory() as out:
            run("export", damaged, "--npy", out, "--raw", "--taps", "model.layers.1.mlp.out")
            row = np.load(Path(out) / "model.layers.1.mlp.out.npy")[4].tobytes()
        content = bytearray(damaged.read_bytes())
        self.assertEqual(content.count(row), 1)
        content[content.index(row)] ^= 1
        damaged.write_bytes(content)
        done = run("verify", damaged.name)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"model.layers.1.mlp.out", done.stdout)
        self.assertEqual({run("verify", damaged.name, "--threads", n).stdout for n in (1, 2, 7)}, {done.stdout})
        damaged.unlink()

    def test_export(self):
        for name, dtype in (("bf16", np.float32), ("fp32", np.float32), ("fp16", np.float32)):
            with tempfile.TemporaryDirectory() as out:
                folder = Path(out) / "made" / "here"
                done = run("export", f"{name}.ref.moire", "--npy", folder)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                arrays = {p.name: np.load(p) for p in folder.glob("*.npy")}
                rows = json.loads((folder / "rows.json").read_text())
                self.assertEqual([(r["sample"], r["position"]) for r in rows],
                                 [("fact", i) for i in range(9)] + [("sum/one", i) for i in range(6)])
                head = arrays["lm_head.out.npy"]
                self.assertEqual((head.shape, head.dtype), ((15, 160), dtype))
                run("export", f"{name}.ref.moire", "--npy", folder, "--raw", "--taps", "lm_head.*")
                raw = np.load(folder / "lm_head.out.npy")
                if name == "bf16":
                    self.assertEqual(raw.dtype, np.uint16)
                    np.testing.assert_array_equal((raw.astype(np.uint32) << 16).view(np.float32), head)
                elif name == "fp16":
                    np.testing.assert_array_equal(raw.view(np.float16).astype(np.float32), head)
                else:
                    np.testing.assert_array_equal(raw, head)
                header = (folder / "lm_head.out.npy").read_bytes()[:8]
                self.assertEqual(header, b"\x93NUMPY\x01\x00")

    def test_export_routers_tokens_and_one_sample(self):
        with tempfile.TemporaryDirectory() as out:
            run("export", "moe.ref.moire", "--npy", out, "--sample", "sum/one", "--taps", "*.1.mlp.gate.*")
            names = sorted(p.name for p in Path(out).iterdir())
            gate = "model.layers.1.mlp.gate"
            self.assertEqual(names, ["gen.ids.npy", f"{gate}.ids.npy", f"{gate}.out.npy", f"{gate}.weights.npy", "rows.json"])
            ids, weights = (np.load(Path(out) / f"{gate}.{x}.npy") for x in ("ids", "weights"))
            logits = np.load(Path(out) / f"{gate}.out.npy")
            self.assertEqual((ids.shape, ids.dtype, weights.shape, weights.dtype), ((6, 2), np.int32, (6, 2), np.float32))
            np.testing.assert_array_equal(ids, np.argsort(-logits, axis=1, kind="stable")[:, :2])
            self.assertEqual(np.load(Path(out) / "gen.ids.npy").shape, (0,))
        with tempfile.TemporaryDirectory() as out:
            run("export", "free.target.moire", "--npy", out)
            generated = np.load(Path(out) / "gen.ids.npy")
            response = lambda n, f: [(f + 7 * i) % 97 for i in range(n)]
            parts = response(8, 9)
            parts[3] = 55
            self.assertEqual(generated.tolist(), response(6, 5) + parts + response(5, 6) + [41])
            self.assertEqual(generated.dtype, np.int32)

    def test_export_below_level_full(self):
        with tempfile.TemporaryDirectory() as out:
            done = run("export", "digest.ref.moire", "--npy", out)
            self.assertEqual(done.returncode, 0)
            self.assertIn(b"level", done.stderr)
            self.assertEqual(sorted(p.name for p in Path(out).iterdir()), ["gen.ids.npy", "rows.json"])


if __name__ == "__main__":
    main()
