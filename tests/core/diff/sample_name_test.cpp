// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/inspect.h"
#include "core/diff/sample_name.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

/// Sites name every sample, also repeats of one id.
class SampleNameTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void thereAndBack();
    void readings();
    void inReports();
};

void SampleNameTest::thereAndBack()
{
    PlainRun run = textRun("tap a.out other 0 fp32 1\nsample q : 1\nsample q#1 : 1\n"
                           "sample q#2 : 1\nsample other#2 : 1\nsample other : 1\n");
    run.samples.push_back({}); // twice the same id and repeat
    run.samples.back().id = "other";
    run.tokens.push_back({{1, false, -1, ""}});
    run.samples.push_back({});
    run.samples.back().id = "3#1"; // an id of that look
    run.tokens.push_back({{1, false, -1, ""}});
    const auto built = run.build();
    const char* const names[] = {"q", "q#1", "q#2", "other#2", "other", "other#2", "3#1"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        const auto sample = static_cast<trace::SampleIndex>(i);
        if (i != 5) { // other#2 is taken: of the three the first of that repeat is meant
            QCOMPARE(sampleName(*built, sample), std::string(names[i]));
            QVERIFY(findSampleNamed(*built, names[i]) == sample);
        }
        QCOMPARE(sampleNames(*built)[i], sampleName(*built, sample));
    }
    for (const char* none : {"", "q#", "q#3", "q#x", "q#1x", "nobody", "nobody#1", "3#2", "#1"})
        QVERIFY2(!findSampleNamed(*built, none), none);
}

void SampleNameTest::readings()
{
    const auto site = parseSite("a/b#12/7/lm_head.out/3");
    QVERIFY(site);
    QCOMPARE(site->sample, std::string("a/b#12"));
    QCOMPARE(textOf(*site), std::string("a/b#12/7/lm_head.out/3"));
}

void SampleNameTest::inReports()
{
    const std::string head = "tap a.out other 0 fp32 1\nsample q : 1 | 2\nrow 0 : 1\n"
                             "sample q#1 : 1 | 2\nrow 0 : ";
    const Report report = compared(textRun(head + "2"), textRun(head + "3"));
    QCOMPARE(report.first.bitwise->sample, std::string("q#1"));
    QCOMPARE(measureOf(report.measures, "A8").at, std::string("q#1/0/a.out"));
    QVERIFY(report.verdict.find("sample q#1, position 0") != std::string::npos);
}

QTEST_APPLESS_MAIN(SampleNameTest)
#include "sample_name_test.moc"
