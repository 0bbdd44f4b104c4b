# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""moire-capture serve as a process: its options, its files, its end; and that what it makes is what run makes."""
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import time
import unittest

from capture_case import CAPTURE, LIMIT, SOURCE, CaptureCase

sys.path.insert(0, str(SOURCE / "tests" / "support"))
from received_run import OF_THE_OCCASION, ReceivedRun, differences  # noqa: E402
from wire_client import Client, Refused, encode  # noqa: E402


class Served:
    """A daemon on ports of the system's choice."""

    def __init__(self, models, *arguments):
        self.process = subprocess.Popen([CAPTURE, "serve", "--models", models, "--bind", "tcp://127.0.0.1:0", *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(r"Serving at (tcp://127\.0\.0\.1:\d+)\n", line)
        if not found:
            raise AssertionError(line + self.process.stderr.read().decode())
        self.address = found[1]

    def end(self, how=signal.SIGTERM):
        """Exit status and log."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        _, log = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, log.decode()


class Serve(CaptureCase):
    def served(self, *arguments):
        daemon = Served(self.shared, *arguments)
        self.addCleanup(daemon.end, signal.SIGKILL)
        return daemon

    def client(self, daemon):
        client = Client(daemon.address)
        self.addCleanup(client.close)
        return client

    def receive(self, client, run):
        return ReceivedRun().take_all(client.stream(run))

    def assert_same(self, received, path):
        """What was received is what is in the file, bit for bit in all tables."""
        self.assertIsNotNone(received.finish)
        self.assertEqual(differences(received, path, OF_THE_OCCASION | {"run.replay_source"}), [])

    def test_says_where_and_ends(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            daemon = self.served()
            status, log = daemon.end(how)
            self.assertEqual(status, 0, log)
            self.assertEqual([re.search(r"event=(\S+)", line)[1] for line in log.splitlines()][::len(log.splitlines()) - 1], ["ready", "stopped"])
            for line in log.splitlines():
                self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=\w+ event=\S+( [\w-]+=(\"[^\"]*\"|\S+))*$")

    def test_bad_options(self):
        file = self.write("file", "x")
        for arguments, says in (
                ((), "--models"),
                (("--models", self.folder / "none"), "no folder of models"),
                (("--models", file), "no folder of models"),
                (("--models", self.folder, "--bind", "localhost"), "address"),
                (("--models", self.folder, "--bind", "tcp://0.0.0.0:0"), "--keys|--insecure|CURVE"),
                (("--models", self.folder, "--bind", "tcp://127.0.0.1:99999"), "address|port"),
                (("--models", self.folder, "--spool", file / "below"), "spool"),
                (("--models", self.folder, "--keys", self.folder / "none"), "server.key|key"),
                (("--models", self.folder, "--max-clients", "0"), "max-clients"),
                (("--models", self.folder, "--spool-limit", "much"), "spool-limit"),
                (("--models", self.folder, "--hold-limit", "1"), "hold-limit")):
            self.refused("serve", *arguments, says=says)

    def test_a_taken_address(self):
        daemon = self.served()
        self.refused("serve", "--models", self.folder, "--bind", daemon.address, says="in use|taken|address")

    def test_runs_are_those_of_run(self):
        client = self.client(self.served())
        prompts = self.write("p.jsonl", json.dumps({"id": "a", "text": "The capital"}) + "\n" + json.dumps({"ids": [5, 6, 7]}) + "\n")
        ids = self.write("i.json", "[[5, 6, 7], [9, 10]]")
        policy = self.write("policy-file.toml", '[[rule]]\nmodules = "*"\ncompute = "fp32"\n')
        taps = self.write("taps.txt", "*.mlp.*\nlm_head.out\n")
        for options, files in (
                ({"text": "The capital of France is", "max-new": 5, "threads": 1}, {}),
                ({"text": "--output=x", "max-new": 2, "ignore-eos": True, "observer-check": True}, {}),
                ({"max-new": 4, "batch": 2, "temperature": 0.8, "top-p": 0.95, "seed": 3}, {"prompts": prompts}),
                ({"level": "topk", "taps": ["*.mlp.*", "lm_head.out"], "arithmetic": "ordered"}, {"ids": ids}),
                ({"construction": "steps"}, {"ids": ids, "policy-file": policy}),
                ({"max-new": 1}, {"ids": ids, "taps": taps})):
            words = []
            for name, value in options.items():
                for one in value if isinstance(value, list) else [value]:
                    words += [f"--{name}"] if one is True else [f"--{name}={one}"]
            words += [f"--{name}={'@' if name == 'taps' else ''}{path}" for name, path in files.items()]
            path = self.run_model("run", *words)
            run = client.run("model", options, {name: file.read_bytes() for name, file in files.items()})["run"]
            received = self.receive(client, run)
            self.assert_same(received, path)

    def test_options_that_are_refused(self):
        client = self.client(self.served())
        secret = self.write("secret.jsonl", json.dumps({"text": "secret"}))
        for options, files, says in (
                ({}, {}, "nothing to run"),
                ({"prompts": str(secret)}, {}, "file of the machine"),
                ({"ids": "/etc/passwd"}, {}, "file of the machine"),
                ({"task": f"arc:{secret}"}, {}, "file of the machine"),
                ({"replay-from": str(secret)}, {}, "file of the machine"),
                ({"text": "x", "policy-file": str(secret)}, {}, "file of the machine"),
                ({"text": "x", "taps": ["*", f"@{secret}"]}, {}, "file of the machine"),
                ({"text": "x", "output": "x"}, {}, "not for clients"),
                ({"text": "x", "matrix": "x"}, {}, "not for clients"),
                ({"text": "x", "dry-run": True}, {}, "not for clients"),
                ({"text": "x", "help": True}, {}, "unknown"),
                ({"text": "x", "nonsense": 1}, {}, "unknown"),
                ({"text": "x", "--output": "x"}, {}, "unknown"),
                ({"text": "x", "o": "x"}, {}, "unknown"),
                ({"text": "x", "max-new": True}, {}, "needs a text or a number"),
                ({"text": "x", "ignore-eos": "yes"}, {}, "true or false"),
                ({"text": "x", "policy": ""}, {}, "is empty"),
                ({"text": "x", "max-new": -1}, {}, "max-new"),
                ({"text": "x", "max-new": 1 << 40}, {}, "max-new"),
                ({"text": "x", "limit-bytes": 10}, {}, "limit of 10 bytes"),
                ({"text": "x", "replay-live": True}, {}, "replay-live"),
                ({}, {"replay-from": b"nonsense"}, "cut short|no message|Damaged|packed"),
                ({}, {"prompts": b"{"}, "prompts"),
                ({}, {"ids": b"[[1, 2], 3]"}, "ids"),
                ({"max-new": 1}, {"text": b"x"}, "is no file"),
        ):
            with self.assertRaisesRegex(Refused, says) as refused:
                client.run("model", options, files)
            self.assertNotIn(str(self.shared), str(refused.exception))
            self.assertNotIn("/tmp", str(refused.exception))
        self.assertEqual(client.status()["state"], "idle")

    def test_request_files_do_not_stay(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        os.environ["TMPDIR"] = str(temporary)
        self.addCleanup(os.environ.pop, "TMPDIR")
        client = self.client(self.served())
        client.wait_for(client.run("model", {}, {"ids": b"[5, 6]"})["run"])
        with self.assertRaises(Refused):
            client.run("model", {}, {"ids": b"no"})
        self.assertEqual(list(temporary.iterdir()), [])
        # Whatever a name says, the file lies in the private folder.
        for name in ("../../escape.json", "/etc/escape.json", "a\0b", "..", "x" * 1000):
            run = client.request("run", "queued", frames=[b"[5, 6]"], model="model", files=[name], options={"ids": {"file": 0}}).fields["run"]
            self.assertEqual(client.wait_for(run)["state"], "finished")
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual(list(self.shared.glob("**/escape*")), [])

    def test_replay_from_messages(self):
        """A run replayed from its messages is the one replayed from its capture; also when they arrive while it runs."""
        client = self.client(self.served())
        free = self.run_model("free", "--text", "The capital of", "--max-new", "6", "--ignore-eos", "--threads", "1")
        forced = self.run_model("forced", "--replay-from", free, "--threads", "1")
        run = client.run("model", {"text": "The capital of", "max-new": 6, "ignore-eos": True, "threads": 1})["run"]
        messages = list(client.stream(run, values=False))
        packed = b"".join(self.packed(m) for m in messages if m.type in ("begin", "sample", "tokens", "rows"))
        replayed = self.receive(client, client.run("model", {"threads": 1}, {"replay-from": packed})["run"])
        self.assert_same(replayed, forced)
        prompts = b"".join(self.packed(m) for m in messages if m.type in ("begin", "sample"))
        live = client.run("model", {"threads": 1, "replay-live": True, "max-new": 10}, {"replay-from": prompts})["run"]
        ids = [i for m in messages if m.type == "tokens" for i in m.fields["tokens"]["ids"]]
        self.assertEqual(len(ids), 6)
        for place, token in enumerate(ids):
            client.feed(live, 0, [token], first=place)
        client.feed(live, 0, [], first=len(ids), end=True, stop="length")
        self.assert_same(self.receive(client, live), forced)

    @staticmethod
    def packed(message):
        header = encode({k: v for k, v in message.fields.items()})
        frames = [bytes(f) for f in message.frames]
        return struct.pack("<I", len(header)) + header + struct.pack("<I", len(frames)) + b"".join(struct.pack("<Q", len(f)) + f for f in frames)

    def test_spool_outlives_the_daemon(self):
        spool = self.folder / "new" / "spool"
        daemon = self.served("--spool", spool)
        client = self.client(daemon)
        options = {"text": "The capital", "max-new": 3, "threads": 1}
        run = client.run("model", options)["run"]
        before = self.receive(client, run)
        daemon.end()
        path = self.run_model("run", "--text", "The capital", "--max-new", "3", "--threads", "1")
        self.assert_bitwise_equal(path, spool / f"{run}.moire")
        client = self.client(self.served("--spool", spool))
        after = self.receive(client, run)
        self.assertEqual(before.environment, after.environment)
        self.assertEqual(before.row_count, after.row_count)
        self.assert_same(after, spool / f"{run}.moire")

    def test_a_stopped_run_is_incomplete(self):
        spool = self.folder / "spool"
        daemon = self.served("--spool", spool)
        client = self.client(daemon)
        run = client.run("model", {"text": "The", "max-new": 400, "ignore-eos": True, "threads": 1})["run"]
        while client.run_state(run)["rows"] < 3:
            time.sleep(0.01)
        status, log = daemon.end()
        self.assertEqual(status, 0, log)
        self.assertRegex(log, rf"event=run-ends run={run} state=lost")
        self.assertNotIn("The", re.sub(r"sentence=\"[^\"]*\"", "", log))
        client = self.client(self.served("--spool", spool))
        self.assertEqual(client.run_state(run)["state"], "lost")
        received = self.receive(client, run)
        self.assertEqual(received.broken["state"], "lost")
        self.assertGreaterEqual(received.row_count, 3)

    def test_cancel_and_queue(self):
        client = self.client(self.served())
        long = {"text": "The", "max-new": 400, "ignore-eos": True, "threads": 1}
        first, second = client.run("model", long), client.run("model", {**long, "max-new": 1})
        self.assertEqual((first["place"], second["place"]), (0, 1))
        begin = time.monotonic()
        client.cancel(first["run"])
        self.assertEqual(client.wait_for(first["run"])["state"], "cancelled")
        self.assertEqual(client.wait_for(second["run"])["state"], "finished")
        self.assertLess(time.monotonic() - begin, 30)

    def test_memory_that_there_is_not(self):
        """A run that asks for more memory than the process may have fails, and the daemon goes on."""
        daemon = self.served()
        client = self.client(daemon)
        client.wait_for(client.run("model", {"text": "x", "threads": 1})["run"])
        with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
            size = int(re.search(r"VmSize:\s+(\d+)", status.read())[1]) * 1024
        resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, (size + (48 << 20), resource.RLIM_INFINITY))
        ids = json.dumps([[i % 50 + 3 for i in range(500)]] * 64).encode()
        run = client.run("model", {"batch": 64, "threads": 1}, {"ids": ids})["run"]
        ended = client.wait_for(run)
        self.assertEqual(ended["state"], "failed")
        self.assertRegex(ended["sentence"], "memory")
        resource.prlimit(daemon.process.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertEqual(client.wait_for(client.run("model", {"text": "x", "threads": 1})["run"])["state"], "finished")


if __name__ == "__main__":
    unittest.main()
