# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""FORMAT.md as data: the records of every table, the tables of a run."""

from dataclasses import dataclass, field

import numpy as np

from .dtypes import DTYPES, DType

MAGIC = b"\x89MOIRE\r\n"
VERSION = 1
USER_BLOCK = 512
ALIGNMENT = 64
NO_SAMPLE = 0xFFFFFFFF
INDEX_LINK = 0xFFFFFFFF
FIRST_ROUTER = 32
TABLES_PER_ROUTER = 4

LEVELS = {"digest": 0, "topk": 1, "full": 2}
PHASES = {"prefill": 0, "decode": 1, "forced": 2, "prefix": 3}
CONSTRUCTIONS = {"once": 0, "steps": 1}
FIELD_KINDS = {"text": 0, "integer": 1, "real": 2, "boolean": 3}
TAP_KINDS = {
    "other": 0, "embedding": 1, "norm": 2, "projection": 3, "projection input": 4, "rotated": 5,
    "attention output": 6, "MLP output": 7, "residual": 8, "router": 9, "experts": 10, "expert slots": 11,
    "head": 12, "activation": 13, "rotary table": 14,
}
DTYPE_NUMBERS = {dtype.name: dtype.number for dtype in DTYPES.values()}


@dataclass(frozen=True)
class Enum:
    """An unsigned byte (or signed, for booleans) whose values have names."""

    members: dict
    base: str = "<u1"


LEVEL, PHASE, CONSTRUCTION = Enum(LEVELS), Enum(PHASES), Enum(CONSTRUCTIONS)
KIND, DTYPE, FIELD_KIND = Enum(TAP_KINDS), Enum(DTYPE_NUMBERS), Enum(FIELD_KINDS)
BOOL = Enum({"FALSE": 0, "TRUE": 1}, "<i1")
REF = [("offset", "<u8", 0), ("length", "<u8", 8)]

# Fields of a record: (name, NumPy type | Enum | REF, byte).
RECORDS = {
    "/run": (24, [("level", LEVEL, 0), ("logits_dtype", DTYPE, 1), ("vocabulary", "<u4", 4), ("top_k", "<u4", 8),
                  ("asked", "<u4", 12), ("rows_per_chunk", "<u8", 16)]),
    "/taps": (56, [("name", REF, 0), ("layer", "<i4", 16), ("kind", KIND, 20), ("dtype", DTYPE, 21),
                   ("inputs_complete", BOOL, 22), ("reads_earlier_rows", BOOL, 23), ("width", "<u4", 24),
                   ("slots", "<u4", 28), ("inputs_begin", "<u8", 32), ("inputs_count", "<u4", 40), ("rank", "<i4", 44),
                   ("partial", BOOL, 48), ("tp_sensitive", BOOL, 49)]),
    "/routers": (32, [("module", REF, 0), ("layer", "<i4", 16), ("experts", "<u4", 20), ("chosen", "<u4", 24),
                      ("logit_dtype", DTYPE, 28), ("weight_dtype", DTYPE, 29), ("has_scores", BOOL, 30)]),
    "/environment": (56, [("key", REF, 0), ("kind", FIELD_KIND, 16), ("text", REF, 24), ("integer", "<i8", 40),
                          ("real", "<f8", 48)]),
    "/samples": (96, [("id", REF, 0), ("category", REF, 16), ("text", REF, 32), ("label", REF, 48),
                      ("replay_source", REF, 64), ("choices_begin", "<u8", 80), ("choices_count", "<u4", 88),
                      ("repeat", "<u4", 92)]),
    "/choices": (16, REF),
    "/tokens": (32, [("sample", "<u4", 0), ("id", "<i4", 4), ("text_offset", "<i8", 8), ("bytes_offset", "<u8", 16),
                     ("bytes_length", "<u4", 24), ("response", BOOL, 28)]),
    "/events": (40, [("row", "<u8", 0), ("kind", REF, 8), ("text", REF, 24)]),
    "/endings": (40, [("sample", "<u4", 0), ("stop_reason", REF, 8), ("prediction", REF, 24)]),
    "/rows": (56, [("sample", "<u4", 0), ("position", "<u4", 4), ("step", "<u4", 8), ("batch_slot", "<u4", 12),
                   ("score_id", "<i4", 16), ("score_rank", "<i4", 20), ("score_logit", "<f4", 24), ("phase", PHASE, 28),
                   ("construction", CONSTRUCTION, 29), ("score_log_prob", "<f8", 32), ("roll_up", "<u8", 40),
                   ("side", "<u8", 48)]),
    "/index": (16, [("table", "<u4", 0), ("records", "<u4", 4), ("address", "<u8", 8)]),
    "/counts": (12, [("finite", "<u4", 0), ("nan", "<u4", 4), ("infinite", "<u4", 8)]),
    "/statistics": (16, [("min", "<f4", 0), ("max", "<f4", 4), ("mean", "<f4", 8), ("l2", "<f4", 12)]),
}

# Tables 0 … 11 and 13; those of one element have it here.
RUN_TABLES = ["/text", "/run", "/taps", "/tap_inputs", "/routers", "/environment", "/samples", "/choices", "/tokens",
              "/events", "/endings", "/rows", "/commit", "/index"]
TEXT, RUN, TAPS, TAP_INPUTS, ROUTERS, ENVIRONMENT, SAMPLES, CHOICES, TOKENS, EVENTS, ENDINGS, ROWS, COMMITS, INDEX = range(14)
DIGESTS, COUNTS, STATISTICS, TOP_IDS, TOP_VALUES, LOG_SUM_EXP, REMAINING, ASKED_IDS, ASKED_VALUES = range(16, 25)
COMMIT_FIELDS = (["sequence", "state", "expected_rows", "expected_exact", "file_bytes"]
                 + [f"{path[1:]}_{what}" for path in RUN_TABLES[: ROWS + 1] for what in ("count", "digest")]
                 + ["index_count", "index_digest", "digest"])
RECORDS["/commit"] = (256, [(name, "<u8", 8 * i) for i, name in enumerate(COMMIT_FIELDS)])


def numpy_type(size, fields):
    """The NumPy type of a record; a ref becomes two fields, NAME_offset and NAME_length."""
    names, formats, offsets = [], [], []
    for name, kind, offset in fields:
        if kind is REF:
            parts = [(f"{name}_{part}", form, offset + at) for part, form, at in REF]
        else:
            parts = [(name, kind.base if isinstance(kind, Enum) else kind, offset)]
        for part in parts:
            names.append(part[0])
            formats.append(part[1])
            offsets.append(part[2])
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


RECORD_TYPES = {path: numpy_type(*record) for path, record in RECORDS.items()}


@dataclass
class Table:
    """One dataset: its number, path and elements (an element type, or the path of a record)."""

    number: int
    path: str
    element: object
    width: int = 1
    matrix: bool = False
    side: bool = False

    @property
    def element_bytes(self):
        return self.element.size if isinstance(self.element, DType) else RECORDS[self.element][0]

    @property
    def record_bytes(self):
        return self.width * self.element_bytes

    @property
    def digest_bytes(self):
        """Element size of table and side digests."""
        if isinstance(self.element, DType):
            return self.element.size
        return 4 if self.element in ("/counts", "/statistics") else 8


U32 = DType(0, "", 4)
U64 = DType(0, "", 8)


def run_tables():
    """Tables 0 … 13, in order."""
    plain = {"/text": DTYPES["uint8"], "/tap_inputs": U32}
    return [Table(number, path, plain.get(path, path)) for number, path in enumerate(RUN_TABLES)]


@dataclass
class Tap:
    """A named place whose values are recorded, `width` elements a row; its place in the list is its order.

    `inputs` are names (or places) of taps that it is computed from at the same row. `layer` None: taken
    from the name ("….layers.3.…").
    """

    name: str
    width: int
    dtype: str = "fp32"
    kind: str = "other"
    layer: int | None = None
    inputs: list = field(default_factory=list)
    inputs_complete: bool = False
    reads_earlier_rows: bool = False
    tp_sensitive: bool = False
    slots: int = 0
    rank: int = -1
    partial: bool = False


@dataclass
class Router:
    """The router of one MoE layer: E experts, k of them chosen a row."""

    module: str
    experts: int
    chosen: int
    layer: int | None = None
    logit_dtype: str = "fp32"
    weight_dtype: str = "fp32"
    has_scores: bool = False


def row_tables(header):
    """The row tables of a run, in table order; tables of no width are left out."""
    i32, f32, f64 = DTYPES["int32"], DTYPES["fp32"], DTYPES["fp64"]
    count = len(header.taps)
    tables = [Table(ROWS, "/rows", "/rows"), Table(DIGESTS, "/digests", U64, count, True),
              Table(COUNTS, "/counts", "/counts", count, True, True)]
    if header.level != "digest":
        tables.append(Table(STATISTICS, "/statistics", "/statistics", count, True, True))
    if header.vocabulary:
        tables += [Table(TOP_IDS, "/top_k/ids", i32, header.top_k, True, True),
                   Table(TOP_VALUES, "/top_k/values", f32, header.top_k, True, True),
                   Table(LOG_SUM_EXP, "/top_k/log_sum_exp", f64, 1, False, True),
                   Table(REMAINING, "/top_k/remaining_mass", f64, 1, False, True),
                   Table(ASKED_IDS, "/top_k/asked_ids", i32, header.asked, True, True),
                   Table(ASKED_VALUES, "/top_k/asked_values", f32, header.asked, True, True)]
    for j, router in enumerate(header.routers):
        number, folder = FIRST_ROUTER + TABLES_PER_ROUTER * j, f"/routing/{router.module}"
        tables += [Table(number, f"{folder}/ids", i32, router.chosen, True, True),
                   Table(number + 1, f"{folder}/weights", DTYPES[router.weight_dtype], router.chosen, True, True),
                   Table(number + 2, f"{folder}/logits", DTYPES[router.logit_dtype], router.experts, True, True),
                   Table(number + 3, f"{folder}/scores", f32, router.experts if router.has_scores else 0, True, True)]
    if header.level == "full":
        first = FIRST_ROUTER + TABLES_PER_ROUTER * len(header.routers)
        tables += [Table(first + t, f"/values/{tap.name}", DTYPES[tap.dtype], tap.width, True)
                   for t, tap in enumerate(header.taps)]
    return [table for table in tables if table.width]
