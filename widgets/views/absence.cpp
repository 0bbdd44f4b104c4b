// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/views/absence.h"

namespace moire::widgets {

std::optional<Absence> absenceOfRow(const Cursor& cursor)
{
    const SampleEntry* sample = cursor.sample();
    if (sample == nullptr || cursor.rowPair())
        return std::nullopt;
    if (sample->emptyCell(cursor.place().column) != cell::notComparable)
        return Absence{QStringLiteral("Not recorded"),
                       QStringLiteral("No pass of the model was recorded at this position."),
                       QStringLiteral("Choose a position whose column is not hatched.")};
    return Absence{
        QStringLiteral("Not comparable"),
        QStringLiteral("The texts part at token %1; behind it the two runs see different tokens.")
            .arg(sample->split.value_or(0)),
        QStringLiteral("To compare further, score the target on the reference's tokens "
                       "(moire-capture run --replay-from).")};
}

} // namespace moire::widgets
