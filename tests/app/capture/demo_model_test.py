# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The demo's model and prompts: tokens, experts and logits are those of transformers (make_demo_expected.py), in both
arithmetics; and what is said about the model's size."""
import json
import unittest
from pathlib import Path

import h5py
import numpy as np

from capture_case import SOURCE, CaptureCase

DEMO = SOURCE / "resources/demo"
MODEL = DEMO / "austen-moe"
EXPECTED = Path(__file__).with_name("demo_model_expected.jsonl")


class DemoModel(CaptureCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.expected = [json.loads(line) for line in EXPECTED.read_text().splitlines()][1:]

    def check(self, arithmetic):
        path = self.run_model(arithmetic, "--prompts", DEMO / "moe_prompts.jsonl", "--policy", "fp32", "--arithmetic", arithmetic,
                              "--max-new", "24", "--ignore-eos", model=MODEL)
        with h5py.File(path) as file:
            samples, tokens = file["rows"]["sample"], file["tokens"][:]
            routers = sorted(file["routing"])
            for n, sample in enumerate(self.expected):
                with self.subTest(arithmetic, sample=sample["id"]):
                    rows = np.flatnonzero(samples == n)[:len(sample["ids"])]
                    self.assertEqual(tokens["id"][tokens["sample"] == n].tolist(), sample["ids"] + sample["generated"])
                    for router, experts in zip(routers, sample["experts"]):
                        self.assertEqual(file["routing"][router]["ids"][rows].tolist(), experts, router)
                    np.testing.assert_allclose(file["values/lm_head.out"][rows[-1], :16], sample["last_logits"], atol=2e-4)

    def test_ordered(self):
        self.check("ordered")

    def test_native(self):
        self.check("native")

    def test_size(self):
        self.assertLess((MODEL / "model.safetensors").stat().st_size, 8 << 20)


if __name__ == "__main__":
    unittest.main()
