// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/cursor.h"

#include <QString>

#include <optional>

namespace moire::widgets {

/// What a panel says where it has nothing to show.
struct Absence
{
    QString title, sentence, hint;
};

/// Why there is no row at the cursor: behind a split, or no pass recorded. Nothing where there is
/// one.
std::optional<Absence> absenceOfRow(const Cursor& cursor);

} // namespace moire::widgets
