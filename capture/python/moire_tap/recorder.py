# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Recorder: what `moire_tap.record` gives; hooks that write a torch model's forward passes into a capture."""

import os
import sys
import time

import numpy as np
import torch

from . import environment
from .calls import cache_of, computed_columns, read_call
from .errors import MoireError
from .generation import watch_generate
from .graph import Flow
from .header import HEAD
from .modules import head_of, innermost, is_attention, is_rotary, select, sites
from .passes import Pass, Spool
from .plan import header_of
from .rotation import RotationWatch
from .routing import RoutingWatch
from .samples import Samples
from .slots import SlotWatch, fused_experts
from .tensors import as_rows, first_tensor, host_rows, picked
from .writer import Writer


class Recorder:
    """Records every forward pass of a torch model while its with block runs.

        with moire_tap.record(model, "run.moire", tokenizer=tokenizer):
            model.generate(**inputs, max_new_tokens=32)

    `taps`: a pattern or several ('*' crosses dots). `level`: full, topk or digest. `rows`: every Nth position, a slice
    of positions, or a function of the position. `environment`: further fields. `weight_digest`: "auto" takes it up to
    10**8 parameters. `top_k`: entries of the top-K table. `enabled=False` records nothing (for all ranks but one).
    In a distributed job the path holds "{rank}".
    """

    def __init__(self, model, path, taps="*", level="full", *, tokenizer=None, rows=None, environment=None, top_k=64,
                 weight_digest="auto", enabled=True, **options):
        self.enabled = enabled
        self._root = innermost(model)
        self._path = _path_of_rank(os.fspath(path)) if enabled and path is not None else None
        self._chosen = select(self._root, taps)
        self._level, self._top_k, self._tokenizer, self._rows = level, top_k, tokenizer, rows
        self._extra, self._digest, self._options = dict(environment or {}), weight_digest, options
        self._handles, self._undo, self._attention = [], [], []
        self._pass = None
        self._hidden = None  # the last tensor with a row for every token: what logits are computed from
        self._inside = False  # our own calls of the model's parts
        self._writer = self._failure = None

    def next_samples(self, ids=None, **fields):
        """Names the samples that the next passes begin, in order. Fields are lists: response_from (place of the first
        response token), text, category, label, choices, repeat."""
        if self.enabled:
            self._samples.name_next(ids, fields)

    def event(self, kind, text):
        if self.enabled:
            self._writer.event(kind, text)

    def __enter__(self):
        if not self.enabled:
            return self
        self._writer = self._make_writer(level=self._level, tokenizer=self._tokenizer, top_k=self._top_k, **self._options)
        self._samples = Samples(self._writer, self._rows)
        self._flow, self._spool = Flow(), Spool(self._path)
        self._started, self._start_text = time.monotonic(), environment.now_text()
        try:
            self._install()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind, value, trace):
        if not self.enabled:
            return
        self._remove()
        self._spool.close()
        if kind is not None:
            self._writer.abandon(f"recording ended early: {kind.__name__}: {value}")
        elif self._failure is not None:
            self._writer.abandon(f"recording ended early: {self._failure}")
        elif self._writer.header is None:
            self._writer.abandon("the model was not called")
            raise MoireError("nothing was recorded: the model was not called inside the with block")
        else:
            self._writer.close(run__end_time=environment.now_text(), run__wall_seconds=time.monotonic() - self._started,
                               run__peak_bytes=environment.peak_bytes())

    def _make_writer(self, **settings):
        return Writer(self._path, **settings)

    # Hooks

    def _install(self):
        parts = sites(self._root)
        self._head_name, self._head = head_of(self._root)
        self._routing = RoutingWatch(parts)
        opaque = _opaque_to_dynamo()
        add = self._handles.append
        add(self._root.register_forward_pre_hook(opaque(self._before_pass), with_kwargs=True))
        for name, module in parts.items():
            enter, leave = _bound(self._enter, name), _bound(self._leave, name)
            add(module.register_forward_pre_hook(opaque(enter), with_kwargs=True))
            add(module.register_forward_hook(opaque(leave)))
        add(self._root.register_forward_hook(opaque(self._after_pass)))
        add(self._root.register_forward_hook(opaque(self._left_pass), always_call=True))
        attentions = [module for name, module in parts.items() if is_attention(name, module)]
        self._rotation = RotationWatch(attentions, opaque(self._rotated))
        fused = {name: module for name, module in fused_experts(self._root, parts).items()
                 if not self._chosen.isdisjoint({f"{name}.gate_up.slots", f"{name}.down.slots"})}
        self._slots = SlotWatch(fused, opaque(self._expert_slots))
        for watch in (self._rotation, self._slots):
            watch.install()
            self._undo.append(watch.remove)
        self._undo.append(watch_generate(self._root, self._samples))

    def _remove(self):
        for handle in self._handles:
            handle.remove()
        for undo in self._undo:
            undo()
        self._handles, self._undo = [], []
        _forget_compiled()

    def _before_pass(self, module, args, kwargs):
        if self._inside:
            return
        if self._pass is not None:
            self._pass.depth += 1  # the model calls itself
            return
        call = read_call(module, args, kwargs)
        rows = self._samples.begin(call)
        self._pass = Pass(self._writer, self._spool, call, rows)
        self._attention = []

    def _after_pass(self, module, args, output):
        current = self._pass
        if self._inside or current is None or current.depth:
            return
        self._pass = None
        try:
            if current.rows.pick.size:
                if self._writer.header is None:
                    self._open(current)
                current.finish()
            outputs = output if isinstance(output, dict) else getattr(output, "__dict__", {})
            self._samples.end(cache_of(outputs) or current.call.cache, current.rows.lanes, current.call.batch)
        except MoireError as error:
            self._failure = error
            raise

    def _left_pass(self, *_):
        """Called after the model, also when it raised an exception: such a pass has no rows."""
        if self._pass is not None and not self._inside:
            if self._pass.depth:
                self._pass.depth -= 1
            else:
                self._pass = None
                self._writer.event("gap", "a forward pass ended in an exception; its rows are not recorded")
        if self._pass is None:
            self._hidden = None

    def _open(self, current):
        self._flow.close()
        fields = {**environment.describe_run(self._root, self._digest), "run.start_time": self._start_text,
                  "run.program": "moire_tap", "run.batch_size": current.call.batch, **self._samples.replay(), **self._extra}
        self._writer.open(header_of(current, self._flow, self._routing, self._writer, fields))

    def _enter(self, name, module, args, kwargs):
        if self._pass is None or self._inside:
            return
        tensor = first_tensor(args[0] if args else kwargs.get("hidden_states"))
        if is_attention(name, module):
            self._attention.append(name)
        self._routing.entered(name, args, kwargs, self._pass)
        if tensor is None or not tensor.is_floating_point() or is_rotary(name):
            return
        if self._writer.header is None:
            self._flow.entered(self._tap_module(name), tensor, next(module.children(), None) is None)
        self._record(f"{self._tap_module(name)}.in", tensor)

    def _leave(self, name, module, args, output):
        if self._pass is None or self._inside:
            return
        if self._attention and self._attention[-1] == name:
            self._attention.pop()
        self._routing.left(name, module, output, self._pass)
        if is_rotary(name):
            if isinstance(output, (tuple, list)) and len(output) == 2:
                self._record(f"{name}.cos", output[0])
                self._record(f"{name}.sin", output[1])
            return
        tensor = first_tensor(output)
        if tensor is None or not tensor.is_floating_point():
            return
        if module is self._head:
            self._logits(module, args, tensor)
        else:
            if tensor.ndim == 3 and tuple(tensor.shape[:2]) == self._pass.shape:
                self._hidden = tensor.detach()  # at last: what the head's input was cut from
            self._record(f"{name}.out", tensor)

    def _tap_module(self, name):
        return "lm_head" if name == self._head_name else name

    def _rotated(self, q, k):
        if self._pass is not None and not self._inside and self._attention:
            for letter, tensor in (("q", q), ("k", k)):
                self._record(f"{self._attention[-1]}.{letter}_rope.out", tensor)

    def _expert_slots(self, name, part, values):
        if self._pass is not None and not self._inside:
            self._record(f"{name}.{part}.slots", values)

    def _record(self, tap, tensor):
        """Rows of a tensor under a tap's name, when they are wanted."""
        current = self._pass
        first = self._writer.header is None
        if first and not tap.endswith(".in"):
            self._flow.made(tap, tensor)
        if tap not in self._chosen or current.has(tap) or not current.rows.pick.size:
            return
        if first and tap.endswith(".in"):
            self._flow.made(tap, tensor)
        rows = as_rows(tensor, *current.shape)
        if rows is None:
            current.skip(tap)
            return
        current.add(tap, *host_rows(picked(rows, current.pick), self._level == "full"))

    # Logits

    def _logits(self, module, args, tensor):
        current = self._pass
        if not current.rows.pick.size or current.has_logits:
            return
        self._flow.made(HEAD, tensor) if self._writer.header is None else None
        rows = as_rows(tensor, *current.shape)
        with torch.no_grad():
            rows = self._completed(module, tensor.detach()) if rows is None else picked(rows, current.pick)
        if rows is None:
            return
        bits, dtype, summary = host_rows(rows, True)
        if HEAD in self._chosen:
            current.add(HEAD, bits if self._level == "full" else None, dtype, summary, bits.shape[1])
        current.add_logits(bits, dtype)

    def _completed(self, head, tensor):
        """Logits of all recorded rows where the run asked for some only (generate() wants the last position's): those are
        the run's own, the others are computed from the same hidden states."""
        batch, length = self._pass.shape
        if self._hidden is None or tensor.ndim != 3 or tensor.shape[0] != batch or tensor.shape[1] >= length:
            return None
        columns = computed_columns(self._pass.call, tensor.shape[1])
        pick = self._pass.rows.pick
        place = np.full(length, -1)
        place[columns] = np.arange(columns.size)
        own = place[pick % length] >= 0
        flat = self._hidden.detach().reshape(batch * length, -1)
        rows = torch.empty((pick.size, tensor.shape[-1]), dtype=tensor.dtype)  # on the host: a device may have no room
        slots, places = torch.from_numpy(pick[own] // length), torch.from_numpy(place[pick[own] % length])
        rows[torch.from_numpy(own)] = tensor[slots.to(tensor.device), places.to(tensor.device)].cpu()
        others = np.flatnonzero(~own)
        self._inside = True
        try:
            for part in np.array_split(others, -(-others.size // 256) or 1):
                if part.size:
                    hidden = flat[torch.from_numpy(pick[part]).to(flat.device)]
                    rows[torch.from_numpy(part)] = head.forward(hidden).to("cpu", rows.dtype)
        finally:
            self._inside = False
        if others.size and not self._pass.noted:
            self._writer.event("warning", f"the run computed no logits for {others.size} of these rows;"
                                          " they were computed afterwards from its hidden states")
        return rows


def _bound(method, name):
    def hook(module, *rest):
        return method(name, module, *rest)

    return hook


def _path_of_rank(path):
    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    ranks = torch.distributed.get_world_size() if distributed else 1
    if "{rank}" in path:
        return path.replace("{rank}", str(torch.distributed.get_rank() if distributed else 0))
    if ranks > 1:
        raise MoireError(f"{ranks} ranks would write {path}; put {{rank}} into the name, or record on one with enabled=")
    return path


def _opaque_to_dynamo():
    """torch.compile runs hooks as they are and compiles around them."""
    if "torch._dynamo" not in sys.modules:
        return _marked
    _forget_compiled()
    return torch.compiler.disable


def _marked(function):
    def opaque(*args, **kwargs):
        return function(*args, **kwargs)

    opaque._torchdynamo_disable = True
    return opaque


def _forget_compiled():
    """What was compiled without the hooks would go on without them, and the other way round."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()
