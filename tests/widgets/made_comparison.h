// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/comparison.h"
#include "tests/widgets/made_runs.h"
#include "widgets/models/compared.h"

namespace moire::test {

/// Two made runs, compared and indexed; null when they could not be compared.
inline widgets::ComparedPointer madeComparison(const MadeModel& model)
{
    const MadePair pair = madePair(model);
    base::Progress progress;
    auto report = diff::compare(pair.reference, pair.target, {}, {}, 1, {}, progress);
    if (!report)
        return nullptr;
    return widgets::indexReport(pair.reference, pair.target, std::move(*report));
}

} // namespace moire::test
