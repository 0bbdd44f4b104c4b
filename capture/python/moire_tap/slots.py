# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Values of single experts where all are fused in one module: the products of its loop over experts, put in slot order."""

import functools

import torch
from torch.overrides import TorchFunctionMode


def fused_experts(root, parts):
    """Modules whose forward multiplies one expert after the other (experts_implementation "eager")."""
    if getattr(getattr(root, "config", None), "_experts_implementation", None) != "eager":
        return {}
    return {name: module for name, module in parts.items() if name.rpartition(".")[2] == "experts"
            and all(getattr(getattr(module, part, None), "ndim", 0) == 3 for part in ("gate_up_proj", "down_proj"))}


class _Products(TorchFunctionMode):
    """Catches F.linear with an expert's slice of a weight."""

    def __init__(self, module, ids):
        super().__init__()
        self._weights = {"gate_up": module.gate_up_proj, "down": module.down_proj}
        self._ids = ids
        self.slots = {}
        self._rows = dict.fromkeys(self._weights, 0)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is torch.nn.functional.linear and len(args) >= 2:
            for part, weight in self._weights.items():
                expert = self._expert(weight, args[1])
                if expert is not None:
                    self._put(part, expert, result.detach())
        return result

    @staticmethod
    def _expert(weight, given):
        """Which of the fused weights' matrices is multiplied with."""
        if given.shape != weight.shape[1:] or weight.stride(0) == 0:
            return None
        apart = given.data_ptr() - weight.data_ptr()
        expert, rest = divmod(apart, weight.stride(0) * weight.element_size())
        return expert if rest == 0 and 0 <= expert < weight.shape[0] else None

    def _put(self, part, expert, result):
        with torch.no_grad():
            slot, token = torch.where((self._ids == expert).T)  # the loop's order: slot, then token
            if len(token) != len(result):
                return
            if part not in self.slots:
                self.slots[part] = result.new_empty((*self._ids.shape, result.shape[-1]))
            self.slots[part][token, slot] = result
            self._rows[part] += len(token)

    def whole(self, part):
        """rows x (k · width) once every slot was seen, else None."""
        return self.slots[part].flatten(1) if self._rows[part] == self._ids.numel() else None


class SlotWatch:
    """While installed, `seen(module's path, part, values)` is called before each experts module returns."""

    def __init__(self, experts, seen):
        self._experts, self._seen = experts, seen

    def install(self):
        for name, module in self._experts.items():
            module.forward = self._wrapped(name, module, module.forward)

    def remove(self):
        for module in self._experts.values():
            module.__dict__.pop("forward", None)

    def _wrapped(self, name, module, original):
        seen = self._seen

        @functools.wraps(original)
        def forward(hidden_states, top_k_index, top_k_weights):
            if torch.compiler.is_compiling():
                return original(hidden_states, top_k_index, top_k_weights)
            with _Products(module, top_k_index) as products:
                result = original(hidden_states, top_k_index, top_k_weights)
            for part in ("gate_up", "down"):
                values = products.whole(part)
                if values is not None:
                    seen(name, part, values)
            return result

        return forward
