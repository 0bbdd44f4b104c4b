# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The one kind of error this package raises on purpose."""


class MoireError(Exception):
    """Something cannot be recorded; the text is one sentence that says what, and what to do."""
