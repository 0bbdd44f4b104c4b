# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What MoE routers decide: logits, expert ids in slot order, weights, wherever a model computes them."""

import torch

from .dtypes import dtype_of
from .tensors import as_rows, picked

_ROUTERS = ("gate", "router")


def _is_ids(value):
    return isinstance(value, torch.Tensor) and value.dtype in (torch.int64, torch.int32) and value.ndim >= 2


def _is_values(value, width=None):
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.ndim >= 2 \
        and width in (None, value.shape[-1])


class RoutingWatch:
    """Follows the routers among a model's parts through a pass.

    Three ways are known: a router that returns logits, weights and ids; a router that returns logits and experts that
    are given ids and weights; a plain linear gate whose block chooses inside itself, where the choice is made again
    from the logits as transformers 4 does (softmax in fp32, the k largest, normalised if the block says so).
    """

    def __init__(self, parts):
        self._routers = {name for name in parts if name.rpartition(".")[2] in _ROUTERS}
        self._blocks = {name.rpartition(".")[0]: name for name in self._routers}

    @staticmethod
    def name_of(tensor):
        return dtype_of(tensor.dtype).name

    def entered(self, name, args, kwargs, current):
        """Experts that are given ids and weights."""
        block, _, last = name.rpartition(".")
        router = self._blocks.get(block)
        if last != "experts" or router is None or len(current.routing.get(router, ())) == 3:
            return
        given = [*args[1:], *kwargs.values()]
        ids = next((value for value in given if _is_ids(value)), None)
        weights = next((value for value in given if ids is not None and _is_values(value, ids.shape[-1])), None)
        logits = current.held.get(router)
        if weights is not None and logits is not None:
            self._take(router, ids, weights, logits, current)

    def left(self, name, module, output, current):
        if name in self._routers:
            pieces = list(output) if isinstance(output, (tuple, list)) else [output]
            ids = next((value for value in pieces if _is_ids(value)), None)
            values = [value for value in pieces if _is_values(value)]
            if ids is None:
                if values:
                    current.held[name] = values[0]
                return
            weights = next((value for value in values[::-1] if value.shape[-1] == ids.shape[-1]), None)
            logits = next((value for value in values if value is not weights), None)
            if weights is not None and logits is not None:
                self._take(name, ids, weights, logits, current)
        elif name in self._blocks and self._blocks[name] in current.held:
            self._choose_again(self._blocks[name], module, current)

    def _choose_again(self, router, block, current):
        logits = current.held.pop(router)
        chosen = getattr(block, "top_k", None) or getattr(block, "num_experts_per_tok", None)
        if not isinstance(chosen, int) or not 0 < chosen <= logits.shape[-1] or router in current.routing:
            return
        with torch.no_grad():
            weights, ids = torch.topk(torch.softmax(logits.detach().float(), dim=-1), chosen, dim=-1)
            if getattr(block, "norm_topk_prob", True):
                weights = weights / weights.sum(dim=-1, keepdim=True)
            self._take(router, ids, weights.to(logits.dtype), logits, current)

    @staticmethod
    def _take(router, ids, weights, logits, current):
        current.held.pop(router, None)
        rows = [as_rows(value, *current.shape) for value in (ids, weights, logits)]
        if all(value is not None for value in rows) and current.rows.pick.size:
            with torch.no_grad():
                current.routing[router] = tuple(picked(value, current.pick).to("cpu", copy=True) for value in rows)
