# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""`moire-capture run --task`: prompts, labels and predictions against what Python makes of the same files."""
import csv
import json
import re
import unittest

import h5py
import numpy as np

from capture_case import DIFF, SOURCE, CaptureCase, model_maker

DATA = SOURCE / "tests/capture/task/data"
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"


def samples_of(path):
    """id, category, label, prediction and text of each sample, and the asked ids of the table of log-sum-exps."""
    with h5py.File(path) as file:
        pool = file["text"][:].tobytes()

        def text(ref):
            return pool[int(ref["offset"]):int(ref["offset"]) + int(ref["length"])].decode()
        endings = {int(e["sample"]): text(e["prediction"]) for e in file["endings"][:]}
        return [dict(id=text(s["id"]), category=text(s["category"]), label=text(s["label"]), text=text(s["text"]),
                     prediction=endings[i]) for i, s in enumerate(file["samples"][:])]


class Task(CaptureCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        maker = model_maker()
        for letters in ("ABCDE", "VWXYZ"):  # a tokenizer to which " A" behind "Answer:" is one token
            text = maker.TEXT + "".join(f"\nAnswer: {letter}\n" for letter in letters) * 400
            folder = cls.shared / letters
            folder.mkdir()
            for name in ("config.json", "model.safetensors"):
                (folder / name).symlink_to(cls.model / name)
            (folder / "tokenizer.json").write_text(json.dumps(maker.tokenizer_of(text)))
            (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
        cls.plain = cls.model
        cls.model = cls.shared / "ABCDE"
        cls.other = cls.shared / "VWXYZ"

    def ids(self, text, model=None):
        path = self.write("text", text)
        return json.loads(self.capture("tokenize", model or self.model, "--file", path, "--json"))

    def logits(self, path):
        """Logits of the last row of every sample."""
        folder = self.folder / "npy"
        self.assertEqual(self.call(DIFF, "export", path, "--npy", folder, "--taps", "lm_head.out").returncode, 0)
        rows = json.loads((folder / "rows.json").read_text())
        values = np.load(folder / "lm_head.out.npy")
        return {row["sample"]: values[i] for i, row in enumerate(rows)}

    def check_letters(self, path, letters, model):
        token = {c: self.ids(f"\nAnswer: {c}", model)[-1] for c in letters}
        logits = self.logits(path)
        for sample in samples_of(path):
            expected = max(letters[:4], key=lambda c: logits[sample["id"]][token[c]])
            if sample["text"].count("\n" + letters[3] + ". "):  # with four choices
                self.assertEqual(sample["prediction"], expected)

    def test_mmlu(self):
        path = self.run_model("mmlu", "--task", f"mmlu:{DATA / 'mmlu/test'}", "--taps", "lm_head.out")
        samples = samples_of(path)
        self.assertEqual([s["id"] for s in samples],
                         ["kitchen/0", "kitchen/1", "kitchen/2", *(f"small_astronomy/{i}" for i in range(4))])
        self.assertEqual([s["label"] for s in samples], ["C", "B", "A", "B", "C", "A", "C"])
        with open(DATA / "mmlu/test/small_astronomy_test.csv", newline="") as file:
            for sample, row in zip(samples[3:], csv.reader(file)):
                head = "The following are multiple choice questions (with answers) about small astronomy.\n\n"
                choices = "".join(f"\n{letter}. {choice}" for letter, choice in zip("ABCD", row[1:5]))
                self.assertEqual(sample["text"], head + row[0] + choices + "\nAnswer:")
        self.assertNotIn("\nC.", samples[1]["text"])  # two choices
        self.check_letters(path, "ABCDE", self.model)
        done = self.call(DIFF, "info", path)
        self.assertRegex(done.stdout.decode(), r"label +answer")

    def test_few_shots_and_limit(self):
        path = self.run_model("shots", "--task", f"mmlu:{DATA / 'mmlu/test'}", "--taps", "lm_head.out", "--shots", 2, "--limit", 1)
        samples = samples_of(path)
        self.assertEqual([s["id"] for s in samples], ["kitchen/0", "small_astronomy/0"])
        self.assertEqual(samples[1]["text"].count("\nAnswer: "), 2)
        self.assertIn("C. The Sun\nD. Venus\nAnswer: C\n\nHow many moons", samples[1]["text"])

    def test_other_letters(self):
        path = self.run_model("letters", "--task", f"mmlu:{DATA / 'mmlu/test/small_astronomy_test.csv'}", "--letters", "V,W,X,Y",
                              "--taps", "lm_head.out", model=self.other)
        self.assertEqual([s["label"] for s in samples_of(path)], ["W", "X", "V", "X"])
        self.check_letters(path, "VWXYZ", self.other)

    def test_batches_change_no_prediction(self):
        task = ("--task", f"mmlu:{DATA / 'mmlu/test'}", "--taps", "lm_head.out", "--arithmetic", "ordered")
        self.assertEqual(samples_of(self.run_model("one", *task)), samples_of(self.run_model("three", *task, "--batch", 3)))

    def test_arc(self):
        path = self.run_model("arc", "--task", f"arc:{DATA / 'arc.jsonl'}", "--taps", "lm_head.out")
        samples = samples_of(path)
        self.assertEqual([(s["id"], s["label"]) for s in samples], [("own-1", "B"), ("own-2", "A"), ("own-3", "C")])
        self.assertIn("Which tool measures temperature?\nA. A ruler\nB. A scale\n", samples[2]["text"])
        shots = samples_of(self.run_model("shot", "--task", f"arc:{DATA / 'arc.jsonl'}", "--taps", "lm_head.out", "--shots", 1))
        self.assertEqual([s["id"] for s in shots], ["own-2", "own-3"])
        self.assertIn("D. A river\nAnswer: B\n\n", shots[0]["text"])

    def test_chat(self):
        path = self.run_model("chat", "--task", f"arc:{DATA / 'arc.jsonl'}", "--chat", "--taps", "lm_head.out")
        self.assertEqual(self.call(DIFF, "export", path, "--npy", self.folder / "npy").returncode, 0)
        for sample in samples_of(path):
            self.assertTrue(sample["text"].startswith("<user>"))
            self.assertTrue(sample["text"].endswith("only.<assistant>"))
            self.assertIn(sample["prediction"], ["", *"ABCD"])

    def test_a_comparison_shows_the_answers(self):
        task = ("--task", f"mmlu:{DATA / 'mmlu/test'}", "--taps", "lm_head.out")
        reference = self.run_model("reference", *task)
        target = self.run_model("target", *task, "--arithmetic", "ordered")
        done = self.call(DIFF, reference, target, "--format", "json")
        measures = json.loads(done.stdout)["measures"]
        answers = [(s["label"], s["prediction"], t["prediction"]) for s, t in zip(samples_of(reference), samples_of(target))]
        self.assertEqual(measures["J1"]["n"], len(answers))
        self.assertAlmostEqual(measures["J1"]["value"], 100 * np.mean([a[0] == a[2] for a in answers]))
        self.assertAlmostEqual(measures["J2"]["value"], 100 * np.mean([a[1] == a[2] for a in answers]))

    def test_a_replay_answers_again(self):
        reference = self.run_model("reference", "--task", f"mmlu:{DATA / 'mmlu/test'}", "--taps", "lm_head.out")
        replay = self.run_model("replay", "--replay-from", reference, "--taps", "lm_head.out")
        self.assertEqual(samples_of(replay), samples_of(reference))
        chat = self.run_model("chat", "--task", f"arc:{DATA / 'arc.jsonl'}", "--chat", "--taps", "lm_head.out")
        scored = self.run_model("scored", "--replay-from", chat, "--taps", "lm_head.out")
        self.assertEqual({s["prediction"] for s in samples_of(scored)}, {""})
        measures = json.loads(self.call(DIFF, chat, scored, "--format", "json").stdout)["measures"]
        self.assertIsNone(measures["J1"]["value"])
        self.assertIn("predictions", measures["J1"]["why_null"])

    def test_bad_tasks(self):
        def task(kind, name, content):
            return ("--task", f"{kind}:{self.write(name, content)}")
        question = {"id": "x", "question": {"stem": "q", "choices": [{"text": "a", "label": "A"}, {"text": "b", "label": "B"}]}}
        for arguments, says in [
                (("--task", "mmlu"), "names no task"), (("--task", "hellaswag:x"), "names no task"),
                (("--task", f"mmlu:{self.folder / 'nowhere.csv'}"), "nowhere"), (("--task", f"mmlu:{DATA.parent}"), "no .csv"),
                (task("mmlu", "a.csv", ""), "no question"),
                (task("mmlu", "head.csv", "question,A,B,C,D,answer\n"), "no question"), (task("mmlu", "b.csv", "q,a\n"), "2 columns"),
                (task("mmlu", "c.csv", "q,a,b,c,d,\n"), "no answer"), (task("mmlu", "d.csv", "q,a,b,c,d,F\n"), "none of the 4"),
                (task("mmlu", "e.csv", "question,A,answer\nq,a,A\n"), "no columns A, B"),
                (task("mmlu", "f.csv", "question,A,B\nq,a,b\n"), "no column answer"), (task("mmlu", "g.csv", '"q,a,b,c,d,A'), "not closed"),
                (task("mmlu", "h.csv", '"q" x,a,b,A\n'), "behind a closing quote"),
                (task("mmlu", "i.csv", "q,a,b,c,d,e,f,A\n"), "6 choices"),
                (task("mmlu", "j.csv", "question,id,A,B,answer\nq,x,a,b,A\nr,x,a,b,B\n"), "twice"),
                (task("arc", "a.jsonl", "\n"), "no question"), (task("arc", "b.jsonl", "{"), "line 1"),
                (task("arc", "c.jsonl", json.dumps(question)), "answerKey"),
                (task("arc", "d.jsonl", json.dumps({**question, "answerKey": "C"})), "answerKey"),
                (task("arc", "e.jsonl", json.dumps({"question": "q", "choices": {"text": ["a"], "label": []}, "answerKey": "A"})), "two choices"),
                ((*task("arc", "f.jsonl", json.dumps({**question, "answerKey": "A"})), "--shots", 1), "no questions left"),
                (("--task", f"mmlu:{DATA / 'mmlu/test'}", "--shots", 3), "2 solved questions"),
                (("--task", f"mmlu:{DATA / 'mmlu/test'}", "--letters", "A,A,B,C"), "not all different"),
                (("--task", f"mmlu:{DATA / 'mmlu/test'}", "--letters", "A,B"), "choices"),
                (("--text", "x", "--shots", 1), "about questions"), (("--text", "x", "--task", "arc:y"), "more than one input"),
                (("--task", f"mmlu:{DATA / 'mmlu/test'}", "--letters", "Alpha,Beta,Gamma,Delta"), "not one token")]:
            with self.subTest(arguments=arguments):
                self.refused("run", self.model, *arguments, "-o", self.folder / "out.moire", says=re.escape(says))
                self.assertFalse((self.folder / "out.moire").exists())


if __name__ == "__main__":
    unittest.main()
