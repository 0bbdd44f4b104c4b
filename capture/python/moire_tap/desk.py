# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Sessions, requests and streams of a publisher (PROTOCOL.md, sections 3 and 5), without sockets and without a clock."""

import logging
import os
import secrets
from collections import deque
from dataclasses import dataclass, field

from . import cbor
from .errors import MoireError
from .run_log import packed

LOG = logging.getLogger("moire_tap")
VERSION = 1
MAX_HEADER = 1 << 20
MAX_ITEMS = 1 << 18
MAX_CREDIT = 1 << 62
MAX_CLIENTS = MAX_STREAMS = 64
MAX_FAULTS = 16
SILENCE = 15.0
SESSION_SECONDS = 120.0
MAX_MESSAGE = 1 << 30
FEATURES = ["hello", "models", "taps", "runs", "run-state", "prompts", "forget", "status", "goodbye"]


class Refusal(Exception):
    def __init__(self, reason, sentence, hint=""):
        super().__init__(sentence)
        self.fields = {"t": "refused", "reason": reason, "sentence": sentence, "hint": hint}


def need(fields, name, kind, least=None, most=None):
    value = fields.get(name)
    if isinstance(value, bytes) and kind is str:
        value = value.decode("utf-8", "surrogateescape")
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Refusal("invalid", f"{fields.get('t')} needs the field {name}", "Programs of different versions may have met")
    if least is not None and not least <= value <= most:
        raise Refusal("invalid", f"{name} of {fields.get('t')} is {value}, which is not in [{least}, {most}]")
    return value


def header_of(raw):
    """A header that a client sent."""
    if len(raw) > MAX_HEADER:
        raise Refusal("too-large", f"a header of {len(raw)} bytes where {MAX_HEADER} are taken")
    try:
        fields = cbor.decode(raw, MAX_ITEMS)
    except MoireError as error:
        raise Refusal("invalid", str(error)) from None
    if not isinstance(fields.get("t"), str):
        raise Refusal("invalid", "a header without a type")
    return fields


@dataclass
class Session:
    client: str
    token: str
    peer: bytes
    heard: float
    streams: dict = field(default_factory=dict)  # the client's number -> Stream
    stream_peer: bytes | None = None


class Stream:
    """What one client receives of one run, within its credit."""

    def __init__(self, session, number, log, fields):
        self.session, self.number, self.log = session, number, log
        self.next, self.to = need(fields, "from", int, 0, 2**63 - 1), need(fields, "to", int, -1, 2**63 - 1)
        self.credit = need(fields, "credit", int, 0, MAX_CREDIT)
        self._granted, self._sent, self._initial = self.credit, 0, self.credit
        self.lossless = need(fields, "policy", str) == "lossless"
        self.values = _values(fields.get("values"))
        self._ready = None  # parts, bytes and follower of the next message
        self._unread = deque()  # (bytes sent up to its end, the message after it): not yet consumed
        self._told = -1
        self.key = object()
        if self.lossless:
            log.keep_for(self.key, self.next)

    def grant(self, count):
        if self._granted + count > MAX_CREDIT:
            raise Refusal("invalid", f"more than {MAX_CREDIT} bytes of credit in all")
        self._granted += count
        self.credit += count
        consumed = self._granted - self._initial
        place = None
        while self._unread and self._unread[0][0] <= consumed:
            place = self._unread.popleft()[1]
        if place is not None and self.lossless:
            self.log.keep_for(self.key, place)

    def due(self):
        """(envelope, parts) of what can be sent now, or None. Not sent until sent() is called."""
        if (self.to >= 0 and self.next >= self.to) or (self.log.closed and self.next >= len(self.log)):
            return {"t": "end", "stream": self.number, "sentence": ""}, []
        if self.next >= len(self.log):
            return None
        if self._ready is None:
            fields, frames, after = self.log.read(self.next, self.values)
            self._ready = (*packed(fields, frames), after, fields["seq"])
        parts, size, _, sequence = self._ready
        if size > self.credit:
            if self._told == sequence:
                return None
            self._told = sequence
            return {"t": "starved", "stream": self.number, "needs": size}, []
        return {"t": "message", "stream": self.number, "seq": sequence, "bytes": size}, parts

    def sent(self):
        _, size, after, _ = self._ready
        self._ready = None
        self.credit -= size
        self._sent += size
        self.next = after
        self._unread.append((self._sent, after))

    def release(self):
        self.log.release(self.key)


def _values(said):
    if isinstance(said, bool):
        return said
    if isinstance(said, list) and all(isinstance(tap, int) for tap in said):
        return set(said)
    raise Refusal("invalid", "values of open are neither yes nor no nor a list of taps")


class Desk:
    """Answers requests of control, keeps streams. `place` gives what is served: program, runs, status, models, taps."""

    def __init__(self, place):
        self._place = place
        self.epoch = secrets.token_hex(8)
        self.refusals = 0
        self.sessions = {}  # token -> Session
        self._by_peer = {}
        self._faults = {}  # peer -> messages that were no header
        self._left = []  # (when, client, run, stream): lossless streams whose link was lost

    @property
    def streams(self):
        return [stream for session in self.sessions.values() for stream in session.streams.values()]

    # Control

    def answer(self, peer, raw, now):
        """The reply's header, or None for a peer that is no longer answered."""
        number = -1
        try:
            fields = header_of(raw)
            number = need(fields, "id", int)
            if self._faults.get(peer, 0) > MAX_FAULTS and fields["t"] != "hello":
                return None
            reply = self._reply(peer, fields, now)
        except Refusal as refusal:
            reply = refusal.fields
            self.refusals += 1
            if number == -1 and self._is_tiresome(peer):
                return None
        return cbor.encode({**reply, "id": number})

    def _is_tiresome(self, peer):
        """Counts a message that was no header."""
        self._faults[peer] = self._faults.get(peer, 0) + 1
        if self._faults[peer] == MAX_FAULTS + 1:
            LOG.warning("a client sends what is no message; it gets no more answers")
        while len(self._faults) > 4 * MAX_CLIENTS:
            self._faults.pop(next(iter(self._faults)))
        return self._faults[peer] > MAX_FAULTS

    def _reply(self, peer, fields, now):
        kind = fields["t"]
        if kind == "hello":
            return self._hello(peer, fields, now)
        if peer not in self._by_peer:
            raise Refusal("no-hello", "a client says hello before it asks")
        session = self._by_peer[peer]
        session.heard = now
        if kind == "goodbye":
            self._drop_session(session)
            return {"t": "farewell"}
        if kind in ("runs", "models"):
            return {"t": kind, kind: getattr(self._place, kind)()}
        if kind == "taps":
            return {"t": "taps", "taps": self._place.taps(need(fields, "model", str))}
        if kind == "run-state":
            return {"t": "run-state", **self._place.run_state(self._log(fields))}
        if kind == "prompts":
            return {"t": "prompts", "samples": self._prompts(self._log(fields))}
        if kind == "forget":
            log = self._log(fields)
            if not log.closed or log.streams:
                raise Refusal("busy", f"the run {log.run} is in use")
            self._place.forget(log)
            return {"t": "forgotten", "run": log.run}
        if kind == "status":
            return {"t": "status", "epoch": self.epoch, "clients": len(self.sessions), "streams": len(self.streams),
                    "refusals": self.refusals, **self._place.status()}
        raise Refusal("unsupported", f"{kind} is not done here: the program that holds the model runs it",
                      "Watch its runs: moire-capture record --attach")

    def _hello(self, peer, fields, now):
        versions = need(fields, "versions", list)
        client = need(fields, "client", str)
        if VERSION not in versions:
            raise _version_refusal()
        session = next((s for s in self.sessions.values() if s.client == client), None)
        if session is None:
            self._make_place(now)
            session = Session(client, secrets.token_hex(16), peer, now)
            self.sessions[session.token] = session
        self._by_peer.pop(session.peer, None)
        self._faults.pop(peer, None)
        session.peer, session.heard = peer, now
        self._by_peer[peer] = session
        return {"t": "welcome", "version": VERSION, "epoch": self.epoch, "session": session.token, "streams": MAX_STREAMS,
                "message": MAX_MESSAGE, "features": FEATURES, **self._place.welcome()}

    def _make_place(self, now):
        if len(self.sessions) < MAX_CLIENTS:
            return
        silent = min((s for s in self.sessions.values() if not s.streams), key=lambda s: s.heard, default=None)
        if silent is None or now - silent.heard < SESSION_SECONDS:
            raise Refusal("busy", f"{MAX_CLIENTS} clients are here already", "Try again later")
        self._drop_session(silent)

    def _drop_session(self, session):
        for stream in session.streams.values():
            stream.release()
        self.sessions.pop(session.token, None)
        self._by_peer.pop(session.peer, None)

    def _log(self, fields):
        log = self._place.logs.get(need(fields, "run", str))
        if log is None:
            raise Refusal("not-found", f"there is no run {fields['run']} here", "moire-capture status lists them")
        return log

    @staticmethod
    def _prompts(log):
        samples = [dict(entry.fields) for entry in log.entries if entry.fields["t"] == "sample"]
        return [{key: value for key, value in sample.items() if key not in ("t", "seq", "run")} for sample in samples]

    # Streams

    def take(self, peer, raw, now):
        """A message of the stream socket; headers to answer it with."""
        number = -1
        try:
            fields = header_of(raw)
            if fields["t"] in ("open", "ping"):
                session = self.sessions.get(need(fields, "session", str))
                number = fields.get("stream", -1)
                if session is None:
                    raise Refusal("no-hello", "this session is not known here", "Say hello again")
                session.heard = now
                if fields["t"] == "ping":
                    return [{"t": "pong"}]
                return [self._open(session, peer, fields)]
            session = next((s for s in self.sessions.values() if s.stream_peer == peer), None)
            number = need(fields, "stream", int)
            stream = session.streams.get(number) if session is not None else None
            if session is not None:
                session.heard = now
            if fields["t"] == "credit" and stream is not None:
                stream.grant(need(fields, "bytes", int, 0, MAX_CREDIT))
            elif fields["t"] == "close" and stream is not None:
                session.streams.pop(number).release()
            elif fields["t"] not in ("credit", "close"):
                raise Refusal("unsupported", f"{fields['t']} is no message of a stream")
            return []  # of a stream that has ended: nothing to say
        except Refusal as refusal:
            self.refusals += 1
            return [{**refusal.fields, "stream": number if isinstance(number, int) else -1}]

    def _open(self, session, peer, fields):
        number, log = need(fields, "stream", int), self._log(fields)
        if session.stream_peer != peer:
            self.lost(session.stream_peer, session.heard)  # the same client by another link: the old one is gone
            session.stream_peer = peer
        if number not in session.streams and len(self.streams) >= MAX_STREAMS:
            raise Refusal("busy", f"{MAX_STREAMS} streams are open already", "Try again later")
        stream = Stream(session, number, log, fields)
        if number in session.streams:
            session.streams[number].release()
        session.streams[number] = stream
        self._release_left(lambda when, client, run: (client, run) == (session.client, log.run))
        return {"t": "opened", "stream": number, "run": log.run, "next": stream.next, "epoch": self.epoch}

    def lost(self, peer, now):
        """The link of a peer of the stream socket is gone: a lossless stream may be opened again and wants its rows."""
        for session in self.sessions.values():
            if peer is not None and session.stream_peer == peer:
                self._left += [(now, session.client, s.log.run, s) for s in session.streams.values()]
                session.streams.clear()

    def tick(self, now):
        for session in self.sessions.values():
            if session.streams and now - session.heard > SILENCE:
                self.lost(session.stream_peer, now)
        self._release_left(lambda when, client, run: now - when > SESSION_SECONDS)

    def _release_left(self, gone):
        for left in [left for left in self._left if gone(*left[:3])]:
            left[3].release()
            self._left.remove(left)


def _version_refusal():
    refusal = Refusal("version", f"version {VERSION} of the protocol is spoken here", "Use programs of one version")
    refusal.fields["spoken"] = [VERSION]
    return refusal


def resident_bytes():
    """What this process holds in memory, 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
