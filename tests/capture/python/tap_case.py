# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of moire_tap share: the package from the source tree, a folder, moire-diff, a reader by h5py."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("MOIRE_SOURCE", Path(__file__).resolve().parents[3]))
DIFF = Path(os.environ.get("MOIRE_BIN", SOURCE / "build" / "bin")) / "moire-diff"
CAPTURE = DIFF.with_name("moire-capture")
sys.path.insert(0, str(SOURCE / "capture" / "python"))

import h5py
import numpy as np

DTYPE_NAMES = {1: "bf16", 2: "fp16", 3: "fp32", 4: "fp64"}


class Capture:
    """A capture's tables by h5py alone."""

    def __init__(self, path, swmr=False):
        with h5py.File(path, "r", swmr=swmr) as file:
            commit = file["commit"][:]
            self.commit = commit[commit["sequence"].argmax()]
            rows = int(self.commit["rows_count"])
            self.rows = file["rows"][:rows]
            self.counts = {name: int(self.commit[f"{name}_count"]) for name in ("taps", "samples", "tokens", "environment",
                                                                               "endings", "events", "text", "tap_inputs",
                                                                               "routers", "choices")}
            text = file["text"][: self.counts["text"]].tobytes()
            ref = lambda r: text[int(r["offset"]):int(r["offset"]) + int(r["length"])].decode()
            read = lambda name: file[name][: self.counts[name]]
            self.taps = read("taps")
            self.names = [ref(tap["name"]) for tap in self.taps]
            inputs = read("tap_inputs")
            self.inputs = {name: [self.names[i] for i in inputs[int(tap["inputs_begin"]):][:int(tap["inputs_count"])]]
                           for name, tap in zip(self.names, self.taps)}
            self.complete_inputs = {name for name, tap in zip(self.names, self.taps) if tap["inputs_complete"]}
            self.samples = [ref(sample["id"]) for sample in read("samples")]
            tokens = read("tokens")
            self.vocabulary = [text[int(t["bytes_offset"]):][:int(t["bytes_length"])] for t in tokens if t["sample"] == 2**32 - 1]
            self.tokens = {s: [t for t in tokens if t["sample"] == s] for s in range(len(self.samples))}
            self.text = text
            self.endings = {int(e["sample"]): ref(e["stop_reason"]) for e in read("endings")}
            self.events = [ref(event["text"]) for event in read("events")]
            self.environment = {}
            for field in read("environment"):
                value = [ref(field["text"]), int(field["integer"]), float(field["real"]), bool(field["integer"])]
                self.environment[ref(field["key"])] = value[int(field["kind"])]
            self.routers = [ref(router["module"]) for router in read("routers")]
            self.values = {name: data[:rows] for name, data in file.get("values", {}).items()}
            self.digests = file["digests"][:rows] if "digests" in file else None
            self.statistics = file["statistics"][:rows] if "statistics" in file else None
            self.top_k = {name: data[:rows] for name, data in file.get("top_k", {}).items()}
            self.routing = {module: {name: data[:rows] for name, data in tables.items()}
                            for module, tables in file.get("routing", {}).items()}

    @property
    def state(self):
        return int(self.commit["state"])

    def ids(self, sample):
        return [int(token["id"]) for token in self.tokens[sample]]

    def positions(self, sample):
        return [int(row["position"]) for row in self.rows if row["sample"] == sample]


class TapCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="moire_tap_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_program(self, program, *arguments):
        return subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=240, check=False)

    def assert_sound(self, path):
        done = self.run_program(DIFF, "verify", path)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def compare(self, reference, target, *arguments):
        """(exit status, the report as JSON)."""
        done = self.run_program(DIFF, reference, target, "--format", "json", "--quiet", *arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode, json.loads(done.stdout)

    def assert_same_bits(self, one, other):
        one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
        self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
        kind = f"u{one.dtype.itemsize}"
        self.assertTrue((one.view(kind) == other.view(kind)).all())
