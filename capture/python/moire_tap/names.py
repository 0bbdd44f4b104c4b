# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of taps: what a module path says of layer and kind, patterns, and the wrappers that paths go through."""

import functools
import re
from dataclasses import dataclass

# Modules that FSDP, DDP, torch.compile and activation checkpointing put between a model and its parts.
_WRAPPERS = {"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|block|layer)\.(\d+)(?:\.|$)")


def clean(path):
    """A module's path without wrappers."""
    return ".".join(part for part in path.split(".") if part not in _WRAPPERS)


def layer_of(name):
    """The decoder layer that a name lies in, -1 outside."""
    found = _LAYER.search(name)
    return int(found.group(1)) if found else -1


@functools.lru_cache(maxsize=None)
def _pattern(text):
    return re.compile("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in text), re.S)


def matches(pattern, name):
    """'*' stands for any characters, dots too; '?' for one."""
    return _pattern(pattern).fullmatch(name) is not None


@dataclass(frozen=True)
class Description:
    kind: str
    tp_sensitive: bool = False


_ROW_PARALLEL = ("o_proj", "down_proj", "out_proj", "c_proj", "wo", "w2", "fc2", "dense_4h_to_h")
_BY_LAST = {
    "self_attn": "attention output", "attn": "attention output", "attention": "attention output",
    "self_attention": "attention output", "mlp": "MLP output", "block_sparse_moe": "MLP output",
    "feed_forward": "MLP output", "experts": "experts", "gate": "router", "router": "router", "lm_head": "head",
    "embed_out": "head", "q_rope": "rotated", "k_rope": "rotated", "wte": "embedding", "wpe": "embedding",
    "act_fn": "activation", "act": "activation",
}
_BY_PART = (("norm", "norm"), ("embed", "embedding"), ("ln_", "norm"), ("proj", "projection"), ("fc", "projection"),
            ("c_attn", "projection"), ("query_key_value", "projection"), ("dense", "projection"))


@functools.lru_cache(maxsize=None)
def describe(name):
    """Kind of the tap of this name, by the words in use on the hub."""
    module, _, side = name.rpartition(".")
    last = module.rpartition(".")[2]
    if side in ("cos", "sin"):
        return Description("rotary table")
    if side == "slots":
        return Description("expert slots", last == "down")
    if side == "in":
        return Description("projection input")
    if last.isdigit() and layer_of(module) >= 0:
        return Description("residual")
    kind = _BY_LAST.get(last) or next((kind for part, kind in _BY_PART if part in last), "other")
    return Description(kind, last in _ROW_PARALLEL)


def records_input(module):
    """Whether `module`.in is recorded without being asked for: inputs of row-parallel products, as our engine does."""
    return module.rpartition(".")[2] in _ROW_PARALLEL
