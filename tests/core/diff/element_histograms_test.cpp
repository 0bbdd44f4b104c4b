// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/element_histograms.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace moire;
using namespace moire::diff;

namespace {

constexpr std::size_t samples = 3;
constexpr std::uint32_t rows = 8;

test::PlainRun disturbed(test::PlainRun run)
{
    std::mt19937 engine(5);
    std::normal_distribution<double> normal;
    const std::size_t head = run.tapAt(trace::headTapName);
    for (test::PlainRun::Row& row : run.rows)
        for (double& value : row.values[head])
            value += engine() % 3 == 0 ? 0 : 0.1 * normal(engine);
    return run;
}

std::map<std::string, double> quantilesOf(const Report& report, const std::string& id)
{
    std::map<std::string, double> found;
    for (const auto& [name, value] : test::measureOf(report.measures, id).parameters)
        if (name.starts_with("elements_"))
            found[name] = value;
    return found;
}

/// |t − r| of the logits' elements finite on both sides, as they are recorded.
std::vector<double> sizesOf(const trace::Run& reference, const trace::Run& target)
{
    std::vector<double> sizes;
    for (std::size_t t = 0; t < reference.header().taps.size(); ++t) {
        const trace::Tap& tap = reference.header().taps[t];
        if (tap.name != trace::headTapName)
            continue;
        for (trace::RowIndex row = 0; row < reference.rowCount(); ++row) {
            const auto index = static_cast<trace::TapIndex>(t);
            const auto a = reference.values(index, row, row + 1);
            const auto b = target.values(index, row, row + 1);
            for (std::size_t i = 0; i < tap.width; ++i) {
                const double d =
                    numeric::toDouble(numeric::bitsAt(b->row(row), tap.dtype, i), tap.dtype)
                    - numeric::toDouble(numeric::bitsAt(a->row(row), tap.dtype, i), tap.dtype);
                if (std::isfinite(d))
                    sizes.push_back(std::fabs(d));
            }
        }
    }
    std::sort(sizes.begin(), sizes.end());
    return sizes;
}

} // namespace

class ElementHistogramsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void quantiles()
    {
        for (const auto dtype :
             {numeric::DType::BF16, numeric::DType::FP16, numeric::DType::FP32}) {
            auto ours = test::randomRun(3, samples, rows, dtype);
            auto theirs = disturbed(ours);
            const std::size_t head = ours.tapAt(trace::headTapName);
            theirs.rows[4].values[head][1] = std::numeric_limits<double>::quiet_NaN();
            theirs.rows[5].values[head][2] = std::numeric_limits<double>::infinity();
            const Report report = test::compared(ours, theirs);
            const auto sizes = sizesOf(*ours.build(), *theirs.build());
            const auto found = quantilesOf(report, "B2");
            QCOMPARE(found.size(), std::size_t{5});
            for (const auto& [name, share] : {std::pair("elements_50_percent", 0.5),
                                              {"elements_90_percent", 0.9},
                                              {"elements_95_percent", 0.95},
                                              {"elements_99_percent", 0.99},
                                              {"elements_99.9_percent", 0.999}}) {
                const auto place =
                    static_cast<std::size_t>(std::ceil(share * static_cast<double>(sizes.size())));
                QVERIFY(std::fabs(found.at(name) - sizes[place - 1]) <= 0.004 * sizes[place - 1]);
            }
        }
    }

    // Two of 8 elements apart, by 1 and by 3 last places of bf16 at 1.
    void ulpsByHand()
    {
        const std::string header = "tap lm_head.out head -1 bf16 8\nlogits 8 2\nsample a : 1 |\n";
        const auto ours = test::textRun(header + "row 0 : 1 1 1 1 1 1 1 1");
        const auto theirs = test::textRun(header + "row 0 : 1 1 1 1 1 1 1.0078125 1.0234375");
        const auto found = quantilesOf(test::compared(ours, theirs), "A4");
        QCOMPARE(found.at("elements_50_percent"), 0.0);
        QVERIFY(std::fabs(found.at("elements_90_percent") - 3) <= 0.012);
        QVERIFY(std::fabs(found.at("elements_99.9_percent") - 3) <= 0.012);
    }

    // However the rows were cut, and where parts overlap.
    void partsAddUp()
    {
        const auto ours = test::randomRun(4, samples, rows);
        const auto theirs = disturbed(ours);
        const Report whole = test::compared(ours, theirs);
        const auto reference = ours.build();
        const auto target = theirs.build();
        const auto aligned = align(*reference, *target, {});
        QVERIFY(aligned);
        const auto pairs = std::make_shared<const Alignment>(*aligned);
        const std::size_t count = pairs->rows.size();
        Comparison first(reference, target, pairs, {});
        Comparison second = first.sibling();
        QVERIFY(second.add(count / 3, count));
        QVERIFY(first.add(0, count / 2));
        first.merge(std::move(second));
        const Report merged = first.report();
        for (const char* id : {"A4", "B2"})
            QVERIFY(quantilesOf(merged, id) == quantilesOf(whole, id));
    }

    void onlyWhereValuesAreRead()
    {
        const auto ours = test::randomRun(4, samples, rows);
        ComparisonOptions options;
        options.firstOnly = true;
        const Report report = test::compared(ours, disturbed(ours), 1, options);
        QVERIFY(quantilesOf(report, "B2").empty());
    }
};

QTEST_APPLESS_MAIN(ElementHistogramsTest)
#include "element_histograms_test.moc"
