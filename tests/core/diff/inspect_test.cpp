// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/inspect.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

#include <cmath>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

struct Both
{
    trace::RunPointer reference, target;
    Report report;

    Both(const PlainRun& a, const PlainRun& b)
        : reference(a.build())
        , target(b.build())
        , report(compared(a, b))
    {}
    SiteDetail site(std::size_t row, std::size_t tap, std::size_t worst = 8) const
    {
        auto detail = inspectSite(*reference, *target, report, row, tap, worst);
        if (!detail)
            qFatal("%s", detail.error().text().c_str());
        return *detail;
    }
};

} // namespace

class InspectTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void siteNames_data();
    void siteNames();
    void notSites();
    void worstAndHistogram();
    void originAndAmplification();
    void belowFull();
    void ladder();
    void ladderFromTables();
    void experts();
    void outOfRange();
};

void InspectTest::siteNames_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sample");
    QTest::addColumn<int>("position");
    QTest::addColumn<QString>("tap");
    QTest::addColumn<int>("element");
    QTest::newRow("plain") << "fact/5/model.norm.out"
                           << "fact" << 5 << "model.norm.out" << -1;
    QTest::newRow("element") << "fact/5/lm_head.out/77"
                             << "fact" << 5 << "lm_head.out" << 77;
    QTest::newRow("slashes") << "a/b/5/x.out"
                             << "a/b" << 5 << "x.out" << -1;
    QTest::newRow("numbers") << "mmlu/12/5/x.out/3"
                             << "mmlu/12" << 5 << "x.out" << 3;
    QTest::newRow("empty id") << "/5/x.out"
                              << "" << 5 << "x.out" << -1;
    QTest::newRow("only numbers") << "1/2/3/x.out"
                                  << "1/2" << 3 << "x.out" << -1;
}

void InspectTest::siteNames()
{
    QFETCH(QString, text);
    QFETCH(QString, sample);
    QFETCH(int, position);
    QFETCH(QString, tap);
    QFETCH(int, element);
    const auto site = parseSite(text.toStdString());
    QVERIFY(site);
    QCOMPARE(QString::fromStdString(site->sample), sample);
    QCOMPARE(static_cast<int>(site->position), position);
    QCOMPARE(QString::fromStdString(site->tap), tap);
    QCOMPARE(site->element ? static_cast<int>(*site->element) : -1, element);
    QCOMPARE(QString::fromStdString(textOf(*site)), text);
}

void InspectTest::notSites()
{
    for (const char* text : {"", "a", "a/b", "a/5", "a/5/", "5/x", "/x/y", "a/x/y", "a/5/x/y",
                             "a/-5/x", "a/99999999999/x", "a/5/x/99999999999", "a/5//3"})
        QVERIFY2(!parseSite(text), text);
    QCOMPARE(parseSite("a").error().code, Errc::Invalid);
}

void InspectTest::worstAndHistogram()
{
    const char* head = "tap a.out other 0 bf16 6\nsample s : 1\nrow 0 : ";
    const Both both(textRun(head + std::string("1 2 3 4 NaN 0")),
                    textRun(head + std::string("1 2.015625 3.03125 -4 5 0")));
    const SiteDetail detail = both.site(0, 0);
    QCOMPARE(detail.worst.size(), std::size_t{4});
    QCOMPARE(detail.worst[0].element, 4U); // a difference of class first
    QVERIFY(!detail.worst[0].ulps);
    QCOMPARE(detail.worst[1].element, 3U);
    QCOMPARE(detail.worst[2].element, 2U);
    QCOMPARE(*detail.worst[2].ulps, std::uint64_t{2});
    QCOMPARE(detail.worst[3].element, 1U);
    QCOMPARE(detail.worst[3].referenceBits, std::uint64_t{0x4000});
    QCOMPARE(detail.worst[3].targetBits, std::uint64_t{0x4001});
    QCOMPARE(both.site(0, 0, 1).worst.size(), std::size_t{1});
    std::uint64_t counted = 0;
    for (const auto& [ulps, count] : detail.ulpHistogram) {
        counted += count;
        const std::uint64_t expected = ulps == 0 ? 2U : ulps == 1 || ulps == 2 || ulps == -16;
        QCOMPARE(count, expected);
    }
    QCOMPARE(counted, std::uint64_t{5}); // all but the NaN
    QCOMPARE(detail.classMatrix[0][0], std::uint64_t{4});
    QCOMPARE(detail.classMatrix[5][0], std::uint64_t{1});
    QCOMPARE(detail.classMatrix[2][2], std::uint64_t{1});
    QCOMPARE(detail.scatter.size(), std::size_t{6});
    QCOMPARE(detail.scatter[2], (std::pair<float, float>{3.0F, 3.03125F}));
}

void InspectTest::originAndAmplification()
{
    const char* head = "tap a.out norm 0 fp32 2 complete\n"
                       "tap b.out norm 0 fp32 2 in a.out complete\nsample s : 1\nrow 0 : ";
    const Both both(textRun(head + std::string("3 4 ; 3 4")),
                    textRun(head + std::string("3 4.5 ; 3 6")));
    QVERIFY(both.site(0, 0).origin == Origin::Introduced);
    QVERIFY(both.site(0, 1).origin == Origin::Carried);
    QVERIFY(!both.site(0, 0).amplification);
    QVERIFY(std::fabs(*both.site(0, 1).amplification - 4) < 1e-12); // 2/5 over 0.5/5
}

void InspectTest::belowFull()
{
    PlainRun run = randomRun(1, 1, 2);
    run.header.level = trace::Level::TopK;
    const Both both(run, run);
    QVERIFY(both.site(0, 0).worst.empty());
    QVERIFY(both.site(0, 0).site.state == Site::State::Equal);
}

void InspectTest::ladder()
{
    const char* head = "tap lm_head.out head -1 bf16 4\nlogits 4 4\nsample s : 1 | 2\nrow 0 : ";
    const Both both(textRun(head + std::string("1 4 4 0.5")),
                    textRun(head + std::string("5 4 1 0.5")));
    const auto detail = inspectLogits(*both.reference, *both.target, both.report, 0, 2);
    QVERIFY(detail);
    QCOMPARE(detail->ladder.size(), std::size_t{3}); // 1, 2 of the reference; 0 of the target
    QCOMPARE(detail->ladder[0].id, 1);
    QCOMPARE(detail->ladder[0].targetRank, 1);
    QCOMPARE(detail->ladder[1].id, 2);
    QCOMPARE(detail->ladder[1].targetRank, -1);
    QCOMPARE(detail->ladder[1].targetLogit, 1.0);
    QCOMPARE(detail->ladder[2].id, 0);
    QCOMPARE(detail->ladder[2].referenceRank, -1);
    QCOMPARE(*detail->referenceMarginUlps, std::uint64_t{0});
    QCOMPARE(*detail->targetMarginUlps, std::uint64_t{32}); // 4 → 5 in steps of 1/32
    QCOMPARE(detail->nextReference, 2);
    long double sum = 0;
    long double weighted = 0;
    for (const long double z : {1.0L, 4.0L, 4.0L, 0.5L}) {
        sum += std::exp(z);
        weighted += z * std::exp(z);
    }
    QVERIFY(
        std::fabs(detail->referenceEntropy - static_cast<double>(std::log(sum) - weighted / sum))
        < 1e-12);
}

void InspectTest::ladderFromTables()
{
    PlainRun run = textRun("level topk\ntap lm_head.out head -1 bf16 4\nlogits 4 2\n"
                           "sample s : 1\nrow 0 : 1 4 3 0.5");
    const Both both(run, run);
    const auto detail = inspectLogits(*both.reference, *both.target, both.report, 0, 10);
    QVERIFY(detail);
    QCOMPARE(detail->ladder.size(), std::size_t{2});
    QVERIFY(std::isnan(detail->referenceEntropy));
    QCOMPARE(detail->nextReference, -1);
}

void InspectTest::experts()
{
    const char* head = "tap a.out other 0 fp32 1\nrouter g 0 3 2\nsample s : 1\nrow 0 : 1 @ ";
    const Both both(textRun(head + std::string("2 1 : 0.75 0.25 : 1 2 3")),
                    textRun(head + std::string("2 0 : 0.5 0.5 : 2.5 2 3")));
    const auto detail = inspectRouting(*both.reference, *both.target, both.report, 0, 0);
    QVERIFY(detail);
    QCOMPARE(int{detail->cell.replaced}, 1);
    QCOMPARE(detail->cell.referenceMargin, 1.0F);
    QCOMPARE(detail->experts.size(), std::size_t{3});
    QCOMPARE(detail->experts[0].expert, 2);
    QCOMPARE(detail->experts[0].targetWeight, 0.5);
    QCOMPARE(detail->experts[1].expert, 1);
    QCOMPARE(detail->experts[1].referenceSlot, 1);
    QCOMPARE(detail->experts[1].targetSlot, -1);
    QCOMPARE(detail->experts[2].targetLogit, 2.5);
}

void InspectTest::outOfRange()
{
    const Both both(randomRun(1, 1, 2), randomRun(1, 1, 2));
    QVERIFY(!inspectSite(*both.reference, *both.target, both.report, 2, 0, 1));
    QVERIFY(!inspectSite(*both.reference, *both.target, both.report, 0, 99, 1));
    QVERIFY(!inspectLogits(*both.reference, *both.target, both.report, 2, 1));
    QVERIFY(!inspectRouting(*both.reference, *both.target, both.report, 0, 2));
}

QTEST_APPLESS_MAIN(InspectTest)
#include "inspect_test.moc"
