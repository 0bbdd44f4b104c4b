# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""What is fixed before the first row of a capture, and its checks."""

from dataclasses import dataclass, field

from .dtypes import dtype_of
from .errors import MoireError
from .names import describe
from .schema import TAP_KINDS, Tap

HEAD = "lm_head.out"  # the tap that holds full-vocabulary logits


@dataclass
class Sample:
    """One prompt with its response; all but the id may stay empty."""

    id: str
    text: str = ""
    category: str = ""
    label: str = ""
    choices: list = field(default_factory=list)
    replay_source: str = ""
    repeat: int = 0


@dataclass
class Header:
    """What is fixed before the first row."""

    taps: list
    routers: list
    level: str
    vocabulary: int
    logits_dtype: str
    top_k: int
    asked: int
    token_bytes: list
    environment: dict


def infer_taps(values):
    """Taps from arrays by name, in the order of the mapping."""
    taps = []
    for name, array in values.items():
        try:
            dtype = dtype_of(array.dtype).name
        except MoireError as error:
            raise MoireError(f"{name}: {error}; bits of bf16 as uint16 need taps=[Tap(…, dtype='bf16')]") from None
        taps.append(Tap(name, array.shape[-1], dtype, describe(name).kind))
    return taps


def check_header(header):
    """What the format cannot hold is refused here."""
    for names, what in (([tap.name for tap in header.taps], "tap"), ([r.module for r in header.routers], "router")):
        for name in names:
            if not name or name == "." or "/" in name or "\0" in name:
                raise MoireError(f"a {what} cannot be named {name!r}: names are not empty and hold no slash")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise MoireError(f"two {what}s are named {twice}; every {what} needs a name of its own")
    known = {tap.name for tap in header.taps}
    for tap in header.taps:
        tap.dtype = dtype_of(tap.dtype).name
        if tap.width < 1:
            raise MoireError(f"the tap {tap.name} has width {tap.width}; a row holds at least one element")
        if tap.kind not in TAP_KINDS:
            raise MoireError(f"the tap {tap.name} is of kind {tap.kind!r}; kinds are {', '.join(TAP_KINDS)}")
        wrong = [i for i in tap.inputs if i not in known and not (isinstance(i, int) and 0 <= i < len(header.taps))]
        if wrong:
            raise MoireError(f"the tap {tap.name} names the input {wrong[0]!r}, which is no tap of this capture")
    for router in header.routers:
        router.logit_dtype, router.weight_dtype = dtype_of(router.logit_dtype).name, dtype_of(router.weight_dtype).name
        if not 1 <= router.chosen <= router.experts:
            raise MoireError(f"the router {router.module} chooses {router.chosen} of {router.experts} experts")
