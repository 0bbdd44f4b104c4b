// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/free_run.h"

#include <string>

namespace moire::diff {

namespace {

bool hasRowOf(const trace::Run& run, trace::Phase phase)
{
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r)
        if (run.row(r).phase == phase)
            return true;
    return false;
}

} // namespace

bool choseOwnTokens(const trace::Run& run)
{
    const std::string replay = run.header().environment.text(trace::env::replay);
    return replay.empty()
               ? !hasRowOf(run, trace::Phase::Forced) && !hasRowOf(run, trace::Phase::Prefix)
               : replay == "free";
}

bool scoredGivenTokens(const trace::Run& run)
{
    const std::string replay = run.header().environment.text(trace::env::replay);
    return replay.empty() ? hasRowOf(run, trace::Phase::Forced) : replay == "forced";
}

} // namespace moire::diff
