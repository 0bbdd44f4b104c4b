# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Peers that break the protocol, have no key, or want too much: the daemon's memory stays within its bound, and a good
client is served throughout."""
import contextlib
import random
import socket
import struct
import subprocess
import threading
import time
import unittest

import zmq

from capture_case import CAPTURE
from live_case import FULL, OPTIONS, LiveCase

from received_run import ReceivedRun, differences
from wire_client import Client, LinkLost, Refused, encode

MIB = 1 << 20
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER" + b"\x08Identity" + struct.pack(">I", 0)
WINDOW = 8 * MIB       # streamWindowBytes: of each stream with the transport
MESSAGE = 5 * MIB      # and one message
SLACK = 64 * MIB       # the transport's own buffers, threads, tables


def command(body):
    return bytes([4, len(body)]) + body


class Hostile(LiveCase):
    sizes = {**LiveCase.sizes, "HIDDEN": 128, "LAYERS": 4, "EXPERT_WIDTH": 32}
    new = 300
    hold = 4 * MIB

    def setUp(self):
        super().setUp()
        self.server = self.daemon("--hold-limit", self.hold)
        self.good = self.client(self.server)
        self.options = {**OPTIONS, "max-new": str(self.new)}
        self.received = ReceivedRun().take_all(self.good.stream(self.good.run(self.model.name, self.options)["run"]))
        self.run_name = self.good.runs()[-1]["run"]
        self.base = self.server.resident()
        self.peak = self.base
        self.context = zmq.Context()
        self.addCleanup(self.context.destroy, 0)

    @contextlib.contextmanager
    def good_client_is_served(self):
        """While the block runs a client makes runs and receives them; in the end one that came through it is compared."""
        stop, trouble, rounds = threading.Event(), [], []

        def serve():
            client = Client(self.server.address)
            try:
                while not stop.is_set() or not rounds:
                    run = client.run(self.model.name, {**self.options, "max-new": "20"})["run"]
                    received = ReceivedRun().take_all(client.stream(run, window=MIB))
                    trouble.extend(differences(received, self.local(new=20)))
                    rounds.append(run)
                    self.peak = max(self.peak, self.server.resident())
            except Exception as error:  # noqa: BLE001 - told by the test
                trouble.append(repr(error))
            finally:
                client.close()

        self.local(new=20)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(120)
        self.assertEqual(trouble, [])
        self.assertTrue(self.server.alive, self.server.log()[-2000:])
        self.assertEqual(differences(ReceivedRun().take_all(self.good.stream(self.run_name)), self.local()), [])

    def assert_bound(self, streams=0):
        bound = self.base + self.hold + streams * (WINDOW + MESSAGE) + SLACK
        self.assertLess(max(self.peak, self.server.resident()), bound)

    def dealer(self, address, **options):
        peer = self.context.socket(zmq.DEALER)
        peer.linger = 0
        for name, value in options.items():
            setattr(peer, name, value)
        peer.connect(address)
        return peer

    def other(self, name):
        return self.good._other(name)

    def raw(self, port):
        peer = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.addCleanup(peer.close)
        return peer

    def test_garbage_on_every_port(self):
        dice = random.Random(1)
        with self.good_client_is_served():
            for port in self.server.ports:
                for _ in range(100 if FULL else 30):
                    peer = self.raw(port)
                    with contextlib.suppress(OSError):
                        peer.sendall(dice.randbytes(dice.choice((1, 10, 64, 5000))))
                    if dice.random() < 0.5:
                        peer.close()
                for cut in range(0, len(GREETING), 3):  # half a greeting, left open
                    peer = self.raw(port)
                    peer.sendall(GREETING[:cut])
        self.assert_bound()

    def test_enormous_lengths(self):
        with self.good_client_is_served():
            for port in self.server.ports:
                for frame in (b"\x02" + struct.pack(">Q", 2**62), b"\x02" + struct.pack(">Q", 2**64 - 1),
                              b"\x03" + struct.pack(">Q", 1 << 33), b"\x06" + struct.pack(">Q", 1 << 40)):
                    for _ in range(5):
                        peer = self.raw(port)
                        with contextlib.suppress(OSError):
                            peer.sendall(GREETING + command(READY) + frame + b"x" * 100_000)
                peer = self.raw(port)
                with contextlib.suppress(OSError):  # many parts without an end
                    peer.sendall(GREETING + command(READY) + b"\x01\x01x" * 500_000)
        self.assert_bound()

    def test_broken_and_replayed_messages(self):
        dice = random.Random(2)
        session = self.good.welcome["session"]
        opening = {"t": "open", "session": session, "stream": 900, "run": self.run_name, "from": 0, "to": -1, "values": True,
                   "credit": 1000, "policy": "lossless"}
        stream_messages = [opening, {"t": "credit", "stream": 900, "bytes": 10}, {"t": "close", "stream": 900},
                           {"t": "ping", "session": session}]
        requests = [{"t": kind, "id": 1, "run": self.run_name, "model": "model", "options": self.options, "files": [],
                     "client": "x", "versions": [1], "program": "x"} for kind in
                    ("hello", "models", "taps", "estimate", "runs", "run-state", "prompts", "cancel", "status", "feed", "goodbye")]
        with self.good_client_is_served():
            for address, messages in ((self.server.address, requests), (self.other("stream"), stream_messages)):
                peer = self.dealer(address, rcvhwm=10)
                for _ in range(3000 if FULL else 600):
                    raw = bytearray(encode(dice.choice(messages)))
                    for _ in range(dice.randrange(4)):
                        raw[dice.randrange(len(raw))] = dice.randrange(256)
                    parts = [bytes(raw[:dice.randrange(len(raw) + 1)])] + [b"x" * dice.randrange(99) for _ in range(dice.randrange(3))]
                    with contextlib.suppress(zmq.Again):
                        peer.send_multipart(parts, zmq.NOBLOCK)
                for _ in range(300):  # the same again and again
                    with contextlib.suppress(zmq.Again):
                        peer.send(encode(messages[0]), zmq.NOBLOCK)
        self.assert_bound(1)

    def test_credit_out_of_range(self):
        session = self.good.welcome["session"]
        with self.good_client_is_served():
            for first, then in ((2**62, 1), (-1, 0), (2**63 - 1, 2**63 - 1), (0, -5), (100, 2**62)):
                peer = self.dealer(self.other("stream"))
                peer.send(encode({"t": "open", "session": session, "stream": 901, "run": self.run_name, "from": 0, "to": -1,
                                  "values": True, "credit": first, "policy": "lossless"}))
                peer.send(encode({"t": "credit", "stream": 901, "bytes": then}))
                time.sleep(0.05)
                peer.close()
        self.assert_bound(5)

    def test_clients_that_stop_reading(self):
        """Each asks for everything with all the credit there is, and takes nothing."""
        count = 50 if FULL else 10
        clients, peers = [], []
        with self.good_client_is_served():
            for _ in range(count):
                client = self.client(self.server)
                client.hello()
                clients.append(client)
                peer = self.dealer(self.other("stream"), rcvhwm=1, rcvbuf=4096)
                peer.send(encode({"t": "open", "session": client.welcome["session"], "stream": 1, "run": self.run_name,
                                  "from": 0, "to": -1, "values": True, "credit": 2**62, "policy": "lossless"}))
                peers.append(peer)
            time.sleep(2)
            self.assertLessEqual(self.good.status()["held"], self.hold + MESSAGE)
        self.assert_bound(count)

    def test_fifty_clients(self):
        clients = [self.client(self.server) for _ in range(50)]
        for client in clients:
            client.hello()
        self.assertGreaterEqual(self.good.status()["clients"], 51)
        threads, wrong = [], []

        def receive(client):
            try:
                wrong.extend(differences(ReceivedRun().take_all(client.stream(self.run_name, window=MIB)), self.local()))
            except Exception as error:  # noqa: BLE001 - told by the test
                wrong.append(repr(error))

        for client in clients if FULL else clients[::5]:
            threads.append(threading.Thread(target=receive, args=(client,)))
            threads[-1].start()
        while any(thread.is_alive() for thread in threads):
            self.peak = max(self.peak, self.server.resident())
            time.sleep(0.01)
        self.assertEqual(wrong, [])
        self.assert_bound(len(threads))
        refused = 0
        for _ in range(40):  # beyond the sessions that there are
            try:
                self.client(self.server).hello()
            except Refused as refusal:
                self.assertEqual(refusal.reason, "busy")
                refused += 1
        self.assertGreater(refused, 10)
        self.assertEqual(self.good.run_state(self.run_name)["state"], "finished")

    def test_endless_requests(self):
        """The queue has an end, and so has what a client may send at once."""
        with self.assertRaises(Refused) as refused:
            for _ in range(80):
                self.good.run(self.model.name, {**self.options, "max-new": "3000"})
        self.assertEqual(refused.exception.reason, "busy")
        for run in self.good.runs():
            if run["state"] not in ("finished", "cancelled", "failed"):
                self.good.cancel(run["run"])
        peer = self.dealer(self.server.address)
        peer.send_multipart([encode({"t": "models", "id": 1})] + [b"x"] * 70000)
        peer.send_multipart([encode({"t": "models", "id": 1, "x": "y" * (2 * MIB)})])
        peer.send(bytes(100 * MIB))
        self.assertEqual(self.good.run_state(self.run_name)["state"], "finished")
        self.assert_bound()


class Keys(LiveCase):
    def keygen(self, stem):
        done = subprocess.run([CAPTURE, "keygen", "-o", stem], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = dict(line.split(" ", 1) for line in stem.with_suffix(".key").read_text().splitlines() if not line.startswith("#"))
        return lines["public"].strip().encode(), lines["secret"].strip().encode()

    def setUp(self):
        super().setUp()
        self.keys = self.folder / "keys"
        (self.keys / "clients").mkdir(parents=True)
        self.server_key = self.keygen(self.keys / "server")
        self.own = self.keygen(self.folder / "me")
        (self.keys / "clients" / "me.pub").write_bytes((self.folder / "me.pub").read_bytes())
        self.server = self.daemon("--keys", self.keys)

    def refused_client(self, **options):
        with self.assertRaises(LinkLost):
            self.client(self.server, patience=0.7, **options).hello()

    def test_who_gets_in(self):
        client = self.client(self.server, own=self.own, server_key=self.server_key[0])
        self.assertTrue(client.hello()["secure"])
        run = client.run(self.model.name, {**OPTIONS, "max-new": "40"})["run"]
        self.assertEqual(differences(ReceivedRun().take_all(client.stream(run)), self.local(new=40)), [])
        other = tuple(zmq.curve_keypair())
        self.refused_client()                                                  # no key
        self.refused_client(own=other, server_key=self.server_key[0])          # nobody's key
        self.refused_client(own=self.own, server_key=other[0])                 # another daemon than the one pinned
        for _ in range(20):
            raw = socket.create_connection(("127.0.0.1", self.server.port))
            raw.sendall(GREETING + command(READY))
            raw.close()
        (self.keys / "clients" / "other.pub").write_bytes(other[0] + b"\n")    # let in without a restart
        self.assertTrue(self.client(self.server, own=other, server_key=self.server_key[0]).hello()["secure"])
        (self.keys / "clients" / "me.pub").unlink()                            # and shown the door
        self.refused_client(own=self.own, server_key=self.server_key[0])
        self.wait_until("the refusal", lambda: self.revoked(client), 30)
        said = self.server.log()
        self.assertNotIn(self.own[1].decode(), said)
        self.assertNotIn(self.server_key[1].decode(), said)
        self.assertRegex(said, "(?i)refus|not authori")

    def revoked(self, client):
        """An open link of a key that was taken away comes to an end too."""
        try:
            client.patience = 0.5
            client.status()
            return False
        except LinkLost:
            return True
        except Refused as refused:
            return refused.reason == "not-authorised"

    def test_recorder(self):
        out = self.folder / "out.moire"
        keys = ["--key", self.folder / "me.key", "--server-key", self.keys / "server.pub"]
        self.finished(self.recording(self.server.address, out, *keys, *self.new_run(new=40)))
        self.assert_same_capture(out, self.local(new=40))
        self.keygen(self.folder / "stranger")
        for more in ([], ["--key", self.folder / "stranger.key", "--server-key", self.keys / "server.pub"],
                     ["--key", self.folder / "me.key", "--server-key", self.folder / "stranger.pub"]):
            done = self.call(CAPTURE, "record", "--from", self.server.address, *more, *self.new_run(new=4), "-o",
                             self.folder / "no.moire")
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_the_insecure_rule(self):
        """Beyond loopback it needs keys, or the word for it, which is warned about on both sides."""
        done = self.call(CAPTURE, "serve", "--models", self.shared, "--bind", "tcp://0.0.0.0:0")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"insecure", done.stderr)
        with self.subTest("a key that others can read"):
            (self.keys / "server.key").chmod(0o644)
            self.assertEqual(self.call(CAPTURE, "serve", "--models", self.shared, "--keys", self.keys, "--bind",
                                       "tcp://127.0.0.1:0").returncode, 2)
        with self.subTest("keygen overwrites nothing"):
            before = (self.folder / "me.key").read_bytes()
            self.assertEqual(self.call(CAPTURE, "keygen", self.folder / "me").returncode, 2)
            self.assertEqual((self.folder / "me.key").read_bytes(), before)
            self.assertEqual((self.folder / "me.key").stat().st_mode & 0o777, 0o600)


if __name__ == "__main__":
    unittest.main()
