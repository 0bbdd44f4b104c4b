# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of prompts and of ids, and references of a replay, that cannot be run: each names its place and what to do next."""
import json
import os
import unittest

from capture_case import CAPTURE, CaptureCase, make_model

FULL = os.environ.get("MOIRE_FULL") == "1"


class BadPrompts(CaptureCase):
    def run_refused(self, option, path, says, model=None):
        said = self.refused("run", model or self.model, option, path, "-o", self.folder / "out.moire", says=says)
        self.assertEqual(list(self.folder.glob("out.moire*")), [])
        return said

    def test_lines(self):
        cases = [('{"id": "a"}', "neither"), ('{"text": 5}', '"text" is not a text'), ('{"ids": "5"}', '"ids" is not a list'),
                 ("[]", "not an object"), ('{"text": "a", "label": {}}', '"label"'), ('{"text": "a", "choices": 5}', '"choices"'),
                 ('{"text": "a", "category": [1]}', '"category"'), ('{"id": ["a"], "text": "a"}', '"id"'),
                 ('{"ids": [1.5]}', "not a whole number"), ('{"ids": [null]}', "not a whole number"), ('{"ids": ["1"]}', "not a whole number"),
                 ('{"ids": [-1]}', "-1 is outside"), ('{"ids": [18446744073709551616]}', "outside"), ('{"ids": [1e400]}', "out of range|not JSON"),
                 ('{"text": "a", "text": "b"}', "twice"), ('{"text": ' + "[" * 100 + "]" * 100 + "}", "nested")]
        for line, says in cases if FULL else cases[:14:2] + cases[14:]:
            with self.subTest(line[:40]):
                # The line's number counts the empty ones.
                self.run_refused("--prompts", self.write("p.jsonl", '\n{"text": "sound"}\n\n' + line + "\n"), f"p.jsonl, line 4: .*({says})")

    def test_samples(self):
        for content, says in (('{"ids": []}', "sample 0: the prompt is empty"), ('{"id": "x", "text": ""}', "sample x: the prompt is empty"),
                              ('{"text": "a"}\n{"id": "0", "text": "b"}', '"0" is there twice'), ('{"id": "x", "ids": [99999]}', "sample x: .*99999"),
                              ("", "no prompt"), (" \n\t\r\n", "no prompt")):
            with self.subTest(content):
                self.run_refused("--prompts", self.write("p.jsonl", content), says)

    def test_ids(self):
        for content, says in (("[]", "not a list of token ids"), ("[[]]", "sample 0: the prompt is empty"), ("[1, [2]]", "mixes"), ("[[1], 2]", "mixes"),
                              ("7", "not a list"), ("null", "not a list"), ("[1", "not JSON"), ("", "not JSON"), ("[true]", "whole number"),
                              ("[[1], [2, -5]]", "-5"), ("[4294967297]", "4294967297"), ("[-9223372036854775809]", "outside")):
            with self.subTest(content):
                said = self.run_refused("--ids", self.write("ids.json", content), says)
                self.assertNotIn("Fetch", said)

    def test_references(self):
        reference = self.run_model("reference", "--text", "The capital")
        whole = reference.read_bytes()
        self.run_refused("--replay-from", self.write("empty.moire", ""), "empty.moire: is empty")
        for cut in (100, 600, len(whole) // 2, len(whole) - 1):
            self.run_refused("--replay-from", self.write("cut.moire", whole[:cut]), "cut.moire")
        for at in (8, 30, 600, len(whole) // 2):
            damaged = bytearray(whole)
            damaged[at:at + 8] = b"\xff" * 8
            path = self.write("damaged.moire", bytes(damaged))
            done = self.call(CAPTURE, "run", self.model, "--replay-from", path, "-o", self.folder / "damaged-out.moire")
            self.assertIn(done.returncode, (0, 2), at)  # damage in values does not matter to a replay, but no crash

    def test_a_reference_of_another_model(self):
        other = make_model(self.folder / "other", VOCABULARY=300)
        known = self.run_model("known", "--ids", self.write("a.json", "[5, 6]"))
        # Legal, but hardly what was meant: said on stderr.
        done = self.call(CAPTURE, "run", other, "--replay-from", known, "-o", self.folder / "o.moire")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.decode(), r"^moire-capture: .*known\.moire was recorded with another tokenizer; .*\n$")
        unknown = self.run_model("unknown", "--ids", self.write("b.json", "[5, 600]"))
        done = self.call(CAPTURE, "run", other, "--replay-from", unknown, "-o", self.folder / "o2.moire")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), "token id 600 is outside the vocabulary of 300")


if __name__ == "__main__":
    unittest.main()
