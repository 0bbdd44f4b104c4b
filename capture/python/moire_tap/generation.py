# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""generate() of transformers: which passes belong to it, and the last token, which never goes through the model."""

import functools

import torch

from .errors import MoireError
from .samples import Generation


def watch_generate(root, samples):
    """Wraps root.generate; returns the function that undoes it."""
    if not callable(getattr(root, "generate", None)):
        return lambda: None
    original = root.generate

    @functools.wraps(original)
    def generate(*args, **kwargs):
        settings = kwargs.get("generation_config") or getattr(root, "generation_config", None)
        _refuse(kwargs, settings)
        prompt = args[0] if args else kwargs.get("inputs", kwargs.get("input_ids"))
        if prompt is None:
            prompt = kwargs.get("inputs_embeds")
        columns = prompt.shape[1] if isinstance(prompt, torch.Tensor) else 1
        samples.generation = Generation(columns, _ends(kwargs, settings), _sampling(kwargs, settings))
        try:
            result = original(*args, **kwargs)
        except BaseException:
            samples.generation = None
            raise
        sequences = getattr(result, "sequences", result)
        samples.finish_generation(sequences.tolist() if isinstance(sequences, torch.Tensor) else None)
        return result

    root.generate = generate
    return lambda: root.__dict__.pop("generate", None)


def _value(name, kwargs, settings):
    return kwargs[name] if name in kwargs else getattr(settings, name, None)


def _sampling(kwargs, settings):
    """As run.sampling says it."""
    if not _value("do_sample", kwargs, settings):
        return "greedy"
    parts = [f"{name} {_value(name, kwargs, settings)}" for name in ("temperature", "top_k", "top_p", "min_p")
             if _value(name, kwargs, settings) is not None]
    return ", ".join(["sampled", *parts])


def _ends(kwargs, settings):
    ends = _value("eos_token_id", kwargs, settings)
    if isinstance(ends, torch.Tensor):
        ends = ends.flatten().tolist()
    return frozenset(ends if isinstance(ends, (list, tuple)) else [] if ends is None else [ends])


def _refuse(kwargs, settings):
    if (_value("num_beams", kwargs, settings) or 1) > 1:
        raise MoireError("beam search moves samples between slots and cannot be recorded; generate with num_beams=1")
    if kwargs.get("assistant_model") is not None or _value("prompt_lookup_num_tokens", kwargs, settings):
        raise MoireError("assisted generation takes tokens back and cannot be recorded; generate without an assistant")
