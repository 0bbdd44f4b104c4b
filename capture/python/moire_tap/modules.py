# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The modules of a torch model under the names of their taps."""

import sys

import torch

from .errors import MoireError
from .names import clean, matches, records_input
from .slots import fused_experts

_INNER = {"OptimizedModule": "_orig_mod", "DistributedDataParallel": "module", "DataParallel": "module",
          "FullyShardedDataParallel": "_fsdp_wrapped_module", "DeepSpeedEngine": "module",
          "CheckpointWrapper": "_checkpoint_wrapped_module"}
_EXPERTS = "experts"


def innermost(model):
    """The model inside the wrappers of DDP, FSDP, torch.compile and the like."""
    if not isinstance(model, torch.nn.Module):
        raise MoireError(f"a {type(model).__name__} is no torch module; give the model itself")
    while type(model).__name__ in _INNER:
        model = getattr(model, _INNER[type(model).__name__])
    if type(model).__name__.startswith("PeftModel"):
        return innermost(model.get_base_model())
    return model


def sites(root):
    """Modules by clean path, without the root, containers of layers, and the insides of experts.

    The output of what holds the layers is that of its last part. Inside experts only one expert's rows are seen.
    """
    found, holders = {}, {""}
    for path, module in root.named_modules():
        name = clean(path)
        if isinstance(module, (torch.nn.ModuleList, torch.nn.ModuleDict)):
            holders.add(name)
            if not any(part.isdigit() for part in name.split(".")):
                holders.update(name.rsplit(".", n)[0] for n in range(1, name.count(".") + 1))
        elif name and _EXPERTS not in name.split(".")[:-1]:
            found[name] = module  # a wrapper and what it wraps have one name: the inner one comes later
    return {name: module for name, module in found.items() if name not in holders}


def head_of(root):
    """(name, module) of the output embedding; its tap is lm_head.out whatever its name."""
    module = root.get_output_embeddings() if hasattr(root, "get_output_embeddings") else getattr(root, "lm_head", None)
    if module is None:
        return None, None
    for path, candidate in root.named_modules():
        if candidate is module:
            return clean(path), module
    return None, None


def is_rotary(name):
    return name.rpartition(".")[2] in ("rotary_emb", "rotary_embedding")


def is_attention(name, module):
    """Whether the module calls its file's own apply_rotary_pos_emb, so that q and k after rotation can be seen."""
    home = sys.modules.get(type(module).__module__)
    return name.rpartition(".")[2] in ("self_attn", "attn", "attention") and hasattr(home, "apply_rotary_pos_emb")


def offers(root):
    """Tap names that the model offers: {name: recorded without being asked for by a pattern ending in .in}."""
    head, _ = head_of(root)
    names = {}
    parts = sites(root)
    fused = fused_experts(root, parts)
    for name, module in parts.items():
        if name in fused:
            names[f"{name}.gate_up.slots"] = names[f"{name}.down.slots"] = True
        if is_rotary(name):
            names[f"{name}.cos"] = names[f"{name}.sin"] = True
            continue
        names[f"{name}.in"] = records_input(name)
        if is_attention(name, module):
            names[f"{name}.q_rope.out"] = names[f"{name}.k_rope.out"] = True
        names["lm_head.out" if name == head else f"{name}.out"] = True
    return names


def tap_names(model):
    return [name for name, usual in offers(innermost(model)).items() if usual]


def select(root, patterns):
    """The names that the patterns choose; "!…" takes some away. A pattern that matches nothing is an error."""
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    names, chosen = offers(root), set()
    for pattern in patterns:
        plain = pattern.removeprefix("!")
        found = {name for name, usual in names.items() if matches(plain, name) and (usual or plain.endswith(".in"))}
        if not found:
            raise MoireError(f"no tap of this model matches {plain!r}; see them with moire_tap.taps(model)")
        chosen = chosen - found if plain != pattern else chosen | found
    return chosen
