# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The weight digest of FORMAT.md, over a model's parameters under the names that they have on the hub."""

import re

import numpy as np
import torch

from .digests import MASK, digest_bytes, digest_words
from .digests import digest as digest_elements
from .dtypes import bits_of, dtype_of
from .names import clean
from .tensors import digests_on_device

_FUSED = re.compile(r"(.*)\.mlp\.experts\.(gate_up_proj|down_proj)$")
# How families name one expert's three matrices, and their router, where it is not as in memory.
_MIXTRAL = ("block_sparse_moe.experts.{}.w1", "block_sparse_moe.experts.{}.w3", "block_sparse_moe.experts.{}.w2")
_USUAL = ("mlp.experts.{}.gate_proj", "mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj")
# Families whose fused experts have been checked against their files.
_KNOWN = {"mixtral": _MIXTRAL, "olmoe": _USUAL, "qwen2_moe": _USUAL, "qwen3_moe": _USUAL}


def hub_tensors(root):
    """(name, tensor) as in the files on the hub, or None for a layout that is not known."""
    family = getattr(getattr(root, "config", None), "model_type", "")
    tied = {clean(name) for name in (getattr(root, "_tied_weights_keys", None) or ())}
    head_is_tied = bool(getattr(getattr(root, "config", None), "tie_word_embeddings", False))
    found = []
    for path, tensor in root.state_dict().items():
        name = clean(path)
        if head_is_tied and name in tied:
            continue
        if type(tensor).__name__ == "DTensor":
            return None  # a rank's part
        fused = _FUSED.match(name)
        if fused is None:
            if family == "mixtral":
                name = name.replace(".mlp.gate.", ".block_sparse_moe.gate.")
            found.append((name, tensor))
            continue
        names = _KNOWN.get(family)
        if names is None:
            return None
        found += _split_experts(fused.group(1), names, fused.group(2), tensor)
    return found


def _split_experts(layer, names, which, tensor):
    for expert, weights in enumerate(tensor):
        if which == "down_proj":
            yield f"{layer}.{names[2].format(expert)}.weight", weights
        else:
            gate, up = weights.chunk(2, dim=0)
            yield f"{layer}.{names[0].format(expert)}.weight", gate
            yield f"{layer}.{names[1].format(expert)}.weight", up


def _elements_digest(tensor):
    """D over all elements in row-major order."""
    flat = tensor.detach().contiguous().reshape(1, -1)
    if flat.device.type == "cpu":
        return digest_elements(bits_of(flat)[0].reshape(-1))
    piece, total = 1 << 24, 0
    for begin in range(0, flat.shape[1], piece):
        part = digests_on_device(flat[:, begin : begin + piece], dtype_of(flat.dtype).size, begin)
        total += int(part.cpu().numpy().view(np.uint64)[0])
    return total & MASK


def _tensor_digest(name, tensor):
    return digest_words([digest_bytes(name.encode()), dtype_of(tensor.dtype).number, tensor.ndim, *tensor.shape,
                         _elements_digest(tensor)])


class WeightFacts:
    """`digest` of the weights as they are, `values`: as if all of bf16 and fp16 were fp32, and the names of their dtypes."""

    def __init__(self):
        self.digest = 0
        self.values = 0
        self.dtypes = set()

    def add(self, name, tensor):
        digest = _tensor_digest(name, tensor)
        self.dtypes.add(dtype_of(tensor.dtype).name)
        self.digest = self.digest + digest & MASK
        if tensor.dtype in (torch.bfloat16, torch.float16):
            digest = _tensor_digest(name, tensor.float())
        self.values = self.values + digest & MASK


def weight_facts(root):
    """What is said of the weights, or None where they cannot be named as on the hub or are not all here."""
    with torch.no_grad():
        tensors = hub_tensors(root)
        if tensors is None or any(type(module).__name__ == "FullyShardedDataParallel" for module in root.modules()):
            return None
        facts = WeightFacts()
        for name, tensor in tensors:
            facts.add(name, tensor)
    return facts


def weight_digest(root):
    """The digest alone, or None likewise."""
    facts = weight_facts(root)
    return None if facts is None else facts.digest
