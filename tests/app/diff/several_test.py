# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""matrix, study and the forms of export: several_test.py MOIRE-DIFF MAKE_CAPTURES SCHEMA."""
import csv
import json
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import jsonschema
import numpy as np
import referencing

from diff_case import FOLDER, SCHEMA, Case, main, pair, run


def contract(name):
    """The schema of that document; it refers to the report's."""
    schemas = {p.name.split(".")[0]: json.loads(p.read_text()) for p in Path(SCHEMA).parent.glob("*.schema.json")}
    registry = referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in schemas.values())
    return jsonschema.Draft202012Validator(schemas[name], registry=registry)


def html_faults(page):
    tidy = shutil.which("tidy")
    return "" if tidy is None else subprocess.run([tidy, "-q", "-e"], input=page,
                                                  capture_output=True, check=False).stderr.decode()


class Matrix(Case):
    FILES = ["bf16.ref.moire", "copy.moire", "bf16.target.moire", "topk.target.moire"]

    @classmethod
    def setUpClass(cls):
        shutil.copy(FOLDER / "bf16.ref.moire", FOLDER / "copy.moire")

    def test_cells_are_those_of_the_pairs(self):
        done = run("matrix", *self.FILES, "--json")
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        matrix = json.loads(done.stdout)
        self.assertEqual([e.message for e in contract("matrix").iter_errors(matrix)], [])
        self.assertEqual(matrix["clusters"][0], [0, 1])
        self.assertEqual([r["configuration"] for r in matrix["runs"]][:3], [0, 0, 1])
        self.assertEqual(len(matrix["cells"]), len(self.FILES) ** 2)
        for cell in matrix["cells"]:
            r, t = cell["reference"], cell["target"]
            if r == t:
                self.assertTrue(cell["floor"])
                continue
            report = json.loads(run(self.FILES[r], self.FILES[t], "--format", "json", "--resamples", "0").stdout)
            self.assertEqual(cell["bitwise_equal"], report["exit"] == 0)
            for key, value in cell["values"].items():
                if key in report["measures"]:
                    expected = report["measures"][key]["value"]
                    if value is None or expected is None:
                        self.assertEqual(value, expected)
                    else:
                        self.assertAlmostEqual(value, expected, delta=1e-9 * abs(expected), msg=(r, t, key))

    def test_noise_floor_on_the_diagonal(self):
        matrix = json.loads(run("matrix", *self.FILES, "--json").stdout)
        diagonal = [c for c in matrix["cells"] if c["reference"] == c["target"]]
        self.assertEqual(diagonal[0]["values"]["A1"], 100)
        alone = json.loads(run("matrix", *self.FILES[:3], "--json").stdout)["cells"][-1]
        self.assertEqual((alone["reference"], alone["target"], alone["values"]), (2, 2, {}))
        self.assertIn("repeat", alone["why_null"])

    def test_forms(self):
        text = run("matrix", *self.FILES).stdout.decode()
        self.assertIn("1 = 2", text.split("Bitwise equal\n")[1].split("\n")[0])
        self.assertNotIn("\x1b", text)
        page = run("matrix", *self.FILES, "--html").stdout
        self.assertEqual(html_faults(page), "")
        out = FOLDER / "m.html"
        self.assertEqual(run("matrix", *self.FILES, "-o", out.name).returncode, 1)
        self.assertEqual(out.read_bytes(), page)
        out.unlink()
        self.assertEqual(run("matrix", "bf16.ref.moire", "copy.moire").returncode, 0)

    def test_copies(self):
        shutil.copy(FOLDER / "timed.ref.moire", FOLDER / "twin.moire")
        for command in ("matrix", "study"):
            self.trouble(command, "timed.ref.moire", "timed.target.moire", "twin.moire",
                         says="twin.moire: is a copy of timed.ref.moire")
        self.trouble(*pair("timed"), "--repeat", "twin.moire", says="a copy of the reference")
        shutil.copy(FOLDER / "timed.target.moire", FOLDER / "twin.moire")
        self.trouble(*pair("timed"), "--repeat", "twin.moire", "--criterion", "floor(1)", says="a copy of the target")
        (FOLDER / "twin.moire").unlink()

    def test_same_bytes_at_any_thread_count(self):
        self.assertEqual(len({run("matrix", *self.FILES, "--json", "--threads", n).stdout for n in (1, 3)}), 1)

    def test_trouble(self):
        self.trouble("matrix", "bf16.ref.moire", says="REF T1 T2")
        self.trouble("matrix", "bf16.ref.moire", "bf16.ref.moire", says="twice")
        self.trouble("matrix", "bf16.ref.moire", "nowhere.moire", says="nowhere.moire")
        self.trouble("matrix", *self.FILES, "--json", "--html", says="--html")
        self.trouble("matrix", "bf16.ref.moire", "stranger.moire", status=3)
        self.trouble("matrix", *self.FILES, "-o", "bf16.ref.moire", says="bf16.ref.moire")


class Study(Case):
    FILES = ["bf16.ref.moire", "bf16.target.moire", "topk.target.moire"]

    def test_values_are_those_of_the_comparisons(self):
        done = run("study", *self.FILES, "--json", "--resamples", "200")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        study = json.loads(done.stdout)
        self.assertEqual([e.message for e in contract("study").iter_errors(study)], [])
        self.assertEqual((len(study["targets"]), study["baseline"]), (2, 0))
        known = 0
        for i, target in enumerate(self.FILES[1:]):
            report = json.loads(run(self.FILES[0], target, "--format", "json", "--resamples", "0").stdout)
            for key, row in study["measures"].items():
                value = row["values"][i]["value"]
                expected = report["measures"][key]["value"]
                if value is not None:
                    known += 1
                    self.assertAlmostEqual(value, expected, delta=1e-9 * abs(expected) + 1e-12, msg=key)
                    interval = row["values"][i]["interval"]
                    if interval:
                        self.assertLessEqual(interval["low"], interval["high"])
        self.assertGreater(known, 5)

    def test_forms(self):
        text = run("study", *self.FILES, "--resamples", "100").stdout.decode()
        self.assertIn("2 targets against", text.split("\n")[0])
        page = run("study", *self.FILES, "--resamples", "100", "--html").stdout
        self.assertEqual(html_faults(page), "")
        same = {run("study", *self.FILES, "--json", "--resamples", "100", "--threads", n).stdout for n in (1, 3)}
        self.assertEqual(len(same), 1)

    def test_targets_of_different_lengths(self):
        """Only the rows that stand in every target go in, and each target says how many it has."""
        files = ["free.ref.moire", "free.target.moire", "free.copy.moire"]
        shutil.copy(FOLDER / files[0], FOLDER / files[2])
        study = json.loads(run("study", *files, "--json", "--resamples", "200").stdout)
        reports = [json.loads(run(files[0], target, "--format", "json", "--resamples", "0").stdout)
                   for target in files[1:]]
        rows = [r["alignment"]["rows"] for r in reports]
        self.assertGreater(rows[1], rows[0])
        self.assertEqual((study["target_rows"], study["rows_used"]), (rows, [rows[0], rows[0]]))
        self.assertAlmostEqual(study["measures"]["C1"]["values"][0]["value"] / reports[0]["measures"]["C1"]["value"], 1)
        self.assertEqual(study["measures"]["C1"]["changes"][1]["value"], -100)
        text = run("study", *files, "--resamples", "200").stdout.decode()
        self.assertIn(f"{rows[1] - rows[0]} left out: not in every target", text)
        self.assertNotIn("+-", text)
        self.assertRegex(text, r"A1 +equal bits +\+[\d.]+ points")
        (FOLDER / files[2]).unlink()

    def test_trouble(self):
        self.trouble("study", *self.FILES[:2], says="REF T1 T2")
        self.trouble("study", *self.FILES, "--baseline", "nobody.moire", says="nobody.moire")
        self.trouble("study", *self.FILES, "--full", self.FILES[0], says="--full")
        self.trouble("study", *self.FILES, "stranger.moire", status=3)


class Export(Case):
    def arrays(self, folder, *more):
        run("export", "moe.ref.moire", "--npy", folder, *more)
        return {p.name[:-4]: np.load(p) for p in Path(folder).glob("*.npy")}

    def test_csv(self):
        with tempfile.TemporaryDirectory() as out:
            expected = self.arrays(f"{out}/npy")
            done = run("export", "moe.ref.moire", "--csv", f"{out}/csv")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            rows = json.loads(Path(f"{out}/csv/rows.json").read_text())
            self.assertEqual({p.name[:-4] for p in Path(f"{out}/csv").glob("*.csv")}, set(expected))
            for name, array in expected.items():
                with open(f"{out}/csv/{name}.csv", newline="", encoding="utf-8") as file:
                    head, *lines = csv.reader(file)
                if name == "gen.ids":
                    self.assertEqual((head, lines), (["sample", "position", "value"], []))
                    continue
                self.assertEqual(head, ["sample", "position", *map(str, range(array.shape[1]))])
                self.assertEqual([(a, int(b)) for a, b, *_ in lines], [(r["sample"], r["position"]) for r in rows])
                np.testing.assert_array_equal(np.array([l[2:] for l in lines], np.float32), array.astype(np.float32))

    def test_integers_beyond_doubles(self):
        with tempfile.TemporaryDirectory() as out:
            run("export", "integers.ref.moire", "--csv", out)
            with open(f"{out}/counter.out.csv", newline="") as file:
                self.assertEqual([int(x) for x in list(csv.reader(file))[1][2:]], [2 ** 53 + 2 * i + 1 for i in range(4)])
            run("export", "integers.ref.moire", "--npy", out)
            self.assertEqual(np.load(f"{out}/counter.out.npy")[0, 2], 2 ** 53 + 5)

    def test_safetensors(self):
        with tempfile.TemporaryDirectory() as out:
            widened, raw = self.arrays(f"{out}/npy"), self.arrays(f"{out}/raw", "--raw")
            run("export", "moe.ref.moire", "--safetensors", f"{out}/st")
            data = Path(f"{out}/st/capture.safetensors").read_bytes()
            size, = struct.unpack("<Q", data[:8])
            self.assertEqual(size % 8, 0)
            header, body = json.loads(data[8:8 + size]), data[8 + size:]
            header.pop("__metadata__")
            self.assertEqual(set(header), set(widened))
            types = {"BF16": np.uint16, "F32": np.float32, "I32": np.int32}
            end = 0
            for name, tensor in header.items():
                begin, stop = tensor["data_offsets"]
                self.assertEqual(begin, end)
                end = stop
                array = np.frombuffer(body[begin:stop], types[tensor["dtype"]]).reshape(tensor["shape"])
                np.testing.assert_array_equal(array, raw[name])
            self.assertEqual(end, len(body))

    def test_trouble(self):
        self.trouble("export", "info.moire", says="--safetensors DIR")
        self.trouble("export", "info.moire", "--npy", "never", "--csv", "never", says="more than one format")
        self.trouble("export", "info.moire", "--csv", "info.moire", says="info.moire")


if __name__ == "__main__":
    main()
