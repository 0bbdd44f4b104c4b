// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/noise_floor.h"
#include "core/diff/tolerance.h"
#include "core/store/verify.h"
#include "tests/core/diff/through_file.h"

#include <QtTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

// One difference is planted at a known place of an otherwise equal run, which is built with the
// digests that belong to it. The kinds of first divergence that can see it have to name that place,
// the others nothing.

namespace {

constexpr std::size_t sampleCount = 3;
constexpr std::uint32_t rowCount = 6;

using Engine = std::mt19937_64;

std::size_t below(Engine& engine, std::size_t end)
{
    return static_cast<std::size_t>(engine() % end);
}

double roundedTo(double value, numeric::DType dtype)
{
    const auto narrow = static_cast<float>(value);
    return dtype == numeric::DType::BF16
               ? static_cast<double>(numeric::floatFromBf16(numeric::bf16FromFloat(narrow)))
               : static_cast<double>(narrow);
}

/// The value with one bit of its mantissa turned over; 2^bit last places away.
double withBitFlipped(double value, numeric::DType dtype, unsigned bit)
{
    const auto narrow = static_cast<float>(value);
    if (dtype == numeric::DType::BF16)
        return static_cast<double>(numeric::floatFromBf16(
            static_cast<std::uint16_t>(numeric::bf16FromFloat(narrow) ^ (1U << bit))));
    return static_cast<double>(
        std::bit_cast<float>(std::bit_cast<std::uint32_t>(narrow) ^ (1U << bit)));
}

/// Ids best first as a plain sort has them; NaN ranks last.
std::vector<std::size_t> ranked(const std::vector<double>& logits, numeric::DType dtype)
{
    std::vector<double> rounded;
    for (const double logit : logits)
        rounded.push_back(roundedTo(logit, dtype));
    std::vector<std::size_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), std::size_t{0});
    std::stable_sort(ids.begin(), ids.end(), [&](std::size_t a, std::size_t b) {
        if (std::isnan(rounded[a]) || std::isnan(rounded[b]))
            return !std::isnan(rounded[a]) && std::isnan(rounded[b]);
        return rounded[a] > rounded[b];
    });
    return ids;
}

bool sameSet(std::vector<std::size_t> a, std::vector<std::size_t> b, std::size_t size)
{
    a.resize(size);
    b.resize(size);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

/// Where each kind should find the plant; empty: nowhere.
struct Expected
{
    std::string bitwise, nonFinite, topK, argmax, experts, token;
    std::uint64_t ulps = 0; ///< 0: not told
};

struct Planted
{
    PlainRun run;
    Expected expected;
    std::string what;
};

class Gardener
{
public:
    explicit Gardener(const PlainRun& reference)
        : m_reference(reference)
    {}

    Planted plant(std::uint64_t seed) const
    {
        Engine engine(seed);
        Planted planted{m_reference, {}, {}};
        constexpr void (Gardener::*kinds[])(Engine&, Planted&)
            const = {&Gardener::flipBit,    &Gardener::flipBit,     &Gardener::putNaN,
                     &Gardener::swapExpert, &Gardener::crossLogits, &Gardener::changeToken};
        (this->*kinds[below(engine, std::size(kinds))])(engine, planted);
        return planted;
    }

private:
    static std::string siteOf(const PlainRun& run, const PlainRun::Row& row, const std::string& tap)
    {
        return run.samples[row.sample].id + '/' + std::to_string(row.position) + '/' + tap;
    }

    /// What follows from other logits in a row.
    void expectRanking(const PlainRun::Row& before, Planted& planted,
                       const PlainRun::Row& row) const
    {
        const std::size_t head = m_reference.tapAt(trace::headTapName);
        const numeric::DType dtype = m_reference.header.taps[head].dtype;
        const auto ours = ranked(before.values[head], dtype);
        const auto theirs = ranked(row.values[head], dtype);
        const std::string site = siteOf(planted.run, row, std::string(trace::headTapName));
        if (ours[0] != theirs[0])
            planted.expected.argmax = site;
        if (!sameSet(ours, theirs, 5))
            planted.expected.topK = site;
    }

    void change(std::size_t at, std::size_t tap, std::size_t element, double value,
                Planted& planted) const
    {
        PlainRun::Row& row = planted.run.rows[at];
        row.values[tap][element] = value;
        const std::string& name = planted.run.header.taps[tap].name;
        planted.expected.bitwise = siteOf(planted.run, row, name) + '/' + std::to_string(element);
        if (!std::isfinite(value))
            planted.expected.nonFinite = planted.expected.bitwise;
        if (name == trace::headTapName)
            expectRanking(m_reference.rows[at], planted, row);
    }

    void flipBit(Engine& engine, Planted& planted) const
    {
        const std::size_t at = below(engine, planted.run.rows.size());
        const std::size_t tap = below(engine, planted.run.header.taps.size());
        const std::size_t element = below(engine, planted.run.header.taps[tap].width);
        const unsigned bit = static_cast<unsigned>(below(engine, 7));
        const numeric::DType dtype = planted.run.header.taps[tap].dtype;
        planted.what = "bit " + std::to_string(bit);
        planted.expected.ulps = std::uint64_t{1} << bit;
        change(at, tap, element,
               withBitFlipped(planted.run.rows[at].values[tap][element], dtype, bit), planted);
    }

    void putNaN(Engine& engine, Planted& planted) const
    {
        const std::size_t at = below(engine, planted.run.rows.size());
        const std::size_t tap = below(engine, planted.run.header.taps.size());
        const bool infinite = below(engine, 2) == 0;
        planted.what = infinite ? "Inf" : "NaN";
        change(at, tap, below(engine, planted.run.header.taps[tap].width),
               infinite ? -std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN(),
               planted);
    }

    void swapExpert(Engine& engine, Planted& planted) const
    {
        PlainRun::Row& row = planted.run.rows[below(engine, planted.run.rows.size())];
        const std::size_t router = below(engine, row.routing.size());
        std::vector<std::int32_t>& ids = row.routing[router].ids;
        planted.what = "expert";
        if (below(engine, 4) == 0) { // the same set in another order is not another set
            planted.what = "order of experts";
            std::swap(ids[0], ids[1]);
            return;
        }
        std::int32_t other = 0;
        while (std::find(ids.begin(), ids.end(), other) != ids.end())
            ++other;
        ids[below(engine, ids.size())] = other;
        planted.expected.experts =
            siteOf(planted.run, row, planted.run.header.routers[router].module + ".out");
    }

    /// Two logits change places: the best two, or the fifth and the sixth.
    void crossLogits(Engine& engine, Planted& planted) const
    {
        const std::size_t at = below(engine, planted.run.rows.size());
        const std::size_t head = m_reference.tapAt(trace::headTapName);
        std::vector<double>& logits = planted.run.rows[at].values[head];
        const auto ids = ranked(logits, m_reference.header.taps[head].dtype);
        const std::size_t better = below(engine, 2) == 0 ? 0 : 4;
        planted.what = "logits " + std::to_string(better);
        std::swap(logits[ids[better]], logits[ids[better + 1]]);
        const std::size_t element = std::min(ids[better], ids[better + 1]);
        if (roundedTo(logits[element], m_reference.header.taps[head].dtype)
            == roundedTo(m_reference.rows[at].values[head][element],
                         m_reference.header.taps[head].dtype))
            return; // equal after rounding: nothing was planted
        change(at, head, element, logits[element], planted);
    }

    void changeToken(Engine& engine, Planted& planted) const
    {
        const std::size_t sample = below(engine, planted.run.samples.size());
        auto& tokens = planted.run.tokens[sample];
        std::vector<std::size_t> responses;
        for (std::size_t i = 1; i < tokens.size(); ++i)
            if (tokens[i].response)
                responses.push_back(i);
        const std::size_t position = responses[below(engine, responses.size())];
        tokens[position].id = (tokens[position].id + 1) % 80;
        planted.what = "token";
        planted.expected.token =
            siteOf(planted.run, planted.run.rowAt(sample, static_cast<std::uint32_t>(position - 1)),
                   std::string(trace::headTapName));
    }

    const PlainRun& m_reference;
};

std::string siteOf(const std::optional<Divergence>& divergence)
{
    if (!divergence)
        return {};
    return divergence->sample + '/' + std::to_string(divergence->position) + '/' + divergence->tap;
}

std::string elementOf(const std::optional<Divergence>& divergence)
{
    return siteOf(divergence)
           + (divergence && divergence->element ? '/' + std::to_string(*divergence->element)
                                                : std::string());
}

std::string withoutElement(const std::string& site)
{
    return site.substr(0, site.rfind('/'));
}

/// What the report says otherwise than expected; empty when nothing.
std::string wrong(const FirstDivergences& first, const Expected& expected)
{
    std::string text;
    const auto compare = [&text](const char* kind, const std::string& got,
                                 const std::string& want) {
        if (got != want)
            text += std::string(kind) + " is at “" + got + "”, planted at “" + want + "”; ";
    };
    compare("bitwise", elementOf(first.bitwise), expected.bitwise);
    compare("non-finite", elementOf(first.nonFinite), expected.nonFinite);
    compare("top-K", siteOf(first.topK), expected.topK);
    compare("argmax", siteOf(first.argmax), expected.argmax);
    compare("experts", siteOf(first.experts), expected.experts);
    compare("token", siteOf(first.token), expected.token);
    return text;
}

ComparisonOptions plain()
{
    ComparisonOptions options;
    options.resamples = 0;
    return options;
}

bool isFull()
{
    const char* full = std::getenv("MOIRE_FULL");
    return full != nullptr && std::string_view(full) == "1";
}

int plantCount()
{
    return isFull() ? 1000 : 150;
}

/// What verify() says of a file but for routing, which a planted expert contradicts.
std::string findingsOf(const std::filesystem::path& path, bool& routing)
{
    base::Progress progress;
    const auto findings = store::verify(path, {}, progress);
    if (!findings)
        return findings.error().text();
    std::string text;
    for (const store::Finding& finding : *findings) {
        const bool ofRouting = finding.place.starts_with("/routing/");
        routing = routing || ofRouting;
        if (!ofRouting)
            text += finding.place + ": " + finding.sentence + "; ";
    }
    return text;
}

} // namespace

class PlantsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void noneMissedNoneInvented_data();
    void noneMissedNoneInvented();
    void throughFiles_data();
    void throughFiles();
};

void PlantsTest::noneMissedNoneInvented_data()
{
    QTest::addColumn<int>("dtype");
    QTest::newRow("bf16") << static_cast<int>(numeric::DType::BF16);
    QTest::newRow("fp32") << static_cast<int>(numeric::DType::FP32);
}

void PlantsTest::noneMissedNoneInvented()
{
    QFETCH(int, dtype);
    const PlainRun reference =
        randomRun(7, sampleCount, rowCount, static_cast<numeric::DType>(dtype));
    const Gardener gardener(reference);
    const Report same = compared(reference, reference, 1, plain());
    QCOMPARE(QString::fromStdString(wrong(same.first, {})), QString());
    QCOMPARE(same.exit, 0);
    const auto floor = std::make_shared<const NoiseFloor>(NoiseFloor::of(same));
    for (int i = 0; i < plantCount() / 2; ++i) {
        const Planted planted = gardener.plant(static_cast<std::uint64_t>(1000 * dtype + i));
        const std::string where = "plant " + std::to_string(i) + ", " + planted.what + ": ";
        ComparisonOptions options = plain();
        options.floor = floor;
        const std::uint64_t ulps = planted.expected.ulps;
        if (ulps > 0)
            options.tolerance = std::make_shared<const Tolerance>(
                Tolerance::everywhere({*parseCriterion("ulp<=" + std::to_string(ulps - 1))}));
        const Report report = compared(reference, planted.run, 1, options);
        QVERIFY2(wrong(report.first, planted.expected).empty(),
                 (where + wrong(report.first, planted.expected)).c_str());
        QCOMPARE(elementOf(report.first.floor), planted.expected.bitwise);
        QCOMPARE(elementOf(report.first.tolerance),
                 ulps > 0 ? planted.expected.bitwise : std::string());
        if (ulps > 0)
            QCOMPARE(report.first.bitwise->ulps.value_or(0), ulps);

        // What digests and tables alone tell is the same but for the element.
        ComparisonOptions first = plain();
        first.firstOnly = true;
        const Report quick = compared(reference, planted.run, 1, first);
        QCOMPARE(siteOf(quick.first.bitwise), withoutElement(planted.expected.bitwise));
        QCOMPARE(siteOf(quick.first.experts), planted.expected.experts);
        QCOMPARE(siteOf(quick.first.argmax), planted.expected.argmax);
        QCOMPARE(siteOf(quick.first.topK), planted.expected.topK);

        if (ulps > 0) {
            options.tolerance = std::make_shared<const Tolerance>(
                Tolerance::everywhere({*parseCriterion("ulp<=" + std::to_string(ulps))}));
            const Report allowed = compared(reference, planted.run, 1, options);
            QVERIFY(!allowed.first.tolerance);
            QCOMPARE(allowed.exit, 0);
        }
    }
}

void PlantsTest::throughFiles_data()
{
    noneMissedNoneInvented_data();
}

// The same through capture files, whose digests the writer's side made: 1,000 in the long form.
void PlantsTest::throughFiles()
{
    QFETCH(int, dtype);
    const QTemporaryDir folder;
    const std::filesystem::path here = folder.path().toStdString();
    const PlainRun plainReference =
        randomRun(11, sampleCount, rowCount, static_cast<numeric::DType>(dtype));
    const trace::RunPointer reference = throughFile(plainReference, here / "reference.moire");
    const Gardener gardener(plainReference);
    constexpr int few = 50;
    for (int i = 0; i < (isFull() ? plantCount() : few) / 2; ++i) {
        const Planted planted = gardener.plant(static_cast<std::uint64_t>(5000 * dtype + i));
        const std::filesystem::path path = here / "target.moire";
        const trace::RunPointer target = throughFile(planted.run, path);
        const std::string where = "plant " + std::to_string(i) + ", " + planted.what + ": ";
        bool routing = false;
        const std::string findings = findingsOf(path, routing);
        QVERIFY2(findings.empty(), (where + findings).c_str());
        base::Progress progress;
        const auto report = compare(reference, target, {}, plain(), 2, {}, progress);
        QVERIFY2(report, where.c_str());
        const std::string otherwise = wrong(report->first, planted.expected);
        QVERIFY2(otherwise.empty(), (where + otherwise).c_str());
        if (planted.expected.ulps > 0)
            QCOMPARE(report->first.bitwise->ulps.value_or(0), planted.expected.ulps);
        ComparisonOptions first = plain();
        first.firstOnly = true;
        first.grid = false;
        const auto quick = compare(reference, target, {}, first, 1, {}, progress);
        QVERIFY2(quick, where.c_str());
        QCOMPARE(siteOf(quick->first.bitwise), withoutElement(planted.expected.bitwise));
        QCOMPARE(siteOf(quick->first.experts), planted.expected.experts);
        QCOMPARE(siteOf(quick->first.argmax), planted.expected.argmax);
        QCOMPARE(siteOf(quick->first.topK), planted.expected.topK);
        QCOMPARE(siteOf(quick->first.token), planted.expected.token);
    }
}

QTEST_APPLESS_MAIN(PlantsTest)
#include "plants_test.moc"
