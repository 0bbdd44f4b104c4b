# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""serve(): what a client of the wire receives is what a capture of the same rows holds, whatever happens to the link."""
import random
import sys
import threading
import time
import unittest

import cbor2
import numpy as np
import zmq

from tap_case import SOURCE, TapCase

sys.path.insert(0, str(SOURCE / "tests" / "support"))

from faulty_proxy import NEAR, FaultyProxy
from received_run import ReceivedRun, differences
from wire_client import Client, LinkLost, Refused, encode

import moire_tap
from moire_tap import cbor, desk
from moire_tap.errors import MoireError

TAPS = [moire_tap.Tap("model.layers.0.mlp.down_proj.in", 48, "bf16"),
        moire_tap.Tap("model.layers.0.mlp.out", 16, "fp32", kind="MLP output", inputs=["model.layers.0.mlp.down_proj.in"],
                      inputs_complete=True),
        moire_tap.Tap("lm_head.out", 40, "fp16", kind="head")]
ROUTERS = [moire_tap.Router("model.layers.0.mlp.gate", experts=4, chosen=2)]
VOCABULARY = [b"<%d>" % n for n in range(38)] + [b"\xff", b""]


def write_run(writer, rows=20, samples=3, pause=0.0):
    """The same rows into any Writer: prompts, decoding, an event, endings."""
    random_numbers = np.random.default_rng(5)
    with writer:
        for number in range(samples):
            sample = writer.sample(f"q{number}", tokens=[3, 1, 4], text="né", choices=["A", "B"], label="A")
            for row in range(rows):
                count = 3 if row == 0 else 1
                values = {TAPS[0].name: random_numbers.integers(0, 1 << 16, (count, 48)).astype(np.uint16),
                          TAPS[1].name: random_numbers.normal(size=(count, 16)).astype(np.float32),
                          TAPS[2].name: random_numbers.normal(size=(count, 40)).astype(np.float16)}
                gate = random_numbers.normal(size=(count, 4)).astype(np.float32)
                ids = np.argsort(-gate, axis=1)[:, :2]
                weights = np.take_along_axis(gate, ids, axis=1)
                writer.append(sample, values, routing={ROUTERS[0].module: (ids, weights, gate)}, step=row,
                              phase="decode" if row else "prefill", await_next=True)
                writer.add_tokens(sample, [int(random_numbers.integers(0, 40))])
                if row == 7:
                    writer.event("warning", "seven")
                time.sleep(pause)
            writer.end_sample(sample, "length", "A")


class Arrays(TapCase):
    options = dict(taps=TAPS, routers=ROUTERS, tokenizer=VOCABULARY, environment={"model.name": "arrays", "run.seed": 3})

    def setUp(self):
        super().setUp()
        self.file = self.folder / "file.moire"
        write_run(moire_tap.Writer(self.file, **self.options))

    def serve(self, **options):
        server = moire_tap.serve(None, "tcp://127.0.0.1:0", **options)
        self.addCleanup(server.close, 0)
        return server

    def client(self, server, **options):
        client = Client(server.address, **options)
        self.addCleanup(client.close)
        return client

    def in_background(self, function, *arguments, **options):
        thread = threading.Thread(target=function, args=arguments, kwargs=options, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 30)
        return thread

    def test_received_equals_the_file(self):
        server = self.serve()
        client = self.client(server)
        self.assertEqual(client.models(), [])
        writer = server.writer(**self.options)
        self.in_background(write_run, writer, pause=0.002)
        run = client.runs()[-1]["run"]
        received = ReceivedRun().take_all(client.stream(run))
        self.assertEqual(differences(received, self.file), [])
        self.assertIsNotNone(received.finish)
        state = client.run_state(run)
        self.assertEqual((state["state"], state["rows"], state["messages"]), ("finished", 66, received.sequence))
        self.assertEqual([s["tokens"]["ids"] for s in client.prompts(run)], [[3, 1, 4]] * 3)
        again = ReceivedRun().take_all(client.stream(run, values=False))
        self.assertEqual(differences(again, self.file), [])
        self.assertNotIn(("values", 0), again._parts)
        some = ReceivedRun().take_all(client.stream(run, values=[2], window=2000))
        self.assertEqual(differences(some, self.file), [])
        self.assertEqual([key for key in some._parts if key[0] == "values"], [("values", 2)])
        self.assertEqual([tap["name"] for tap in some.begin["taps"]], [tap.name for tap in TAPS])

    def test_topk_and_digest_levels(self):
        for level in ("topk", "digest"):
            path = self.folder / f"{level}.moire"
            write_run(moire_tap.Writer(path, level=level, **self.options), 5, 1)
            server = self.serve()
            client = self.client(server)
            write_run(server.writer(level=level, **self.options), 5, 1)
            received = ReceivedRun().take_all(client.stream(client.runs()[0]["run"]))
            self.assertEqual(differences(received, path), [])

    def test_range_is_read_again_and_published_holes_are_mended(self):
        server = self.serve()
        client = self.client(server)
        writer = server.writer(**self.options)
        run = client.runs()[0]["run"]
        link = client.subscribe(run)
        time.sleep(0.2)
        self.in_background(write_run, writer, pause=0.001)
        heard, random_numbers = {}, random.Random(3)
        while (message := client.published(link, 1.0)) is not None:
            if random_numbers.random() < 0.7:  # some are lost
                heard[message.fields["seq"]] = message
        received, due = ReceivedRun(), 0
        total = client.run_state(run)["messages"]
        while due < total:
            if due in heard:
                received.take(heard[due])
                due += 1
                continue
            end = min([n for n in heard if n > due], default=total)
            for message in client.stream(run, from_=due, to=end):
                received.take(message)
            due = end
        link.close()
        self.assertEqual(differences(received, self.file), [])

    def test_resumes_after_lost_links(self):
        server = self.serve()
        client = self.client(server)
        writer = server.writer(**self.options)
        self.in_background(write_run, writer, pause=0.002)
        stream = client.stream(client.runs()[0]["run"], window=30000)
        received, random_numbers = ReceivedRun(), random.Random(1)
        for message in stream:
            received.take(message)
            if random_numbers.random() < 0.1:
                client.reopen()
        self.assertGreater(stream.opened_times, 5)
        self.assertEqual(differences(received, self.file), [])

    def test_through_a_faulty_proxy(self):
        server = self.serve()
        ports = [int(address.rpartition(":")[2]) for address in
                 (server.address, *map(server.welcome().__getitem__, ("stream", "data")))]
        writer = server.writer(**self.options)
        self.in_background(write_run, writer, pause=0.005)
        with FaultyProxy(ports, seed=4, mean_bytes=3000, cuts=15) as proxy:
            client = Client(server.address.replace("127.0.0.1", NEAR), patience=2)
            self.addCleanup(client.close)
            while True:
                try:
                    stream = client.stream(client.runs()[0]["run"])
                    break
                except LinkLost:
                    pass
            received = ReceivedRun().take_all(stream)
            self.assertGreater(proxy.disconnects, 5)
        self.assertEqual(differences(received, self.file), [])

    def test_memory_is_bounded_and_lossless_waits(self):
        server = self.serve(hold_limit=20000)
        client = self.client(server)
        writer = server.writer(**self.options)
        run = client.runs()[0]["run"]
        stream = client.stream(run, window=1000)
        client._pump(0.1, 15)  # it is open before the first message
        thread = self.in_background(write_run, writer)
        client.wait_for(run, ["waiting"])
        time.sleep(0.3)
        self.assertTrue(thread.is_alive())
        self.assertLessEqual(client.status()["held"], 20000)
        received = ReceivedRun().take_all(stream)
        self.assertEqual(differences(received, self.file), [])
        self.assertTrue(stream.starved)
        self.assertGreater(client.run_state(run)["waited"], 0.3)

    def test_without_a_lossless_client_the_oldest_rows_become_a_gap(self):
        server = self.serve(hold_limit=20000)
        client = self.client(server)
        write_run(server.writer(**self.options))
        self.assertLessEqual(client.status()["held"], 20000)
        received = ReceivedRun().take_all(client.stream(client.runs()[0]["run"], policy="latest"))
        self.assertTrue(received.gaps)
        self.assertGreater(len(received.table("rows")), 10)
        self.assertEqual(differences(received, self.file), [])

    def test_a_run_that_fails_says_so(self):
        server = self.serve()
        client = self.client(server)
        with self.assertRaises(ValueError):
            with server.writer(**self.options) as writer:
                writer.sample("a", tokens=[1])
                raise ValueError("boom")
        received = ReceivedRun().take_all(client.stream(client.runs()[0]["run"]))
        self.assertEqual(received.broken["state"], "failed")
        self.assertIn("boom", received.broken["sentence"])

    def test_refusals(self):
        server = self.serve()
        client = self.client(server)
        for reason, ask in (("not-found", lambda: client.run_state("x")), ("unsupported", lambda: client.run("m")),
                            ("unsupported", lambda: client.cancel("x")), ("not-found", lambda: client.taps("x")),
                            ("not-found", lambda: next(iter(client.stream("x")))),
                            ("invalid", lambda: client.request("run-state", "run-state", run=3))):
            with self.assertRaises(Refused) as refused:
                ask()
            self.assertEqual(refused.exception.reason, reason)
        with self.assertRaises(Refused) as refused:
            self.client(server, versions=[99]).hello()
        self.assertEqual(refused.exception.reason, "version")
        with self.assertRaises(Refused) as refused:
            client.goodbye()
            client._ask({"t": "status"}, [], 5, "status")
        self.assertEqual(refused.exception.reason, "no-hello")

    def test_garbage_does_not_end_it(self):
        server = self.serve()
        client = self.client(server)
        write_run(server.writer(**self.options))
        run = client.runs()[0]["run"]
        random_numbers = random.Random(2)
        context = zmq.Context()
        context.linger = 0
        self.addCleanup(context.destroy, 0)
        peers = [context.socket(zmq.DEALER) for _ in range(2)]
        peers[0].connect(server.address)
        peers[1].connect(client._other("stream"))
        good = [encode({"t": "open", "session": client.welcome["session"], "stream": 1, "run": run, "from": 0, "to": -1,
                        "values": True, "credit": 100, "policy": "lossless"}), encode({"t": "status", "id": 1})]
        for _ in range(2000):
            raw = bytearray(random_numbers.choice(good))
            for _ in range(random_numbers.randrange(4)):
                raw[random_numbers.randrange(len(raw))] = random_numbers.randrange(256)
            random_numbers.choice(peers).send(bytes(raw[:random_numbers.randrange(len(raw) + 1)]))
        for fields in ({"t": "credit", "stream": 1, "bytes": 2**63 - 1}, {"t": "credit", "stream": 1, "bytes": -5},
                       {"t": "open", "session": "?", "stream": 1}):
            peers[1].send(encode(fields))
        self.assertEqual(differences(ReceivedRun().take_all(client.stream(run)), self.file), [])

    def test_keys(self):
        keys = self.folder / "keys"
        (keys / "clients").mkdir(parents=True)
        pairs = [tuple(part.decode() for part in zmq.curve_keypair()) for _ in range(3)]
        (keys / "server.key").write_text(f"# a key\npublic {pairs[0][0]}\nsecret {pairs[0][1]}\n")
        (keys / "server.key").chmod(0o644)
        with self.assertRaisesRegex(MoireError, "chmod 600"):
            self.serve(keys=str(keys))
        (keys / "server.key").chmod(0o600)
        (keys / "clients" / "good.pub").write_text(pairs[1][0] + "\n")
        server = self.serve(keys=str(keys))
        as_bytes = [(p.encode(), s.encode()) for p, s in pairs]
        good = self.client(server, own=as_bytes[1], server_key=as_bytes[0][0])
        self.assertTrue(good.hello()["secure"])
        write_run(server.writer(**self.options))
        run = good.runs()[0]["run"]
        self.assertEqual(differences(ReceivedRun().take_all(good.stream(run)), self.file), [])
        for options in (dict(own=as_bytes[2], server_key=as_bytes[0][0]), dict(own=as_bytes[1], server_key=as_bytes[2][0]), {}):
            with self.assertRaisesRegex(Exception, "no answer"):
                self.client(server, patience=0.5, **options).hello()
        (keys / "clients" / "good.pub").unlink()
        with self.assertRaisesRegex(Exception, "no answer"):
            self.client(server, own=as_bytes[1], server_key=as_bytes[0][0], patience=0.5).hello()
        with self.assertRaisesRegex(MoireError, "insecure"):
            moire_tap.serve(None, "tcp://0.0.0.0:0")


class Headers(unittest.TestCase):
    def test_the_same_as_cbor2(self):
        fields = {"t": "x", "n": [0, 23, 24, 255, 256, 65536, 2**40, -1, -25, -2**40], "f": [0.5, float("inf")], "b": b"\xff\0",
                  "s": "né", "m": {"a": True, "b": False, "c": None}}
        self.assertEqual(cbor2.loads(cbor.encode(fields)), fields)
        self.assertEqual(cbor.decode(cbor2.dumps(fields), 1000), fields)
        self.assertEqual(cbor.decode(cbor2.dumps({"h": 1.5}, canonical=True), 9), {"h": 1.5})

    def test_what_is_refused(self):
        nested = b"\xa1\x61a" * 20 + b"\xa0"
        for raw in (b"", b"\x01", b"\xbf\x61a\x01\xff", b"\xa1\x61a\xc0\x60", b"\xa1\x61a", b"\xa1\x01\x02", nested,
                    b"\xa0\x00", b"\xa1\x61a\x9b" + b"\xff" * 8, b"\xa1\x61a\x62\xc3\x28", b"\xa1\x61a\xf8\x20",
                    b"\xa1\x61a\x1b" + b"\xff" * 8):
            with self.assertRaises(MoireError, msg=raw.hex()):
                cbor.decode(raw, 100)
        with self.assertRaises(desk.Refusal):
            desk.header_of(b"\xa0" + bytes(1 << 20))
        random_numbers = random.Random(4)
        for _ in range(5000):
            try:
                cbor.decode(random_numbers.randbytes(random_numbers.randrange(40)), 50)
            except MoireError:
                pass


if __name__ == "__main__":
    unittest.main()
