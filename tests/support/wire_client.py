# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""A client of the wire protocol written from core/wire/PROTOCOL.md alone, with pyzmq and cbor2.

One thread, no state but the sockets; received_run.py makes arrays of what it receives.
"""
import itertools
import secrets
import time
from collections import deque
from dataclasses import dataclass, field

import cbor2
import zmq
from zmq.utils.monitor import recv_monitor_message

VERSION = 1
MAX_HEADER = 16 << 20
MAX_FRAME = 1 << 30
MAX_FRAMES = 65536
SILENCE = 15.0  # seconds that end a link on which a stream is open
PING = 4.0
MOST_EARLY_ENDS = 20


class Refused(Exception):
    """What the daemon answered with `refused`."""

    def __init__(self, fields):
        super().__init__(f"{fields['reason']}: {fields['sentence']} {fields['hint']}".strip())
        self.reason, self.sentence, self.hint = fields["reason"], fields["sentence"], fields["hint"]


class LinkLost(Exception):
    """The daemon was not to be reached in time."""


class Broken(Exception):
    """A message that breaks the protocol."""


@dataclass
class Message:
    fields: dict
    frames: list = field(default_factory=list)
    size: int = 0  # bytes of header and frames

    @property
    def type(self):
        return self.fields["t"]


def encode(fields):
    return cbor2.dumps(fields)


def decode(raw):
    if len(raw) > MAX_HEADER:
        raise Broken(f"a header of {len(raw)} bytes")
    try:
        fields = cbor2.loads(raw)
    except Exception as error:
        raise Broken(f"a header that is no CBOR: {error}") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("t"), str):
        raise Broken("a header without a type")
    return fields


def as_message(parts):
    """Header and frames as they came."""
    if len(parts) - 1 > MAX_FRAMES or any(len(part) > MAX_FRAME for part in parts):
        raise Broken("a message beyond the limits")
    return Message(decode(bytes(parts[0])), [memoryview(part) for part in parts[1:]], sum(map(len, parts)))


class Link:
    """One DEALER or SUB socket that notices when its transport is lost, and is then made again."""

    def __init__(self, context, kind, address, own, server_key):
        self._made = context, kind, own, server_key
        self.address = address
        self.socket = self._monitor = None
        self.losses = 0
        self.connect()

    def connect(self):
        self.close()
        context, kind, own, server_key = self._made
        self.socket = context.socket(kind)
        self.socket.linger = 0
        self.socket.maxmsgsize = MAX_FRAME
        self.socket.reconnect_ivl = 50
        self.socket.reconnect_ivl_max = 1000
        self.socket.handshake_ivl = 5000
        self.socket.rcvhwm = 0
        if server_key is not None:
            self.socket.curve_publickey, self.socket.curve_secretkey = own
            self.socket.curve_serverkey = server_key
        self._monitor = self.socket.get_monitor_socket(
            zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)
        self.socket.connect(self.address)

    def lost(self):
        """Whether the transport has been lost since the last call. Streams that were open are then gone."""
        lost = False
        while self._monitor.poll(0):
            lost = recv_monitor_message(self._monitor)["event"] is not None or lost
        self.losses += lost
        return lost

    def send(self, parts):
        """A refused key leaves a socket without a peer: then it is made again, and the message is lost with it."""
        try:
            self.socket.send_multipart(parts, zmq.NOBLOCK)
        except zmq.Again:
            time.sleep(0.05)
            self.connect()

    def receive(self, seconds):
        """Frames of a message, or None."""
        if not self.socket.poll(max(0, int(seconds * 1000))):
            return None
        return self.socket.recv_multipart(copy=False)

    def close(self):
        if self.socket is not None:
            self.socket.disable_monitor()
            self._monitor.close(0)
            self.socket.close(0)
            self.socket = None


class Client:
    """The control socket, and what hangs on it. `own`: (public, secret) keys; `server_key`: the daemon's."""

    def __init__(self, address, *, own=None, server_key=None, patience=10.0, versions=(VERSION,), name=None):
        self.address, self.patience = address, patience
        self._keys = own, server_key
        self._versions = list(versions)
        self.name = name or secrets.token_hex(8)
        self._context = zmq.Context()
        self._ids = itertools.count(1)
        self.welcome = None
        self.control = Link(self._context, zmq.DEALER, address, *self._keys)
        self._stream_link = None
        self._numbers = itertools.count(1)
        self._streams = {}
        self._heard = self._pinged = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.control.close()
        if self._stream_link is not None:
            self._stream_link.close()
        self._context.destroy(0)

    # Control

    def hello(self):
        self.welcome = self._ask({"t": "hello", "versions": self._versions, "program": "wire_client 1",
                                  "client": self.name}, [], self.patience, "welcome").fields
        return self.welcome

    def request(self, type, reply, frames=(), patience=None, **fields):
        """The reply's message. Says hello first where that is needed, also once more after a restart of the daemon."""
        patience = self.patience if patience is None else patience
        end = time.monotonic() + patience
        while True:
            if self.welcome is None:
                self.hello()
            try:
                return self._ask({"t": type, **fields}, frames, end - time.monotonic(), reply)
            except Refused as refused:
                if refused.reason != "no-hello" or time.monotonic() > end:
                    raise
                self.welcome = None

    def _ask(self, fields, frames, patience, reply):
        number = next(self._ids)
        end = time.monotonic() + patience
        sent = [encode({**fields, "id": number}), *frames]
        self.control.send(sent)
        while True:
            if self.control.lost() and fields["t"] != "run":  # the request may have been lost with the link
                self.control.send(sent)
            parts = self.control.receive(min(0.2, end - time.monotonic()))
            if parts is None:
                if time.monotonic() >= end:
                    raise LinkLost(f"{self.address} gave no answer to {fields['t']} in {patience:.1f} s")
                continue
            answer = as_message(parts)
            if answer.fields.get("id") != number:
                continue  # of a request that was given up
            if answer.type == "refused":
                raise Refused(answer.fields)
            if answer.type != reply:
                raise Broken(f"{fields['t']} was answered by {answer.type}")
            return answer

    def models(self):
        return self.request("models", "models").fields["models"]

    def taps(self, model, **options):
        return self.request("taps", "taps", model=model, options=options).fields["taps"]

    def _run_fields(self, model, options, files):
        """`files`: option name -> bytes; they travel as frames."""
        places = {name: {"file": place} for place, name in enumerate(files)}
        return {"model": model, "options": {**options, **places}, "files": list(files), "frames": list(files.values())}

    def estimate(self, model, options=None, files=None):
        return self.request("estimate", "estimate", **self._run_fields(model, options or {}, files or {})).fields

    def run(self, model, options=None, files=None, ticket=""):
        more = {"ticket": ticket} if ticket else {}
        return self.request("run", "queued", **self._run_fields(model, options or {}, files or {}), **more).fields

    def runs(self):
        return self.request("runs", "runs").fields["runs"]

    def run_state(self, run):
        return self.request("run-state", "run-state", run=run).fields

    def wait_for(self, run, states=("finished", "cancelled", "failed", "lost"), seconds=60.0):
        end = time.monotonic() + seconds
        while True:
            state = self.run_state(run)
            if state["state"] in states:
                return state
            if time.monotonic() > end:
                raise LinkLost(f"{run} is {state['state']} after {seconds} s")
            time.sleep(0.02)

    def prompts(self, run):
        return self.request("prompts", "prompts", run=run).fields["samples"]

    def feed(self, run, sample, ids, first=-1, end=False, stop=""):
        return self.request("feed", "fed", run=run, sample=sample, first=first, ids=list(ids), end=end, stop=stop)

    def cancel(self, run):
        return self.request("cancel", "cancelled", run=run).fields

    def forget(self, run):
        return self.request("forget", "forgotten", run=run).fields

    def status(self):
        return self.request("status", "status").fields

    def goodbye(self):
        self.request("goodbye", "farewell")
        self.welcome = None

    # Stream and data

    def _other(self, name):
        """The address of another socket: its port, at the host by which control was reached."""
        told = self.welcome[name]
        if not told.startswith("tcp://"):
            return told
        return self.address.rpartition(":")[0] + ":" + told.rpartition(":")[2]

    def stream(self, run, from_=0, to=-1, values=True, window=8 << 20, policy="lossless", silence=SILENCE):
        if self.welcome is None:
            self.hello()
        return Stream(self, run, from_, to, values, window, policy, silence)

    def subscribe(self, run):
        """A SUB socket's link; receive with published()."""
        if self.welcome is None:
            self.hello()
        link = Link(self._context, zmq.SUB, self._other("data"), *self._keys)
        link.socket.subscribe(f"run/{run}/".encode())
        return link

    @staticmethod
    def published(link, seconds):
        parts = link.receive(seconds)
        return None if parts is None else as_message(parts[1:])

    def _pump(self, seconds, silence):
        """Takes what has come on the stream socket into the streams' queues."""
        if self._stream_link is None or self._stream_link.lost():
            self.reopen()
        now = time.monotonic()
        if now - self._pinged > PING:
            self._stream_link.send([encode({"t": "ping", "session": self.welcome["session"]})])
            self._pinged = now
        parts = self._stream_link.receive(seconds)
        if parts is None:
            if time.monotonic() - self._heard > silence:
                self.reopen()
            return
        self._heard = time.monotonic()
        envelope = decode(bytes(parts[0]))
        stream = self._streams.get(envelope.get("stream"))
        if envelope["t"] == "refused" and envelope["reason"] in ("no-hello", "stopping"):
            time.sleep(0.1)
            self.reopen()
        elif stream is not None:
            stream.take(envelope, parts[1:])

    def reopen(self):
        """hello again and all streams where they were. A socket of its own for every link: what was on its way is gone."""
        if self._stream_link is not None:
            self._stream_link.close()
        while True:
            try:
                self.welcome = None
                self.hello()
                break
            except LinkLost:
                self.control.connect()
                raise
            except Refused as refused:
                if refused.reason not in ("no-hello", "stopping", "busy"):
                    raise
                time.sleep(0.1)
        self._stream_link = Link(self._context, zmq.DEALER, self._other("stream"), *self._keys)
        self._heard = self._pinged = time.monotonic()
        for stream in list(self._streams.values()):
            stream.open()

    def send_stream(self, **fields):
        self._stream_link.send([encode(fields)])


class Stream:
    """Messages of one run in order, each once, across lost links. Iterate, or call next()."""

    def __init__(self, client, run, from_, to, values, window, policy, silence):
        self._client, self.run, self.to, self._values = client, run, to, values
        self._window, self._policy, self._silence = window, policy, silence
        self.next_sequence = from_
        self.number = None
        self._queue = deque()  # (envelope, parts)
        self.outstanding = 0  # credit granted and not used up
        self.opened_times = 0
        self.starved = []
        self.ended = None  # the sentence of `end`
        self._failure = None
        self._final = False
        self._early_ends = 0
        if client._stream_link is None:
            client.reopen()
        self.open()

    def open(self):
        if self.ended is not None:
            return
        self._client._streams.pop(self.number, None)
        self.number = next(self._client._numbers)  # what still comes of an older link is not ours
        self._client._streams[self.number] = self
        self._queue.clear()
        self.outstanding = self._window
        self.opened_times += 1
        self._client.send_stream(t="open", session=self._client.welcome["session"], stream=self.number, run=self.run,
                                 **{"from": self.next_sequence}, to=self.to, values=self._values, credit=self._window,
                                 policy=self._policy)

    def take(self, envelope, parts):
        kind = envelope["t"]
        if kind == "message":
            self.outstanding -= envelope["bytes"]
            if self.outstanding < 0:
                raise Broken(f"{-self.outstanding} bytes beyond the credit")
            self._queue.append((envelope, parts))
        elif kind == "starved":
            self.starved.append(envelope["needs"])
            more = envelope["needs"] - self.outstanding
            if more > 0:
                self.grant(more)
        elif kind == "end":
            self._queue.append((envelope, None))
        elif kind == "refused":
            self._failure = Refused(envelope)

    def grant(self, count):
        self.outstanding += count
        self._client.send_stream(t="credit", stream=self.number, bytes=count)

    def next(self, seconds=10.0):
        """The next message, or None when none came in time or the stream has ended."""
        end = time.monotonic() + seconds
        while self.ended is None:
            if self._failure is not None:
                raise self._failure
            if self._queue:
                message = self._taken(*self._queue.popleft())
                if message is not None:
                    return message
                continue
            if time.monotonic() >= end:
                return None
            try:
                self._client._pump(min(0.2, max(0.0, end - time.monotonic())), self._silence)
            except LinkLost:
                if time.monotonic() >= end:
                    raise
        return None

    def _taken(self, envelope, parts):
        if parts is None:
            if self.to < 0 and not self._final and self._early_ends < MOST_EARLY_ENDS:
                self._early_ends += 1  # the daemon is about to end: another one has the rest
                time.sleep(0.2)
                self._client.reopen()
                return None
            self.close()
            self.ended = envelope["sentence"]
            return None
        self._early_ends = 0
        message = as_message(parts)
        if message.size != envelope["bytes"]:
            raise Broken(f"a message of {message.size} bytes that says {envelope['bytes']}")
        sequence = message.fields["seq"]
        if (sequence, message.fields["run"]) != (envelope["seq"], self.run) or sequence != self.next_sequence:
            raise Broken(f"message {sequence} where {self.next_sequence} was due")
        self.next_sequence = message.fields["to"] if message.type == "gap" else sequence + 1
        self._final = message.type in ("finish", "broken")
        self.grant(message.size)
        return message

    def __iter__(self):
        while self.ended is None:
            message = self.next(60.0)
            if message is not None:
                yield message
            elif self.ended is None:
                raise LinkLost(f"nothing came of {self.run} for a minute")

    def close(self):
        if self._client._streams.pop(self.number, None) is not None:
            self._client.send_stream(t="close", stream=self.number)
