# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Which taps an operation reads: seen from the tensors themselves, else known from the names of decoder parts."""

import weakref

from .names import describe, layer_of


class Flow:
    """What was seen in one forward pass."""

    def __init__(self):
        self.order = {}  # every tap that came by, recorded or not
        self.source = {}  # module -> the tap whose tensor it was given
        self.same = {}  # tap -> the earlier tap whose tensor it is
        self.leaves = set()  # modules without parts
        self._live = []

    def find(self, tensor):
        """The latest tap whose tensor this is or is a view of the whole of. Dead tensors are never taken for others."""
        for reference, address, count, name in reversed(self._live):
            if reference() is not None and address == tensor.data_ptr() and count == tensor.numel():
                return name
        return None

    def entered(self, module, tensor, is_leaf):
        self.source.setdefault(module, self.find(tensor))
        if is_leaf:
            self.leaves.add(module)

    def made(self, name, tensor):
        if name in self.order:
            return
        self.same[name] = self.find(tensor)
        self.order[name] = len(self.order)
        self._live.append((weakref.ref(tensor), tensor.data_ptr(), tensor.numel(), name))

    def close(self):
        self._live = []


class Graph:
    """inputs(name) -> (taps, complete, reads earlier rows) over the taps of one Flow."""

    def __init__(self, flow):
        self._flow = flow
        self._known = set(flow.order)
        self._layers = {}
        for name in flow.order:
            if describe(name).kind == "residual":
                self._layers[layer_of(name)] = name

    def inputs(self, name):
        module, _, side = name.rpartition(".")
        kind = describe(name).kind
        if kind in ("embedding", "rotary table"):
            return [], True, False
        if side == "in":
            return self._module_input(module)
        if side == "slots":
            return self._slots(*module.rsplit(".", 1))
        if f"{module}.in" in self._known:
            return [f"{module}.in"], module in self._flow.leaves, False
        same = self._flow.same.get(name)
        if same is not None and module not in self._flow.leaves:
            return [same], True, False
        by_kind = {"rotated": self._rotated, "router": self._router, "experts": self._experts, "MLP output": self._mlp,
                   "residual": self._residual}.get(kind)
        if by_kind is not None:
            return by_kind(module)
        taps, complete, earlier = self._module_input(module)
        return taps, complete and module in self._flow.leaves, earlier

    def _present(self, *names):
        return [name for name in names if name in self._known]

    def _module_input(self, module):
        """What the tensor given to a module was computed from."""
        source = self._flow.source.get(module)
        if source is not None:
            return [source], True, False
        parent, _, last = module.rpartition(".")
        if last in ("q_norm", "k_norm"):
            return self._all(f"{parent}.{last[0]}_proj.out")
        if last == "o_proj" or (last == "c_proj" and describe(f"{parent}.out").kind == "attention output"):
            return self._attention_values(parent)
        if last == "down_proj":
            return self._all(f"{parent}.act_fn.out", f"{parent}.up_proj.out")
        if describe(f"{module}.out").kind == "norm" and layer_of(module) >= 0 and describe(f"{parent}.out").kind == "residual":
            return self._after_attention(parent)
        if last in ("gate_proj", "up_proj") and describe(f"{parent}.out").kind == "MLP output":
            source = self._flow.source.get(parent)  # without a norm before it: the stream itself
            return ([source], True, False) if source else self._after_attention(parent.rpartition(".")[0])
        if last == "drop":  # GPT-2: the sum of its embeddings
            return self._all(*(name for name in self._flow.order if describe(name).kind == "embedding"))
        if module == "lm_head":
            norms = [name for name in self._flow.order if describe(name).kind == "norm" and layer_of(name) < 0]
            return norms[-1:], bool(norms), False
        return [], False, False

    def _all(self, *names):
        found = self._present(*names)
        return found, len(found) == len(names), False

    def _attention_values(self, attention):
        fused = self._present(f"{attention}.c_attn.out", f"{attention}.qkv_proj.out", f"{attention}.query_key_value.out")
        if fused:
            return fused, True, True
        taps = []
        for part in "qk":
            taps += self._present(f"{attention}.{part}_rope.out", f"{attention}.{part}_norm.out",
                                  f"{attention}.{part}_proj.out")[:1]
        taps += self._present(f"{attention}.v_proj.out")
        return taps, len(taps) == 3, True

    def _stream(self, layer):
        return self._flow.source.get(layer) or self._layers.get(layer_of(layer) - 1)

    def _branch(self, begin):
        """The tap at the end of a chain of norms that begins with `begin`: what is added to the stream."""
        for name in self._flow.order:
            module = name.rpartition(".")[0]
            if self._flow.source.get(module) == begin and describe(name).kind == "norm" and name.endswith(".out"):
                return name
        return begin

    def _attention_of(self, layer):
        return next((name for name in self._flow.order
                     if name.startswith(f"{layer}.") and describe(name).kind == "attention output"), None)

    def _mlp_of(self, layer):
        return next((name for name in self._flow.order
                     if name.rpartition(".")[0].rpartition(".")[0] == layer and describe(name).kind == "MLP output"), None)

    def _after_attention(self, layer):
        attention = self._attention_of(layer)
        taps = [name for name in (self._stream(layer), attention and self._branch(attention)) if name]
        return taps, len(taps) == 2, False

    def _residual(self, layer):
        mlp = self._mlp_of(layer)
        taps, _, _ = self._after_attention(layer)
        taps += [self._branch(mlp)] if mlp else []
        return taps, len(taps) == 3, False

    def _rotated(self, module):
        attention, _, last = module.rpartition(".")
        tables = [name for name in self._flow.order if describe(name).kind == "rotary table"][:2]
        own = self._present(f"{attention}.{last[0]}_norm.out", f"{attention}.{last[0]}_proj.out")[:1]
        return tables + own, len(tables) == 2 and bool(own), False

    def _router(self, module):
        source = self._flow.source.get(module) or self._flow.source.get(module.rpartition(".")[0])
        return ([source], True, False) if source else ([], False, False)

    def _experts(self, module):
        block = module.rpartition(".")[0]
        source = self._flow.source.get(module) or self._flow.source.get(block)
        taps = self._present(f"{block}.gate.out", f"{block}.router.out")
        slots = self._present(f"{module}.down.slots")
        if slots:
            return taps + slots, bool(taps), False
        return taps + ([source] if source else []), bool(taps and source), False

    def _slots(self, experts, part):
        block = experts.rpartition(".")[0]
        taps = self._present(f"{block}.gate.out", f"{block}.router.out")
        source = self._flow.source.get(experts) or self._flow.source.get(block)
        source = f"{experts}.gate_up.slots" if part == "down" else source
        return taps + ([source] if source else []), bool(taps and source), False

    def _mlp(self, module):
        parts = self._present(f"{module}.experts.out", f"{module}.shared_expert.out", f"{module}.shared_expert_gate.out",
                              f"{module}.shared_experts.out")
        if not parts:
            parts = self._present(f"{module}.down_proj.out", f"{module}.c_proj.out")
        return parts, bool(parts), False
