# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""q and k after rotation: transformers computes them in a function of the model's file, which no module hook sees."""

import functools
import inspect
import sys


class RotationWatch:
    """While installed, `seen(q, k)` is called with what apply_rotary_pos_emb returned, as batch x length x heads x dim."""

    def __init__(self, modules, seen):
        self._homes = {sys.modules[type(module).__module__] for module in modules}
        self._seen = seen
        self._originals = {}

    def install(self):
        for home in self._homes:
            self._originals[home] = home.apply_rotary_pos_emb
            home.apply_rotary_pos_emb = self._wrapped(home.apply_rotary_pos_emb)

    def remove(self):
        for home, original in self._originals.items():
            home.apply_rotary_pos_emb = original
        self._originals = {}

    def _wrapped(self, original):
        seen, signature = self._seen, inspect.signature(original)
        if list(signature.parameters)[:2] != ["q", "k"]:
            return original

        @functools.wraps(original)
        def apply_rotary_pos_emb(*args, **kwargs):
            result = original(*args, **kwargs)
            heads_first = signature.bind(*args, **kwargs).arguments.get("unsqueeze_dim", 1) == 1
            if isinstance(result, tuple) and len(result) == 2 and all(getattr(t, "ndim", 0) == 4 for t in result):
                seen(*(t.transpose(1, 2) if heads_first else t for t in result))
            return result

        return apply_rotary_pos_emb
