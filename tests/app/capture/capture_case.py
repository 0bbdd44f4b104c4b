# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the programs share: a tiny OLMoE model, ways to call moire-capture and moire-diff."""
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

BIN = Path(os.environ["MOIRE_BIN"])
SOURCE = Path(os.environ["MOIRE_SOURCE"])
CAPTURE = BIN / "moire-capture"
DIFF = BIN / "moire-diff"
LIMIT = 300  # seconds that any call may take, on a machine that is busy with other tests


def model_maker():
    spec = importlib.util.spec_from_file_location("make_moe_model", Path(__file__).with_name("make_moe_model.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_model(folder, **sizes):
    """A model of the demo's kind, smaller: about 100,000 parameters unless told otherwise."""
    maker = model_maker()
    for name, value in {"HIDDEN": 32, "LAYERS": 2, "EXPERTS": 4, "CHOSEN": 2, "EXPERT_WIDTH": 16, **sizes}.items():
        setattr(maker, name, value)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(maker.config()))
    (folder / "tokenizer.json").write_text(json.dumps(maker.tokenizer_of(maker.TEXT)))
    maker.write_weights(folder / "model.safetensors", 7)
    return folder


def read_safetensors(path):
    """Header and data of a file."""
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    return json.loads(raw[8:8 + size]), raw[8 + size:]


def write_safetensors(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class CaptureCase(unittest.TestCase):
    """Each class gets a folder with a model in it, each test a folder of its own."""

    sizes = {}

    def process(self, *command, **options):
        """A program that runs on; it is ended with the test."""
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    @classmethod
    def setUpClass(cls):
        cls.shared = Path(tempfile.mkdtemp(prefix="moire-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.model = make_model(cls.shared / "model", **cls.sizes)

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=self.shared))

    def call(self, program, *arguments, **options):
        return subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=LIMIT, check=False, **options)

    def capture(self, *arguments, **options):
        """moire-capture, which has to succeed."""
        done = self.call(CAPTURE, *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return done.stdout.decode()

    def run_model(self, name, *arguments, model=None):
        """A capture in this test's folder."""
        path = self.folder / f"{name}.moire"
        self.capture("run", model or self.model, *arguments, "-o", path)
        return path

    def refused(self, *arguments, says=None, **options):
        """moire-capture ends with 2 and one sentence on stderr, and nothing on stdout."""
        done = self.call(CAPTURE, *arguments, **options)
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 2, said + done.stdout.decode(errors="replace"))
        self.assertEqual(done.stdout, b"")
        self.assertEqual(said.count("\n"), 1, said)
        self.assertTrue(said.startswith("moire-capture: "), said)
        self.assertGreaterEqual(len(re.findall(r"[.?](?: |\n|$)", said)), 2, "what to do next is missing: " + said)
        if says:
            self.assertRegex(said, says)
        return said

    def info(self, path):
        done = self.call(DIFF, "info", path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return json.loads(done.stdout)

    def compare(self, reference, target, *options):
        """Exit status and text of a comparison."""
        done = self.call(DIFF, reference, target, *options)
        return done.returncode, done.stdout.decode() + done.stderr.decode()

    def assert_bitwise_equal(self, reference, target):
        status, text = self.compare(reference, target)
        self.assertEqual(status, 0, text)
        self.assertIn("Bitwise equal", text)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
