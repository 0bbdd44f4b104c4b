# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that does harm at byte offsets: delay, stall, reset, half-close. What it does follows from its seed.

It listens at 127.0.0.2 on the ports of a daemon at 127.0.0.1: a client keeps the host and takes the ports of `welcome`.
"""
import random
import select
import socket
import struct
import threading
import time

NEAR, FAR = "127.0.0.2", "127.0.0.1"
CUTS = ("reset", "half-close", "stall")
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER of no time: close() sends RST


class FaultyProxy:
    """`ports`: which to stand before. `mean_bytes`: of a direction of a connection between two faults, on average (0 = none).
    `cuts`: after so many faults that end a link it does no more harm. `rate`: bytes a second to the client (0 = unlimited)."""

    def __init__(self, ports, seed=1, *, mean_bytes=0, faults=("delay", *CUTS), cuts=10**9, rate=0, stall_seconds=(0.2, 1.0)):
        self.mean_bytes, self.faults, self.cuts, self.rate = mean_bytes, tuple(faults), cuts, rate
        self.stall_seconds = stall_seconds
        self.done = {fault: 0 for fault in ("delay", *CUTS, "cut")}
        self.connections = 0
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._pairs = []
        self._ended = False
        self._listeners = []
        for port in ports:
            listener = socket.create_server((NEAR, port))
            self._listeners.append(listener)
            threading.Thread(target=self._listen, args=(listener, port), daemon=True).start()

    @property
    def disconnects(self):
        return sum(self.done[fault] for fault in (*CUTS, "cut"))

    def cut_all(self):
        """Resets every connection now."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            self.done["cut"] += 1
            for end in pair:
                _reset(end)

    def close(self):
        self._ended = True
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)  # a port is taken for as long as accept() waits at it
            listener.close()
        self.cut_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _listen(self, listener, port):
        while not self._ended:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection((FAR, port), timeout=5)
            except OSError:
                _reset(near)
                continue
            for end in (near, far):
                end.settimeout(None)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.append((near, far))
                self.connections += 1
                seeds = self._random.random(), self._random.random()
            for source, sink, seed, rate in ((near, far, seeds[0], 0), (far, near, seeds[1], self.rate)):
                threading.Thread(target=self._pump, args=(source, sink, (near, far), random.Random(seed), rate),
                                 daemon=True).start()

    def _pump(self, source, sink, pair, dice, rate):
        due = self._distance(dice)
        try:
            while not self._ended:
                if not select.select([source], [], [], 1.0)[0]:
                    continue
                data = source.recv(min(1 << 16, max(1, int(rate / 20))) if rate else 1 << 16)
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                while due is not None and len(data) >= due:
                    sink.sendall(data[:due])
                    data = data[due:]
                    if not self._harm(dice, sink, pair):
                        return
                    due = self._distance(dice)
                if due is not None:
                    due -= len(data)
                sink.sendall(data)
                if rate:
                    time.sleep(len(data) / rate)
        except (OSError, ValueError):  # closed by the other direction
            for end in pair:
                _reset(end)
            with self._lock:
                self._pairs = [known for known in self._pairs if known is not pair]

    def _distance(self, dice):
        return max(1, int(dice.expovariate(1 / self.mean_bytes))) if self.mean_bytes else None

    def _harm(self, dice, sink, pair):
        """One fault; whether the connection goes on."""
        fault = dice.choice(self.faults)
        with self._lock:
            if fault in CUTS and self.disconnects >= self.cuts:
                return True
            self.done[fault] += 1
        if fault == "delay":
            time.sleep(dice.uniform(0, 0.02))
            return True
        if fault == "stall":  # nothing moves, then it breaks
            time.sleep(dice.uniform(*self.stall_seconds))
        if fault == "half-close":  # one direction ends in the middle of a message, the other goes on for a while
            sink.shutdown(socket.SHUT_WR)
            time.sleep(dice.uniform(0, 0.05))
        for end in pair:
            _reset(end)
        return False


def _reset(end):
    try:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
