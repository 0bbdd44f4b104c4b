// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/trace/row_block.h"

#include "core/numeric/digest.h"
#include "core/numeric/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace moire::trace {

using numeric::bitsAt;
using numeric::DType;
using numeric::toDouble;

namespace {

/// Calls body(valueAt) with valueAt(i) → double, exactly, for the dtype once and not once an
/// element: rows of logits are long.
template <class Body>
decltype(auto) withValues(const std::byte* data, DType dtype, Body&& body)
{
    switch (dtype) {
    case DType::FP32:
        return body([data](std::size_t i) {
            float value;
            std::memcpy(&value, data + i * sizeof value, sizeof value);
            return static_cast<double>(value);
        });
    case DType::BF16:
        return body([data](std::size_t i) {
            std::uint16_t bits;
            std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
            return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16U));
        });
    default:
        return body(
            [data, dtype](std::size_t i) { return toDouble(bitsAt(data, dtype, i), dtype); });
    }
}

} // namespace

RowSummary summarise(const std::byte* data, DType dtype, std::size_t width)
{
    RowSummary summary{numeric::rowDigest(data, dtype, width), {}, {}};
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double sum = 0;
    double squares = 0;
    withValues(data, dtype, [&](auto valueAt) {
        for (std::size_t i = 0; i < width; ++i) {
            const double value = valueAt(i);
            if (std::isnan(value)) {
                ++summary.counts.nan;
            } else if (std::isinf(value)) {
                ++summary.counts.infinite;
            } else {
                low = std::min(low, value);
                high = std::max(high, value);
                sum += value;
                squares += value * value;
            }
        }
    });
    summary.counts.finite =
        static_cast<std::uint32_t>(width) - summary.counts.nan - summary.counts.infinite;
    if (summary.counts.finite == 0) {
        constexpr float none = std::numeric_limits<float>::quiet_NaN();
        summary.statistics = {none, none, none, none};
    } else {
        summary.statistics = {static_cast<float>(low), static_cast<float>(high),
                              static_cast<float>(sum / summary.counts.finite),
                              static_cast<float>(std::sqrt(squares))};
    }
    return summary;
}

void rollUpBlock(const RunHeader& header, RowBlock& block)
{
    const std::size_t taps = header.taps.size();
    for (std::size_t r = 0; r < block.rows.size(); ++r)
        block.rows[r].rollUp = numeric::wordsDigest(block.digests.data() + r * taps, taps);
}

void summariseBlock(const RunHeader& header, RowBlock& block)
{
    const std::size_t taps = header.taps.size();
    const std::size_t cells = block.rows.size() * taps;
    block.digests.resize(cells);
    block.counts.resize(cells);
    block.statistics.resize(header.level == Level::Digest ? 0 : cells);
    for (std::size_t t = 0; t < taps; ++t) {
        const Tap& tap = header.taps[t];
        for (std::size_t r = 0; r < block.rows.size(); ++r) {
            const RowSummary summary =
                summarise(block.values[t].data() + r * tap.rowBytes(), tap.dtype, tap.width);
            const std::size_t cell = r * taps + t;
            block.digests[cell] = summary.digest;
            block.counts[cell] = summary.counts;
            if (!block.statistics.empty())
                block.statistics[cell] = summary.statistics;
        }
    }
    rollUpBlock(header, block);
    if (header.level != Level::Full)
        for (auto& tapValues : block.values)
            tapValues.clear();
}

Result<void> checkBlock(const RunHeader& header, const RowBlock& block)
{
    const std::size_t rows = block.rows.size();
    const std::size_t taps = header.taps.size();
    const auto wrong = [](const std::string& what) {
        return Error{Errc::Invalid, "a block of rows has " + what + " of the wrong size", {}, {}};
    };
    if (block.values.size() != taps)
        return wrong("a tap list");
    for (std::size_t t = 0; t < taps; ++t)
        if (block.values[t].size()
            != (header.level == Level::Full ? rows * header.taps[t].rowBytes() : 0))
            return wrong("values of tap " + header.taps[t].name);
    if (block.digests.size() != rows * taps)
        return wrong("digests");
    if (block.counts.size() != rows * taps)
        return wrong("counts");
    if (block.statistics.size() != (header.level == Level::Digest ? 0 : rows * taps))
        return wrong("statistics");
    if (block.routing.size() != header.routers.size())
        return wrong("a router list");
    for (std::size_t i = 0; i < header.routers.size(); ++i) {
        const RouterLayer& layer = header.routers[i];
        const RoutingBlock& routing = block.routing[i];
        if (routing.ids.size() != rows * layer.chosen
            || routing.weights.size() != rows * layer.chosen * numeric::sizeOf(layer.weightType)
            || routing.logits.size() != rows * layer.experts * numeric::sizeOf(layer.logitType)
            || routing.scores.size() != (layer.hasScores ? rows * layer.experts : 0))
            return wrong("routing of " + layer.module);
    }
    const bool logits = header.logits.vocabulary > 0;
    if (block.topK.ids.size() != (logits ? rows * header.logits.topK : 0)
        || block.topK.values.size() != block.topK.ids.size()
        || block.topK.logSumExp.size() != (logits ? rows : 0)
        || block.topK.remainingMass.size() != (logits ? rows : 0)
        || block.topK.askedIds.size() != (logits ? rows * header.logits.asked : 0)
        || block.topK.askedValues.size() != block.topK.askedIds.size())
        return wrong("a top-K table");
    return {};
}

TokenScore appendTopK(const LogitsInfo& info, const std::byte* logits, std::int32_t nextToken,
                      TopKBlock& block)
{
    std::vector<float> values(info.vocabulary);
    withValues(logits, info.dtype, [&](auto valueAt) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(valueAt(i));
    });
    auto best = numeric::topK(values.data(), values.size(), info.topK);
    best.resize(info.topK, numeric::Ranked{-1, 0.0F});

    double top = -std::numeric_limits<double>::infinity();
    for (const float value : values)
        if (value > top)
            top = value;
    double sum = 0;
    for (const float value : values)
        if (!std::isnan(value))
            sum += value == static_cast<float>(top) ? 1.0 : std::exp(value - top);
    const double logSumExp = top + std::log(sum);
    double mass = 0;
    for (const numeric::Ranked& entry : best) {
        block.ids.push_back(entry.id);
        block.values.push_back(entry.value);
        if (entry.id >= 0 && !std::isnan(entry.value))
            mass += std::exp(entry.value - logSumExp);
    }
    block.logSumExp.push_back(logSumExp);
    block.remainingMass.push_back(std::max(0.0, 1.0 - mass));

    TokenScore score;
    if (nextToken < 0 || static_cast<std::uint32_t>(nextToken) >= info.vocabulary)
        return score;
    const numeric::Ranked chosen{nextToken, values[static_cast<std::size_t>(nextToken)]};
    score = {nextToken, chosen.value, chosen.value - logSumExp, 0};
    for (std::size_t i = 0; i < values.size(); ++i)
        if (numeric::ranksBefore({static_cast<std::int32_t>(i), values[i]}, chosen))
            ++score.rank;
    return score;
}

} // namespace moire::trace
