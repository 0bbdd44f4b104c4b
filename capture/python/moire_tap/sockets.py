# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The sockets of a publisher and the thread that owns them (PROTOCOL.md, sections 1, 5, 6 and 8)."""

import logging
import os
import threading
import time
from collections import deque

import zmq
from zmq.utils import z85

from . import cbor
from .errors import MoireError
from .keys import authorised_keys, read_pair

LOG = logging.getLogger("moire_tap")
ZAP_DOMAIN = b"moire"
STREAM_WINDOW = 8 << 20
_LARGEST_REQUEST = 1 << 20
# Smaller messages are copied by libzmq; at most so many of them wait for a peer.
_SMALL = 1 << 16
_SMALL_WAITING = STREAM_WINDOW // _SMALL
_PUBLISHED_WAITING = 4
# Seconds between two lines about refused keys.
_REFUSAL_PAUSE = 1.0


def is_loopback(address):
    if not address.startswith("tcp://"):
        return address.startswith(("ipc://", "inproc://"))
    host = address[len("tcp://"):].rpartition(":")[0]
    return host in ("localhost", "[::1]") or host.startswith("127.")


class Sockets:
    """Binds in the constructor, serves in a thread until close()."""

    def __init__(self, desk, address, *, keys=None, insecure=False):
        self._desk = desk
        self._context = zmq.Context()
        self.secure = keys is not None
        if not is_loopback(address):
            if not self.secure and not insecure:
                self._context.term()
                raise MoireError(f"{address} can be reached from other machines: give keys=FOLDER, or insecure=True where"
                                 " everybody who reaches it may read the model's values")
            if not self.secure:
                LOG.warning("%s is open to everybody who reaches it; nothing is encrypted", address)
        self._keys = keys
        self._pair = read_pair(os.path.join(keys, "server.key")) if self.secure else None
        self._published = {}  # run -> (log, messages published so far)
        self._in_flight = {}  # stream -> (tracker, bytes) of what libzmq still holds
        self._wake_end, self._wake_begin = os.pipe()
        os.set_blocking(self._wake_end, False)
        os.set_blocking(self._wake_begin, False)
        self._closing = False
        self._refusal_said = -_REFUSAL_PAUSE
        self._logs = deque()  # logs to publish from now on
        try:
            self._zap = self._authenticator() if self.secure else None
            self._control = self._socket(zmq.ROUTER, address)
            self.address = self._control.last_endpoint.decode().rstrip("\0")
            self._stream = self._socket(zmq.ROUTER, self._beside(address, 1))
            self._data = self._socket(zmq.PUB, self._beside(address, 2))
        except zmq.ZMQError as error:
            self._context.destroy(0)
            raise MoireError(f"cannot bind {address}: {error.strerror or error}; choose another address, or port 0") from error
        self.stream_address = self._stream.last_endpoint.decode().rstrip("\0")
        self.data_address = self._data.last_endpoint.decode().rstrip("\0")
        self._thread = threading.Thread(target=self._serve, name="moire-tap", daemon=True)

    def start(self):
        self._thread.start()

    def _beside(self, address, step):
        if not address.startswith("tcp://"):
            return f"{address}-{('stream', 'data')[step - 1]}"
        host, _, port = address.rpartition(":")
        return f"{host}:{int(port) + step if port not in ('0', '*') else 0}"

    def _socket(self, kind, address):
        socket = self._context.socket(kind)
        socket.linger = 500
        socket.maxmsgsize = _LARGEST_REQUEST
        socket.rcvhwm = 64
        socket.sndhwm = _SMALL_WAITING if kind == zmq.ROUTER else _PUBLISHED_WAITING
        socket.handshake_ivl = 5000
        socket.heartbeat_ivl, socket.heartbeat_timeout, socket.heartbeat_ttl = 5000, 15000, 15000
        if kind == zmq.ROUTER:
            socket.router_mandatory = True
            socket.router_handover = False
        if self.secure:
            socket.zap_domain = ZAP_DOMAIN
            socket.curve_server = True
            socket.curve_secretkey = self._pair.secret.encode()
        socket.bind(address)
        return socket

    def wake(self):
        try:
            os.write(self._wake_begin, b"\0")
        except OSError:
            pass  # full: it is going to wake anyway

    def publish(self, log):
        self._logs.append(log)
        self.wake()

    def close(self):
        self._closing = True
        self.wake()
        self._thread.join()
        os.close(self._wake_end)
        os.close(self._wake_begin)

    # The thread

    def _serve(self):
        poller = zmq.Poller()
        for socket in filter(None, (self._control, self._stream, self._zap)):
            poller.register(socket, zmq.POLLIN)
        poller.register(self._wake_end, zmq.POLLIN)
        patience = 100
        while not self._closing:
            ready = dict(poller.poll(patience))
            if self._wake_end in ready:
                os.read(self._wake_end, 4096)
            now = time.monotonic()
            for socket, answer in ((self._zap, self._admit), (self._control, self._ask), (self._stream, self._take)):
                if socket in ready:
                    self._drain(socket, answer, now)
            while self._logs:
                log = self._logs.popleft()
                self._published[log.run] = [log, 0]
            self._publish()
            patience = 2 if self._send() else 100
            self._desk.tick(now)
        for stream in self._desk.streams:
            self._tell(stream.session.stream_peer, {"t": "end", "stream": stream.number,
                                                    "sentence": "the publisher ends"}, [])
        self._context.destroy(500)

    @staticmethod
    def _drain(socket, answer, now):
        for _ in range(64):  # then the streams have their turn
            try:
                parts = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                answer(parts, now)
            except Exception:  # noqa: BLE001 - a fault of ours must not end the others' links
                LOG.exception("a message was not answered")

    def _ask(self, parts, now):
        reply = self._desk.answer(parts[0], parts[1] if len(parts) > 1 else b"", now)
        if reply is not None:
            try:
                self._control.send_multipart([parts[0], reply], zmq.NOBLOCK)
            except zmq.ZMQError:
                pass  # the asker has gone

    def _take(self, parts, now):
        for reply in self._desk.take(parts[0], parts[1] if len(parts) > 1 else b"", now):
            self._tell(parts[0], reply, [])

    def _tell(self, peer, envelope, parts):
        """Whether it was sent, False: later; None: the peer is gone."""
        frames = [peer, cbor.encode(envelope), *parts]
        try:
            if len(parts) and sum(memoryview(part).nbytes for part in parts) > _SMALL:
                last = zmq.Frame(frames[-1], track=True, copy=False, copy_threshold=0)
                self._stream.send_multipart([*frames[:-1], last], zmq.NOBLOCK, copy=False)
                return last.tracker
            self._stream.send_multipart(frames, zmq.NOBLOCK)
            return True
        except zmq.Again:
            return False
        except zmq.ZMQError:
            return None

    def _send(self):
        """Sends what streams may have; whether some must wait for libzmq."""
        waits = False
        for stream in self._desk.streams:
            flight = self._in_flight.setdefault(stream, deque())
            while True:
                while flight and flight[0][0].done:
                    flight.popleft()
                if sum(size for _, size in flight) > STREAM_WINDOW:
                    waits = True
                    break
                due = stream.due()
                if due is None:
                    break
                told = self._tell(stream.session.stream_peer, *due)
                if told is None:
                    self._desk.lost(stream.session.stream_peer, time.monotonic())
                    break
                if told is False:
                    waits = True
                    break
                if due[0]["t"] == "end":
                    stream.session.streams.pop(stream.number)
                    stream.release()
                    break
                if due[0]["t"] == "message":
                    if told is not True:
                        flight.append((told, due[0]["bytes"]))
                    stream.sent()
        open_streams = set(self._desk.streams)
        self._in_flight = {stream: flight for stream, flight in self._in_flight.items() if stream in open_streams}
        return waits

    def _publish(self):
        for run, published in list(self._published.items()):
            log, place = published
            while place < len(log):
                fields, frames, place = log.read(place, True)
                if fields["t"] != "gap":  # what is gone already is asked for on the stream socket, and is a gap there
                    self._data.send_multipart([f"run/{run}/".encode(), cbor.encode(fields), *frames], zmq.NOBLOCK, copy=False)
            published[1] = place
            if log.closed and place >= len(log):
                del self._published[run]

    # Keys

    def _authenticator(self):
        socket = self._context.socket(zmq.REP)
        socket.linger = 0
        socket.bind("inproc://zeromq.zap.01")
        return socket

    def _admit(self, parts, now):
        """Answers ZAP (RFC 27): the folder is read anew, so that keys come and go without a restart."""
        version, number, domain = parts[0], parts[1], parts[2]
        status, text = b"400", b"not authorised"
        if domain == ZAP_DOMAIN and len(parts) == 7 and parts[5] == b"CURVE" and len(parts[6]) == 32:
            try:
                if z85.encode(parts[6]).decode() in authorised_keys(os.path.join(self._keys, "clients")):
                    status, text = b"200", b"OK"
            except MoireError as error:
                LOG.error("%s", error)
        if status != b"200":
            self._desk.refusals += 1
            if now - self._refusal_said >= _REFUSAL_PAUSE:
                LOG.warning("a client at %s was refused: its key is not authorised", parts[3].decode("ascii", "replace"))
                self._refusal_said = now
        self._zap.send_multipart([version, number, status, text, b"", b""])
