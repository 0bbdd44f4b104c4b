// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/run_messages.h"
#include "tests/core/wire/made_up_run.h"

#include <memory>
#include <vector>

namespace moire::madeup {

/// The messages of a run "r1": begin, one sample of two prompt tokens, then `rows` messages of
/// `each` rows with a token after each, sample-end, finish.
inline std::vector<wire::Packed> messages(std::uint32_t rows, std::uint32_t each = 1)
{
    using namespace wire;
    std::vector<Packed> made;
    const auto place = [&] { return MessagePlace{"r1", made.size()}; };
    const trace::RunHeader head = header();
    made.push_back(packBegin(place(), head, {rows * each, true}));
    made.push_back(packSample(place(), trace::SampleIndex{0}, sample(0), tokens(2, 0, false)));
    for (std::uint32_t i = 0; i < rows; ++i) {
        const auto rowBlock = std::make_shared<const trace::RowBlock>(
            block(head, trace::SampleIndex{0}, i * each, each));
        made.push_back(
            packRows(place(), head, rowBlock, 0, each, std::uint64_t{i} * each, {true, {}}));
        made.push_back(packTokens(place(), trace::SampleIndex{0}, 2 + i, tokens(1, 2 + i, true)));
    }
    made.push_back(packSampleEnd(place(), trace::SampleIndex{0}, "length", "B"));
    trace::Environment closing;
    closing.set(trace::env::endTime, std::string("2026-01-01T00:00:00Z"));
    made.push_back(packFinish(place(), closing));
    return made;
}

} // namespace moire::madeup
