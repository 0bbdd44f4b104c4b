# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Wrong options, values and input files of moire-capture: exit 2, one sentence, what to do next."""
import json
import subprocess
import unittest

from capture_case import CAPTURE, SOURCE, CaptureCase


class BadArguments(CaptureCase):
    def run_refused(self, *arguments, says):
        self.refused("run", self.model, *arguments, "-o", self.folder / "out.moire", says=says)
        self.assertEqual(list(self.folder.glob("out.moire*")), [])

    def test_no_command(self):
        self.refused(says="The commands are run, taps, tokenize, serve, record, status, runs, models and keygen")

    def test_unknown_command(self):
        self.refused("fly", says="fly")

    def test_unknown_option(self):
        self.run_refused("--text", "a", "--colour", says="--colour")

    def test_sampling(self):
        generated = ("--text", "a", "--max-new", "2")
        self.run_refused("--text", "a", "--temperature", "1", says="about generated tokens")
        self.run_refused(*generated, "--top-p", "0.5", says="about sampling")
        for option, value in (("--temperature", "-1"), ("--temperature", "nan"), ("--top-p", "0"), ("--top-p", "1.1"),
                              ("--min-p", "2"), ("--sample-top-k", "0"), ("--temperature", "warm")):
            temperature = () if option == "--temperature" else ("--temperature", "1")
            self.run_refused(*generated, *temperature, option, value, says=".")

    def test_without_an_effect(self):
        """An option that changes nothing without another one is refused, not passed over."""
        for arguments, says in (
                (("--reduce", "ring"), "there is one rank.*--tp"), (("--reduce", "auto"), "there is one rank"),
                (("--tree-leaf", "4"), "--reduce tree-a"), (("--tp", "2", "--reduce", "ring", "--tree-leaf", "4"), "--reduce tree-a"),
                (("--seed", "3"), "about sampling.*--temperature"), (("--max-new", "2", "--seed", "3"), "about sampling"),
                (("--max-new", "2", "--temperature", "0", "--seed", "3"), "about sampling"),
                (("--ignore-eos",), "generated tokens.*--max-new"), (("--padding", "left"), "batch.*--batch"),
                (("--construction", "steps", "--max-new", "2"), "scored tokens"), (("--construction", "once", "--max-new", "2"), "scored tokens"),
                (("--k-plan", "block=8"), "--arithmetic ordered"), (("--arithmetic", "ordered", "--attention", "sdpa"), "native"),
                (("--prefix", "2"), "--replay-from"), (("--letters", "A,B"), "--task"), (("--shots", "2"), "--task")):
            with self.subTest(" ".join(arguments)):
                self.run_refused("--text", "a", *arguments, says="(?s)" + says)
        dense = SOURCE / "tests/data/models/qwen2"
        self.refused("run", dense, "--ids", self.write("ids.json", "[5, 6]"), "--expert-order", "slots", "-o", self.folder / "out.moire",
                     says="no mixture")

    def test_one_of_several_has_an_effect(self):
        """What a matrix puts together: the same options with one rank, and with batches of one."""
        self.run_model("one", "--text", "a", "--tp", "1", "--reduce", "ring", "--batch", "1", "--padding", "left")

    def test_no_model(self):
        self.refused("run", says="MODEL")
        self.refused("taps", says="MODEL")
        self.refused("tokenize", says="MODEL")

    def test_no_input(self):
        self.run_refused(says="--text")

    def test_two_inputs(self):
        self.run_refused("--text", "a", "--ids", "x.json", says="more than one input")

    def test_wrong_values(self):
        for option, value in (("--level", "all"), ("--policy", "int3"), ("--arithmetic", "exact"), ("--device", "abacus"),
                              ("--construction", "twice"), ("--expert-order", "random"), ("--taps", "model.nothing.*")):
            with self.subTest(option):
                self.run_refused("--text", "a", option, value, says=value.replace("*", r"\*"))

    def test_wrong_numbers(self):
        for option, value in (("--batch", "0"), ("--batch", "x"), ("--batch", "-1"), ("--threads", "0"), ("--threads", "-2"),
                              ("--max-new", "-1"), ("--max-new", "1.5"), ("--top-k", "0"), ("--seed", "-1"),
                              ("--max-new", "99999999999999999999")):
            with self.subTest(option + " " + value):
                self.refused("run", self.model, "--text", "a", f"{option}={value}", "-o", self.folder / "out.moire")

    def test_more_than_the_vocabulary(self):
        self.run_refused("--text", "a", "--top-k", "10000000", says="larger than the vocabulary")

    def test_empty_pattern_file(self):
        self.run_refused("--text", "a", "--taps", "@" + str(self.write("taps", "# none\n")), says="no tap pattern")
        self.run_refused("--text", "a", "--taps", "@" + str(self.folder / "nowhere"), says="nowhere")

    def test_output_folder_missing(self):
        self.refused("run", self.model, "--text", "a", "-o", self.folder / "no" / "out.moire", says="no such folder")

    def test_output_is_a_folder(self):
        self.refused("run", self.model, "--text", "a", "-o", self.folder, says="folder")

    def test_no_such_device(self):
        self.run_refused("--text", "a", "--device", "cuda:7", says="cuda")

    def test_replay_with_generation(self):
        reference = self.run_model("reference", "--text", "The capital")
        self.run_refused("--replay-from", reference, "--max-new", "3", says="--max-new")

    def test_replay_onto_itself(self):
        reference = self.run_model("reference", "--text", "The capital")
        before = reference.read_bytes()
        self.refused("run", self.model, "--replay-from", reference, "-o", reference, says="reference itself")
        self.assertEqual(reference.read_bytes(), before)

    def test_replay_from_no_capture(self):
        self.run_refused("--replay-from", self.folder / "nowhere.moire", says="nowhere")
        self.run_refused("--replay-from", self.write("x.moire", "no capture"), says="x.moire")
        self.run_refused("--replay-from", self.folder, says="folder")

    def test_empty_prompt(self):
        self.run_refused("--text", "", says="empty")

    def test_id_outside_the_vocabulary(self):
        self.run_refused("--ids", self.write("a.json", "[1, 640]"), says="640")
        self.run_refused("--ids", self.write("b.json", "[1, -1]"), says="-1")
        self.run_refused("--ids", self.write("c.json", "[1, 99999999999]"), says="99999999999")
        # The largest one is legal, although the tokenizer does not know it.
        self.capture("run", self.model, "--ids", self.write("d.json", "[1, 639]"), "-o", self.folder / "d.moire")

    def test_prompt_longer_than_the_context(self):
        self.run_refused("--ids", self.write("a.json", json.dumps([5] * 1025)), says="1024")
        self.run_refused("--ids", self.write("b.json", json.dumps([5] * 1000)), "--max-new", "100", says="context")

    def test_bad_prompt_files(self):
        for name, content, says in (
                ("not_json", "{text", "line 1"), ("empty", "\n", "no prompt"), ("neither", '{"id": "x"}', "neither"),
                ("both", '{"text": "a", "ids": [1]}', "both"), ("bytes", b'{"text": "\xff"}', "line 1"),
                ("twice", '{"id": "x", "ids": [1]}\n{"id": "x", "ids": [2]}', "twice")):
            with self.subTest(name):
                self.run_refused("--prompts", self.write(name, content), says=says)
        self.run_refused("--prompts", self.folder / "nowhere", says="nowhere")
        self.run_refused("--prompts", self.folder, says="folder")
        self.run_refused("--ids", self.write("ids", '{"a": 1}'), says="list")

    def test_tokenize(self):
        self.refused("tokenize", self.model, says="--text")
        self.refused("tokenize", self.model, "--text", "a", "--file", "b", says="--text")
        self.refused("tokenize", self.model, "--file", self.folder / "nowhere", says="nowhere")

    def test_full_output(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([CAPTURE, "taps", self.model], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)

    def test_help_and_version_are_well(self):
        self.assertIn("run", self.capture("--help"))
        self.assertIn("--replay-from", self.capture("run", "--help"))
        self.assertRegex(self.capture("--version"), r"^moire-capture \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
