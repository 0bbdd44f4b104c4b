# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Server: what `moire_tap.serve` gives; publishes the runs that this process makes with a model that it holds."""

import threading
import time

from .desk import Desk, Refusal, resident_bytes
from .errors import MoireError
from .header import HEAD
from .live_writer import LiveWriter
from .names import describe
from .run_log import Hold, RunLog
from .sockets import Sockets

PROGRAM = "moire_tap 0.1.0"
_KEPT_RUNS = 64


class Server:
    """Lets moire, moire-capture record --attach and other clients watch what this process runs.

        with moire_tap.serve(model, "tcp://127.0.0.1:7431") as server:
            with server.record(tokenizer=tokenizer):
                model.generate(**inputs, max_new_tokens=32)

    `address`: of the control socket; stream and data take the next two ports, port 0 lets the system choose (`address`
    of the server then says it). Beyond loopback it needs `keys`, a folder with server.key and clients/*.pub (as
    moire-capture keygen writes them), or insecure=True. `hold_limit`: bytes of rows kept in memory for clients. A client
    that receives losslessly makes the model wait when it is full; without one the oldest rows are forgotten, and who asks
    for them is told so. `model` None: runs come from writer() only. Errors are MoireError, one sentence.
    """

    def __init__(self, model=None, address="tcp://127.0.0.1:7431", *, name=None, keys=None, insecure=False,
                 hold_limit=256 << 20):
        self._model = model
        self._name = name or _name_of(model)
        self.logs = {}
        self._waits = threading.Condition()
        self._hold = Hold(hold_limit)
        self._began = time.monotonic()
        self._counter = 0
        self._desk = Desk(self)
        self._sockets = Sockets(self._desk, address, keys=keys, insecure=insecure)
        self._sockets.start()

    @property
    def address(self):
        return self._sockets.address

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def close(self, patience=10.0):
        """Ends serving. Clients that are still receiving a finished run get up to `patience` seconds for it."""
        end = time.monotonic() + patience
        while any(log.streams and log.closed for log in list(self.logs.values())) and time.monotonic() < end:
            time.sleep(0.01)
        for log in list(self.logs.values()):
            if not log.closed:
                log.append("broken", {"state": "lost", "sentence": "the publisher ended before the run did"})
        with self._hold.changed:
            self._hold.closed = True
            self._hold.changed.notify_all()
        self._sockets.close()

    # Runs

    def record(self, taps="*", level="full", *, wait=0.0, **options):
        """A context manager that publishes every forward pass of the model while its block runs; options as of
        moire_tap.record. `wait`: seconds to wait at the beginning until a client receives the run losslessly."""
        from .recorder import Recorder

        if self._model is None:
            raise MoireError("this server holds no model; publish with writer(), or give serve() the model")
        server = self

        class LiveRecorder(Recorder):
            def _make_writer(self, **settings):
                return server.writer(wait=wait, **settings)

        return LiveRecorder(self._model, None, taps, level, **options)

    def writer(self, *, wait=0.0, **options):
        """A Writer whose rows are published: for engines that have arrays. Options as of moire_tap.Writer."""
        self._forget_oldest()
        self._counter += 1
        log = RunLog(f"{self._desk.epoch[:6]}-{self._counter}", self._hold, self._sockets.wake)
        self.logs[log.run] = log
        self._sockets.publish(log)
        end = time.monotonic() + wait
        while not log.streams and time.monotonic() < end:
            time.sleep(0.01)
        return LiveWriter(log, **options)

    def _forget_oldest(self):
        over = len(self.logs) + 1 - _KEPT_RUNS
        for log in [log for log in list(self.logs.values()) if log.closed and not log.streams][:max(0, over)]:
            self.forget(log)

    # What the desk asks

    def forget(self, log):
        log.forget()
        self.logs.pop(log.run, None)

    def welcome(self):
        return {"program": PROGRAM, "stream": self._sockets.stream_address, "data": self._sockets.data_address,
                "secure": self._sockets.secure}

    def models(self):
        if self._model is None:
            return []
        parameters = list(self._model.parameters())
        return [{"name": self._name, "kind": "folder", "architecture": type(self._model).__name__,
                 "bytes": sum(p.numel() * p.element_size() for p in parameters),
                 "problem": "it runs in a program of its own; its runs can be watched"}]

    def taps(self, model):
        """Of the newest run; before there is one, names only: types and widths are known after a pass."""
        if model != self._name:
            raise Refusal("not-found", f"there is no model {model} here")
        for log in reversed(list(self.logs.values())):
            if log.entries:
                kinds = {tap["name"]: describe(tap["name"]).kind for tap in log.entries[0].fields["taps"]}
                return [{"name": tap["name"], "dtype": tap["dtype"], "width": tap["width"],
                         "kind": "head" if tap["name"] == HEAD else kinds[tap["name"]]}
                        for tap in log.entries[0].fields["taps"]]
        if self._model is None:
            return []
        from .modules import tap_names

        return [{"name": tap, "dtype": "", "width": 0, "kind": describe(tap).kind} for tap in tap_names(self._model)]

    def runs(self):
        return [self.run_state(log) for log in list(self.logs.values())]

    def run_state(self, log):
        return {"run": log.run, "model": self._name, "state": log.state, "rows": log.rows, "planned": 0,
                "messages": len(log), "bytes": log.total_bytes, "place": 0,
                "seconds": (log.ended or time.monotonic()) - log.began, "waited": log.waited, "spooled": False,
                "sentence": log.sentence}

    def status(self):
        running = next((log.run for log in list(self.logs.values()) if not log.closed), "")
        return {"program": PROGRAM, "uptime": time.monotonic() - self._began, "state": "running" if running else "idle",
                "run": running, "queue": [], "held": self._hold.held, "hold-limit": self._hold.limit, "spool": 0,
                "spool-limit": 0, "waited": sum(log.waited for log in list(self.logs.values())), "memory": resident_bytes(),
                "device": self._device()}

    def _device(self):
        parameter = None if self._model is None else next(iter(self._model.parameters()), None)
        return "" if parameter is None else str(parameter.device)


def _name_of(model):
    if model is None:
        return "arrays"
    path = str(getattr(getattr(model, "config", None), "_name_or_path", "") or "").rstrip("/")
    return path.rpartition("/")[2] or type(model).__name__
