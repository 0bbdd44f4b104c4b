# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""moire-diff --live: two daemons on loopback with the demo's model in two arithmetics, or one and a file; the verdict is the
one over the recorded files, trouble is one sentence, and what was begun does not stay."""
import json
import re
import signal
import time
import unittest

from capture_case import CAPTURE, DIFF, LIMIT, SOURCE, CaptureCase
from live_case import Daemon

DEMO = SOURCE / "resources" / "demo"
MODEL = "austen-moe"
TEXT = "It is a truth"
NATIVE = "--policy fp32 --threads 1 --ignore-eos"
ORDERED = "--policy fp32 --threads 1 --arithmetic ordered"


class LiveDiff(CaptureCase):
    def daemon(self, name, *options):
        daemon = Daemon(DEMO, self.folder / name, *options, log=self.folder / f"{name}.log")
        self.addCleanup(daemon.kill)
        return daemon.start()

    def live(self, *arguments, **options):
        return self.call(DIFF, "--live", *arguments, **options)

    def begin(self, *arguments):
        """As a process."""
        return self.process(DIFF, "--live", *arguments)

    def both(self, new):
        return ["--model", MODEL, "--text", TEXT, "--max-new", new, "--reference-options", NATIVE, "--target-options", ORDERED]

    def trouble(self, *arguments, says, status=2, remarks=False):
        """One sentence on stderr, what to do in it, nothing on stdout."""
        done = self.live(*arguments)
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, status, said)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(said.startswith("moire-diff: "), said)
        if not remarks:
            self.assertEqual(said.count("\n"), 1, said)
        self.assertGreaterEqual(len(re.findall(r"[.?](?: |\n|$)", said)), 2, "what to do next is missing: " + said)
        self.assertRegex(said, says)
        return said

    def document(self, done):
        """The report without what is of the occasion."""
        report = json.loads(done.stdout)
        for side in ("reference", "target"):
            report[side].pop("source", None)
            report[side].pop("file", None)
        return report

    def runs(self, daemon):
        done = self.call(CAPTURE, "runs", "--from", daemon.address)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def wait_until_ended(self, daemon, count):
        end = time.monotonic() + LIMIT
        while daemon.log().count("event=run-ends") < count:
            self.assertLess(time.monotonic(), end, daemon.log())
            time.sleep(0.02)
        return re.findall(r"event=run-ends run=(\S+) state=(\w+)", daemon.log())

    def test_two_daemons(self):
        one, two = self.daemon("one"), self.daemon("two")
        ours, theirs = self.folder / "ours.moire", self.folder / "theirs.moire"
        for options in (["--format", "json"], ["--format", "json", "--criterion", "abs<=1"],
                        ["--format", "json", "--taps", "*.mlp.*"], ["--format", "csv"], ["--quiet", "--tolerance", "strict"]):
            done = self.live(one.address, two.address, *self.both(12), "--save-reference", ours, "--save-target", theirs, *options)
            files = self.call(DIFF, ours, theirs, *options)
            self.assertEqual(done.returncode, files.returncode, done.stderr.decode())
            if "json" in options:
                self.assertEqual(self.document(done), self.document(files))
            else:
                self.assertEqual(done.stdout, files.stdout)
            if options == ["--format", "json"]:
                self.assertEqual((done.returncode, self.document(done)["exit"]), (1, 1))
        # Within one arithmetic nothing differs.
        same = self.live(one.address, two.address, "--model", MODEL, "--text", TEXT, "--reference-options", NATIVE, "--target-options",
                         "--policy fp32 --threads 1", "--max-new", 5)
        self.assertEqual(same.returncode, 0, same.stderr.decode() + same.stdout.decode())
        self.assertIn(b"Bitwise equal", same.stdout)

    def test_one_daemon_for_both(self):
        one = self.daemon("one")
        done = self.live(one.address, one.address, *self.both(4))
        self.assertEqual(done.returncode, 1, done.stderr.decode())

    def test_files_on_either_side(self):
        one = self.daemon("one")
        recorded = self.folder / "recorded.moire"
        self.capture("run", DEMO / MODEL, "--text", TEXT, "--max-new", 8, *NATIVE.split(), "-o", recorded)
        saved = self.folder / "saved.moire"
        scored = self.live(recorded, one.address, "--model", MODEL, "--target-options", ORDERED, "--save-target", saved, "--format", "json")
        self.assertEqual(scored.returncode, 1, scored.stderr.decode())
        self.assertEqual(self.document(scored), self.document(self.call(DIFF, recorded, saved, "--format", "json")))
        free = self.live(one.address, recorded, "--model", MODEL, "--text", TEXT, "--max-new", 8, "--reference-options", NATIVE)
        self.assertEqual(free.returncode, 0, free.stderr.decode() + free.stdout.decode())
        # A repeat gives the noise floor, once all is there.
        repeat = self.folder / "repeat.moire"
        self.capture("run", DEMO / MODEL, "--text", TEXT, "--max-new", 8, *NATIVE.split(), "-o", repeat)
        floor = ["--repeat", repeat, "--criterion", "floor(2)", "--format", "json"]
        judged = self.live(recorded, one.address, "--model", MODEL, "--target-options", ORDERED, "--save-target", saved, *floor)
        files = self.call(DIFF, recorded, saved, *floor)
        self.assertEqual(judged.returncode, files.returncode, judged.stderr.decode())
        self.assertEqual(self.document(judged), self.document(files))

    def test_runs_that_are_there(self):
        one, two = self.daemon("one"), self.daemon("two")
        done = self.live(one.address, two.address, *self.both(6))
        names = [self.wait_until_ended(daemon, 1)[0][0] for daemon in (one, two)]
        again = self.live(one.address, two.address, "--reference-run", names[0], "--target-run", names[1])
        self.assertEqual((again.returncode, again.stdout), (done.returncode, done.stdout), again.stderr.decode())
        self.assertEqual(again.stderr, b"")
        self.trouble(one.address, two.address, "--reference-run", "20000101-000000-0", "--target-run", names[1],
                     says="the reference at .*no such run")

    def test_stop_at_first_cancels(self):
        one, two = self.daemon("one"), self.daemon("two")
        saved = self.folder / "saved.moire"
        done = self.live(one.address, two.address, *self.both(300), "--stop-at-first", "--save-reference", saved, "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        report = json.loads(done.stdout)
        self.assertEqual(report["exit"], 1)
        self.assertEqual(report["first"]["bitwise"]["position"], 0)
        for daemon in (one, two):
            self.assertIn(self.wait_until_ended(daemon, 1)[0][1], ("cancelled", "finished"))
        self.assertFalse(saved.with_name("saved.moire.part").exists())
        self.assertGreater(self.info(saved)["rows"], 0)

    def test_an_interruption_cancels(self):
        one, two = self.daemon("one"), self.daemon("two")
        process = self.begin(one.address, two.address, *self.both(400))
        for _ in range(2):  # each side says which run it is
            self.assertIn(b"should this end", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=LIMIT)
        if process.returncode == 1:
            self.skipTest("the runs were over before the signal")
        self.assertEqual((process.returncode, out), (2, b""), said)
        self.assertIn(b"stopped on request", said)
        # The reference may have been at its end already.
        self.assertIn(self.wait_until_ended(one, 1)[0][1], ("cancelled", "finished"))
        self.assertEqual(self.wait_until_ended(two, 1)[0][1], "cancelled")

    def test_a_killed_daemon(self):
        one, two = self.daemon("one"), self.daemon("two")
        process = self.begin(one.address, two.address, *self.both(400), "--wait", 1)
        for _ in range(2):
            self.assertIn(b"should this end", process.stderr.readline())
        two.kill()
        out, said = process.communicate(timeout=LIMIT)
        if process.returncode == 1:
            self.skipTest("the runs were over before the daemon was killed")
        self.assertEqual((process.returncode, out), (2, b""), said)
        self.assertRegex(said.decode(), r"\Amoire-diff: the target at tcp://[^\n]*(--target-run|daemon)[^\n]*\.\n\Z")
        self.wait_until_ended(one, 1)

    def test_trouble(self):
        one = self.daemon("one")
        dead = Daemon(DEMO, None).address
        more = ["--model", MODEL, "--text", TEXT]
        self.trouble(one.address, dead, *more, "--quiet", says="the target at .*nobody answers")
        self.trouble(dead, one.address, *more, "--quiet", says="the reference at .*nobody answers")
        self.trouble(one.address, one.address, "--model", "none", "--text", TEXT, "--quiet", says="the reference at .*none")
        self.trouble(one.address, one.address, *more, "--target-model", "none", "--quiet", says="the target at .*none")
        self.trouble(one.address, one.address, *more, "--reference-options", "--nonsense 3", "--quiet", says="nonsense")
        self.trouble(one.address, one.address, *more, "--tolerance", "fp32", "--taps", "nowhere.*", "--quiet", says="nowhere")

    def test_keys(self):
        keys = self.folder / "keys"
        (keys / "clients").mkdir(parents=True)
        for name in (keys / "server", self.folder / "me", self.folder / "stranger"):
            self.capture("keygen", "-o", name)
        (keys / "clients" / "me.pub").write_bytes((self.folder / "me.pub").read_bytes())
        one = self.daemon("one", "--keys", keys)
        server = ["--server-key", keys / "server.pub"]
        run = [one.address, one.address, *self.both(3), "--quiet"]
        done = self.live(*run, "--key", self.folder / "me.key", *server)
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.trouble(*run, "--key", self.folder / "stranger.key", *server, says="does not accept this key")
        self.trouble(*run, says="wants a key")
        self.trouble(*run, "--key", self.folder / "none.key", *server, says="none.key")

    def test_wrong_options(self):
        file = self.run_model("file", "--text", "The capital", "--max-new", 2)
        address, more = "127.0.0.1:1", ["--model", MODEL, "--text", "x"]
        for arguments, says in (
                ((file, file), "two captures are not live"),
                ((address, address), "no model is named"),
                ((address, address, "--model", MODEL), "there is no prompt"),
                ((file, address, *more), "--text .*capture"),
                ((file, address, "--model", MODEL, "--max-new", 3), "--max-new .*capture"),
                ((file, address, "--model", MODEL, "--reference-run", "x"), "--reference-run .*capture"),
                ((address, file, *more, "--target-options", "--tp 2"), "--target-options .*capture"),
                ((address, file, *more, "--save-target", self.folder / "x.moire"), "capture already"),
                ((address, file, *more, "--save-reference", file), "named twice"),
                ((address, address, "--reference-run", "a", "--target-run", "b", "--level", "topk"), "--level .*no run is made"),
                ((address, address, "--reference-run", "a", "--target-run", "b", "--text", "x"), "--text"),
                ((address, file, *more, "--stop-at-first", "--repeat", self.folder / "r.moire"), "--stop-at-first"),
                ((address, address, *more, "--reference-options", "tp 2"), "'tp' is no option"),
                ((address, address, *more, "--reference-options", "--text 'x"), "quote"),
                ((address, address, *more, "--reference-options", "--task arc:x.jsonl"), "--task"),
                ((address, address, *more, "--reference-options", "--ids none.json"), "none.json"),
                ((address, address, *more, "--prompts", "p.jsonl"), "--text|--prompts"),
                ((address, address, *more, "--level", "much"), "--level"),
                ((address, address, *more, "--max-new", "x"), "--max-new"),
                ((address, address, *more, "--save-reference", self.folder / "none" / "x.moire"), "no such folder"),
                ((address, "no/file", *more), "neither a capture nor"),
                (("192.0.2.1", address, *more), "--insecure|CURVE|key")):
            with self.subTest(says):
                self.trouble(*arguments, says=says)
        done = self.call(DIFF, file, file, "--model", MODEL)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.decode(), "--model needs --live")


if __name__ == "__main__":
    unittest.main()
