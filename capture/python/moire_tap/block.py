# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Some rows on their way into a capture: values go to the file at once, tables when the rows are whole."""

import numpy as np

from .digests import digest_rows
from .dtypes import DTYPES, bits_of
from .errors import MoireError
from .schema import (ASKED_IDS, ASKED_VALUES, COUNTS, DIGESTS, FIRST_ROUTER, LOG_SUM_EXP, RECORD_TYPES, REMAINING, ROWS,
                     STATISTICS, TABLES_PER_ROUTER, TOP_IDS, TOP_VALUES)
from .summaries import COUNTS as COUNT_TYPE
from .summaries import STATISTICS as STATISTICS_TYPE


class Block:
    """`count` rows. put() every tap, every router and the logits, fill `records`, then finish()."""

    def __init__(self, writer, count):
        self.count = count
        self.first = writer.reserve(count)
        self.records = np.zeros(count, RECORD_TYPES["/rows"])
        self.records["score_id"] = self.records["score_rank"] = -1
        self.awaiting = []  # rows whose following token is not known yet
        self._writer = writer
        taps = len(writer.header.taps)
        self._digests = np.zeros((count, taps), np.uint64)
        self._counts = np.zeros((count, taps), COUNT_TYPE)
        self._statistics = np.zeros((count, taps), STATISTICS_TYPE)
        self._tables = {}  # side tables by number, rows x elements
        self._missing = set(range(taps))

    def _check(self, name, shape, wanted):
        if tuple(shape) != wanted:
            raise MoireError(f"{name} has the shape {' x '.join(map(str, shape))} where"
                             f" {' x '.join(map(str, wanted))} (rows x width) is recorded")

    def put(self, tap, bits, summary):
        """Values of one tap (rows x width bits; None below level full) and their summary."""
        spec = self._writer.header.taps[tap]
        if bits is not None:
            self._check(spec.name, bits.shape, (self.count, spec.width))
            if self._writer.header.level == "full" and self.count:
                place = self._writer.place_of(len(self._writer.tables) - len(self._writer.header.taps) + tap)
                self._writer.write(place, self.first, np.ascontiguousarray(bits))
        self._digests[:, tap] = summary.digests
        self._counts[:, tap] = summary.counts
        self._statistics[:, tap] = summary.statistics
        self._missing.discard(tap)

    def put_routing(self, router, ids, weights, logits, scores=None):
        """Expert ids in slot order (padding -1), their weights, the router's logits; rows first."""
        spec = self._writer.header.routers[router]
        number = FIRST_ROUTER + TABLES_PER_ROUTER * router
        ids = np.ascontiguousarray(ids.detach().cpu() if hasattr(ids, "detach") else ids, dtype=np.int32)
        self._check(f"the expert ids of {spec.module}", ids.shape, (self.count, spec.chosen))
        self._tables[number] = np.where((ids < 0) | (ids >= spec.experts), np.int32(-1), ids).view("<u4")
        for place, values, dtype, width in ((1, weights, spec.weight_dtype, spec.chosen),
                                            (2, logits, spec.logit_dtype, spec.experts)):
            bits, _ = bits_of(values, DTYPES[dtype])
            self._check(f"what is recorded of {spec.module}", bits.shape, (self.count, width))
            self._tables[number + place] = bits
        if spec.has_scores:
            self._tables[number + 3] = bits_of(np.asarray(scores, np.float32))[0]

    def put_logits(self, judged):
        """LogitsRows of the writer."""
        header, table = self._writer.header, judged.table
        self._check("the logits", (len(table.ids), judged.vocabulary), (self.count, header.vocabulary))
        self.awaiting = judged.awaiting
        self._tables.update({TOP_IDS: table.ids.view("<u4"), TOP_VALUES: table.values.view("<u4"),
                             LOG_SUM_EXP: table.log_sum_exp.view("<u8"), REMAINING: table.remaining_mass.view("<u8"),
                             ASKED_IDS: judged.asked_ids.view("<u4"), ASKED_VALUES: judged.asked_values.view("<u4")})

    def finish(self):
        """Writes the tables; from now on the rows exist for the writer."""
        if self._missing:
            raise MoireError(f"the rows have no values of {self._writer.header.taps[min(self._missing)].name};"
                             " every row holds every tap")
        self._tables[DIGESTS] = self._digests
        self._tables[COUNTS] = self._counts.view("<u4").reshape(self.count, -1)
        self._tables[STATISTICS] = self._statistics.view("<u4").reshape(self.count, -1)
        sides = []
        for place, table in enumerate(self._writer.tables):
            if table.number == ROWS or table.path.startswith("/values/"):
                continue
            lines = np.ascontiguousarray(self._tables[table.number]).reshape(self.count, -1)
            if self.count:
                self._writer.write(self._writer.place_of(place), self.first, lines)
            if table.side:
                sides.append(digest_rows(lines))
        self.records["roll_up"] = digest_rows(self._digests)
        self.records["side"] = digest_rows(np.stack(sides, axis=1)) if sides else 0
        self._writer.take(self)
