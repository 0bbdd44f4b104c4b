# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""serve() with a model of Hugging Face: what a client receives while it generates is what record() writes of the same."""
import subprocess
import sys
import threading
import unittest

from tap_models import ids_of, tiny, torch

from tap_case import CAPTURE, SOURCE, TapCase

sys.path.insert(0, str(SOURCE / "tests" / "support"))

from received_run import ReceivedRun, differences
from wire_client import Client, Refused

import moire_tap


def generate(model, batch=1, tokens=12):
    ids = ids_of(9, batch=batch)
    model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False)


class Watched(TapCase):
    def setUp(self):
        super().setUp()
        self.model = tiny("olmoe", torch.bfloat16)
        self.server = moire_tap.serve(self.model, "tcp://127.0.0.1:0", name="tiny")
        self.addCleanup(self.server.close, 0)
        self.client = Client(self.server.address)
        self.addCleanup(self.client.close)

    def file(self, name, run, **options):
        path = self.folder / f"{name}.moire"
        with moire_tap.record(self.model, path, **options):
            run()
        return path

    def received_while(self, run, **options):
        """The run that the process makes in another thread, received as it comes."""
        def make():
            with self.server.record(wait=20, **options):
                run()

        thread = threading.Thread(target=make)
        before = len(self.client.runs())
        thread.start()
        while len(self.client.runs()) == before:
            pass
        received = ReceivedRun().take_all(self.client.stream(self.client.runs()[-1]["run"]))
        thread.join()
        return received

    def test_generate(self):
        for batch in (1, 3):
            path = self.file(f"file{batch}", lambda: generate(self.model, batch))
            received = self.received_while(lambda: generate(self.model, batch))
            self.assertIsNotNone(received.finish)
            self.assertEqual(differences(received, path), [])
            self.assertEqual(received.row_count, batch * 20)

    def test_levels_and_taps(self):
        for options in (dict(level="topk"), dict(level="digest"), dict(taps=["*.mlp.out", "lm_head.out"], rows=3)):
            path = self.file("file", lambda: generate(self.model), **options)
            self.assertEqual(differences(self.received_while(lambda: generate(self.model), **options), path), [])

    def test_what_it_says_of_its_model(self):
        model = self.client.models()[0]
        self.assertEqual((model["name"], model["architecture"]), ("tiny", "OlmoeForCausalLM"))
        self.assertTrue(model["problem"])
        names = {tap["name"] for tap in self.client.taps("tiny")}
        self.assertIn("model.layers.0.mlp.out", names)
        self.received_while(lambda: generate(self.model), taps="lm_head.out")
        self.assertEqual([(tap["name"], tap["dtype"], tap["width"]) for tap in self.client.taps("tiny")],
                         [("lm_head.out", "bf16", 96)])
        with self.assertRaises(Refused) as refused:
            self.client.run("tiny", {"prompt": "a"})
        self.assertEqual(refused.exception.reason, "unsupported")

    def test_an_exception_ends_the_run_only(self):
        with self.assertRaises(ZeroDivisionError):
            with self.server.record():
                generate(self.model)
                1 / 0
        received = ReceivedRun().take_all(self.client.stream(self.client.runs()[-1]["run"]))
        self.assertEqual((received.broken["state"], received.row_count), ("failed", 20))
        self.assertIsNotNone(self.received_while(lambda: generate(self.model)).finish)

    def test_moire_capture_record(self):
        """moire-capture receives the same, also beginning in the middle of the run."""
        path = self.file("file", lambda: generate(self.model))
        with self.server.record():
            generate(self.model)
        out = self.folder / "attached.moire"
        done = subprocess.run([CAPTURE, "record", "--from", self.server.address, "--attach", self.client.runs()[-1]["run"],
                               "-o", out], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_sound(out)
        status, report = self.compare(path, out)
        self.assertEqual(status, 0, report)
        self.assertEqual(differences(ReceivedRun().take_all(self.client.stream(self.client.runs()[-1]["run"])), out), [])


if __name__ == "__main__":
    unittest.main()
