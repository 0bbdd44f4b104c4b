// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/cause_evidence.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/rows_known.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace moire::diff {

namespace {

/// How the rows' bounds become the measure's.
enum class Over
{
    Mean,
    Largest
};

struct Bounded
{
    std::string_view id;
    Over over;
    Range (*of)(const TableBounds& bounds);
};

Range from(double low)
{
    return {low, std::numeric_limits<double>::infinity()};
}

/// Means of squares over the elements are means over rows of the row's mean: all rows are as wide.
Range perElement(Range range, std::uint32_t elements)
{
    return {range.low / elements, range.high / elements};
}

constexpr std::array bounded{
    Bounded{"B1", Over::Mean,
            [](const TableBounds& b) { return perElement(from(b.squares), b.vocabulary); }},
    Bounded{"B2", Over::Largest, [](const TableBounds& b) { return from(b.largest); }},
    Bounded{"B3", Over::Largest, [](const TableBounds& b) { return from(b.relative); }},
    Bounded{"B8", Over::Mean, [](const TableBounds& b) { return from(b.weightedVariance); }},
    Bounded{"C1", Over::Mean, [](const TableBounds& b) { return b.forwardKl; }},
    Bounded{"C2", Over::Mean, [](const TableBounds& b) { return b.reverseKl; }},
    Bounded{"C3", Over::Mean, [](const TableBounds& b) { return b.jensenShannon; }},
    Bounded{"C4", Over::Mean, [](const TableBounds& b) { return b.totalVariation; }},
    Bounded{"C5", Over::Mean, [](const TableBounds& b) { return b.hellinger; }},
    Bounded{"C6", Over::Mean, [](const TableBounds& b) { return b.chiSquare; }},
    Bounded{"C7", Over::Mean,
            [](const TableBounds& b) { return perElement(b.probabilitySquares, b.vocabulary); }},
    Bounded{"C8", Over::Largest, [](const TableBounds& b) { return b.probabilityChange; }},
    Bounded{"C9", Over::Mean, [](const TableBounds& b) { return b.entropyChange; }},
    Bounded{"C11", Over::Largest, [](const TableBounds& b) { return b.largestLogRatio; }},
    Bounded{"E6", Over::Mean,
            [](const TableBounds& b) { return from(static_cast<double>(b.rankAtLeast)); }}};

/// The rows' bounds taken together; `rows` is how many there were.
struct Total
{
    Range range{0, 0};
    std::uint64_t rows = 0;

    void add(const Range& row, Over over)
    {
        const bool first = rows++ == 0;
        if (over == Over::Mean)
            range = {range.low + row.low, range.high + row.high};
        else
            range = {first ? row.low : std::max(range.low, row.low),
                     first ? row.high : std::max(range.high, row.high)};
    }
    Range value(Over over) const
    {
        const auto n = static_cast<double>(over == Over::Mean ? rows : 1);
        return {range.low / n, range.high / n};
    }
};

std::string withUnit(double value, const std::string& unit)
{
    return numberText(value) + (unit.empty() ? "" : ' ' + unit);
}

void setBounds(Measure& measure, const Range& range, std::uint64_t rows)
{
    measure.n = rows;
    measure.parameters["at_least"] = range.low;
    measure.whyNull = "by the top-K tables at least " + withUnit(range.low, measure.unit);
    if (!std::isfinite(range.high))
        return;
    measure.parameters["at_most"] = range.high;
    measure.whyNull += ", at most " + withUnit(range.high, measure.unit);
}

Measure* withoutValue(Measures& measures, std::string_view id)
{
    const auto at = std::find_if(measures.begin(), measures.end(),
                                 [id](const Measure& m) { return m.id == id && !m.value; });
    return at == measures.end() ? nullptr : &*at;
}

/// E9 itself is known; what the target's mass on the same tokens can be is what tables leave open.
void addMassBounds(const FoldView& view, std::size_t sizeAt, Measures& measures)
{
    const std::string id = withK("E9", topKSizes[sizeAt]);
    const auto mass = std::find_if(measures.begin(), measures.end(),
                                   [&](const Measure& m) { return m.id == id && m.value; });
    if (mass == measures.end() || mass->parameters.contains("target"))
        return;
    Total total;
    view.forEachRow([&](std::size_t, const RowRecord& record) {
        if (record.logits.bounds != nullptr && record.logits.bounds->targetMass[sizeAt])
            total.add(*record.logits.bounds->targetMass[sizeAt], Over::Mean);
    });
    if (total.rows != mass->n)
        return;
    mass->parameters["target_at_least"] = total.value(Over::Mean).low;
    mass->parameters["target_at_most"] = total.value(Over::Mean).high;
}

} // namespace

void addTableBounds(const FoldView& view, Measures& measures)
{
    for (const Bounded& one : bounded) {
        Measure* measure = withoutValue(measures, one.id);
        if (measure == nullptr)
            continue;
        Total total;
        view.forEachRow([&](std::size_t, const RowRecord& record) {
            if (record.logits.bounds != nullptr)
                total.add(one.of(*record.logits.bounds), one.over);
        });
        if (total.rows > 0)
            setBounds(*measure, total.value(one.over), total.rows);
    }
    for (std::size_t i = 0; i < topKSizes.size(); ++i)
        addMassBounds(view, i, measures);
}

} // namespace moire::diff
