# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What a model was called with: ids, which of them are padding, positions, the cache."""

import inspect
from dataclasses import dataclass

import numpy as np
import torch

from .errors import MoireError


@dataclass
class Call:
    """One forward pass over batch x length tokens."""

    ids: np.ndarray  # batch x length, -1 where only embeddings were given
    real: np.ndarray  # batch x length, False for padding
    starts: np.ndarray  # batch x length, True where a packed sequence begins
    responses: np.ndarray | None  # batch x length, from labels
    cache: object
    past: int  # columns that the cache holds already
    keep: object  # logits_to_keep: 0, how many last positions, or a tensor of them
    arguments: dict

    @property
    def batch(self):
        return self.ids.shape[0]

    @property
    def length(self):
        return self.ids.shape[1]


def _array(tensor):
    return tensor.detach().cpu().numpy()


def past_length(cache):
    """Columns in a key-value cache of any make."""
    if cache is None:
        return 0
    try:
        return int(cache.get_seq_length() if hasattr(cache, "get_seq_length") else cache[0][0].shape[-2])
    except (TypeError, IndexError, AttributeError, KeyError, ValueError):
        return 0  # without a length: a recurrent state, an empty tuple


def cache_of(arguments):
    """The key-value cache among arguments or outputs (transformers called it past_key_values before)."""
    for name in ("cache", "past_key_values"):
        if arguments.get(name) is not None:
            return arguments[name]
    return None


def read_call(module, args, kwargs):
    try:
        arguments = dict(inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments)
    except TypeError:
        arguments = dict(kwargs)
    for value in list(arguments.values()):
        if isinstance(value, dict):
            arguments = {**value, **arguments}  # the model's own **kwargs
    ids, real = _tokens(arguments)
    past = past_length(cache_of(arguments))
    mask = arguments.get("attention_mask")
    if isinstance(mask, torch.Tensor) and mask.ndim == 2 and mask.shape[1] >= ids.shape[1]:
        real &= _array(mask)[:, mask.shape[1] - ids.shape[1] :] != 0
    return Call(ids, real, _starts(arguments, real), _responses(arguments, real), cache_of(arguments), past,
                arguments.get("logits_to_keep", arguments.get("num_logits_to_keep", 0)), arguments)


def _tokens(arguments):
    ids = arguments.get("input_ids")
    if not isinstance(ids, torch.Tensor):
        ids = next((v for v in arguments.values() if isinstance(v, torch.Tensor) and v.dtype == torch.int64 and v.ndim == 2),
                   None)
    embeds = arguments.get("inputs_embeds")
    if ids is not None:
        ids = _array(torch.atleast_2d(ids))
    elif embeds is not None:
        ids = np.full(tuple(embeds.shape[:2]), -1, np.int64)
    else:
        raise MoireError("the model was called with neither input_ids nor inputs_embeds, so its rows belong to no token")
    return ids, np.ones(ids.shape, bool)


def _starts(arguments, real):
    """Where packed sequences begin: position ids that do not go on, or cumulative lengths of flash attention."""
    starts = np.zeros(real.shape, bool)
    positions = arguments.get("position_ids")
    if isinstance(positions, torch.Tensor):
        positions = _array(positions[0] if positions.ndim == 3 else positions)
        positions = np.broadcast_to(positions, (real.shape[0], positions.shape[-1]))
        if positions.shape == real.shape:
            for b in range(real.shape[0]):
                places = np.flatnonzero(real[b])
                starts[b, places[1:]] = np.diff(positions[b, places]) != 1
    lengths = arguments.get("cu_seq_lens_q")
    if isinstance(lengths, torch.Tensor) and real.shape[0] == 1:
        bounds = _array(lengths)
        starts[0, bounds[bounds < real.shape[1]]] = True
    return starts


def _responses(arguments, real):
    """Tokens that labels ask for, where labels leave out some."""
    labels = arguments.get("labels")
    if not isinstance(labels, torch.Tensor) or tuple(labels.shape) != real.shape:
        return None
    asked = _array(labels) != -100
    return asked if (~asked & real).any() else None


def computed_columns(call, count):
    """Columns of which logits were computed when the head saw `count` of them a sample."""
    if isinstance(call.keep, torch.Tensor) and call.keep.ndim == 1 and call.keep.numel() == count:
        return _array(call.keep).astype(np.int64) % call.length
    return np.arange(call.length - count, call.length)
