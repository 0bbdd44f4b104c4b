// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/same_run.h"

#include <algorithm>

namespace moire::diff {

namespace {

bool sameTokens(const trace::Run& a, const trace::Run& b)
{
    if (!std::ranges::equal(a.samples(), b.samples()))
        return false;
    for (std::size_t i = 0; i < a.samples().size(); ++i) {
        const auto sample = static_cast<trace::SampleIndex>(i);
        if (!std::ranges::equal(a.tokens(sample), b.tokens(sample)))
            return false;
    }
    return true;
}

} // namespace

bool holdSameRun(const trace::Run& a, const trace::Run& b)
{
    const trace::Environment& environment = a.header().environment;
    const bool timed = environment.find(trace::env::startTime) != nullptr
                       && environment.find(trace::env::wallSeconds) != nullptr;
    if (!timed || environment != b.header().environment || a.header().taps != b.header().taps
        || a.rowCount() != b.rowCount() || !sameTokens(a, b))
        return false;
    for (trace::RowIndex r = 0; r < a.rowCount(); ++r)
        if (!std::ranges::equal(a.digests(r), b.digests(r)))
            return false;
    return true;
}

} // namespace moire::diff
