// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// The writers against golden files: MOIRE_UPDATE_GOLDEN=1 writes them anew, to be reviewed like
// code.

#include "core/report/csv.h"
#include "core/report/html.h"
#include "core/report/json.h"
#include "core/report/junit.h"
#include "core/report/markdown.h"
#include "core/report/markup.h"
#include "core/report/text.h"
#include "tests/core/report/hand_made.h"

#include <QtTest>

using namespace moire::report;

class FormatsTest : public QObject
{
    Q_OBJECT

    static QString goldenPath(const char* name)
    {
        return QString::fromLocal8Bit(qgetenv("MOIRE_SOURCE")) + "/tests/core/report/golden/"
               + name;
    }

    static void compareWithGolden(const std::string& text, const char* name)
    {
        const QByteArray got = QByteArray::fromStdString(text);
        QFile file(goldenPath(name));
        if (qEnvironmentVariableIsSet("MOIRE_UPDATE_GOLDEN")) {
            QVERIFY(file.open(QIODevice::WriteOnly));
            QCOMPARE(file.write(got), got.size());
            return;
        }
        QVERIFY2(file.open(QIODevice::ReadOnly), name);
        const QList<QByteArray> want = file.readAll().split('\n');
        const QList<QByteArray> lines = got.split('\n');
        for (qsizetype i = 0; i < qMin(want.size(), lines.size()); ++i)
            QCOMPARE(lines[i], want[i]);
        QCOMPARE(lines.size(), want.size());
    }

private Q_SLOTS:
    void text() { compareWithGolden(plainText(test::handMadeReport(), {}), "divergent.txt"); }
    void equalText() { compareWithGolden(plainText(test::equalReport(), {}), "equal.txt"); }
    void json() { compareWithGolden(jsonText(test::handMadeReport()), "divergent.json"); }
    void csv() { compareWithGolden(csvText(test::handMadeReport()), "divergent.csv"); }
    void markdown()
    {
        compareWithGolden(markdownText(test::handMadeReport()), "divergent.markdown");
    }
    void junit() { compareWithGolden(junitText(test::handMadeReport()), "divergent.xml"); }
    void equalJunit() { compareWithGolden(junitText(test::equalReport()), "equal.xml"); }
    void html()
    {
        const auto reference = test::handMadeRun(7);
        const auto target = test::handMadeRun(8);
        QString page =
            QString::fromStdString(htmlText(test::handMadeReport(), *reference, *target));
        // The style sheet is a file of its own, and pictures are looked at, not read.
        page.replace(
            QRegularExpression("<style>.*</style>", QRegularExpression::DotMatchesEverythingOption),
            "<style></style>");
        page.replace(QRegularExpression("base64,[^\"]*"), "base64,");
        compareWithGolden(page.toStdString(), "divergent.html");
    }
    void equalJson() { compareWithGolden(jsonText(test::equalReport()), "equal.json"); }

    void verdictOnly()
    {
        QCOMPARE(plainText(test::equalReport(), {false, true}),
                 std::string("Bitwise equal: 3 rows × 3 taps.\n"));
    }

    void colourOnlyWhenAsked()
    {
        const auto report = test::handMadeReport();
        QVERIFY(plainText(report, {}).find('\x1b') == std::string::npos);
        QVERIFY(plainText(report, {true, false}).find('\x1b') != std::string::npos);
    }

    void escapesForTheTerminal()
    {
        auto report = test::handMadeReport();
        report.verdict = "a\x1b[31mb";
        report.samples[0].id = "\x1b]0;x\x07";
        QVERIFY(plainText(report, {}).find('\x1b') == std::string::npos);
    }

    void escapesForMarkdown()
    {
        QCOMPARE(markdownEscaped("a|b*<c>\n"), std::string("a\\|b\\*\\<c\\>\\\\n"));
    }

    void fieldsOfCsv()
    {
        QCOMPARE(csvLine({"a", "b,c", "say \"x\"", ""}),
                 std::string("a,\"b,c\",\"say \"\"x\"\"\",\n"));
    }

    void escapesForHtml()
    {
        QCOMPARE(escaped("<a href=\"x\">&'"),
                 std::string("&lt;a href=&quot;x&quot;&gt;&amp;&#39;"));
        QCOMPARE(escaped("\xe2\x80\xae"), std::string("\\u202e"));
        QCOMPARE(escaped("\xff"), std::string("&lt;0xFF&gt;"));
        QCOMPARE(tokenMarkup(" a\n"), std::string("·a\\n"));
    }

    void page()
    {
        const auto reference = test::handMadeRun(7);
        const auto target = test::handMadeRun(8);
        const std::string page = htmlText(test::handMadeReport(), *reference, *target);
        const auto has = [&](const char* part) { return page.find(part) != std::string::npos; };
        QVERIFY(has("<!DOCTYPE html>"));
        QVERIFY(has("token 2 “&lt;b&gt;”"));
        QVERIFY(has("ref &amp; co.moire"));
        QVERIFY(has("0x3f59"));
        QVERIFY(has("expert 3 for expert 2"));
        QVERIFY(has("&lt;0xFF&gt;"));           // the broken token
        QVERIFY(has("token hatched"));          // after the split
        QVERIFY(has(">·</td>"));                // the blank
        QVERIFY(has("class=\"chip unknown\"")); // E3 and task accuracy keep their places
        QVERIFY(has("moire-diff show"));
        QVERIFY(!has("<b>"));
        QCOMPARE(htmlText(test::handMadeReport(), *reference, *target), page);
    }

    void largeReportStaysSmall()
    {
        auto report = test::equalReport();
        constexpr std::size_t rows = 50000;
        constexpr std::size_t taps = 640;
        report.taps.assign(taps, report.taps[1]);
        report.tapPairs.assign(taps, report.tapPairs[0]);
        report.rows.assign(rows, report.rows[0]);
        report.logits.assign(rows, {});
        report.samples.assign(1000, report.samples[0]);
        for (auto& sample : report.samples)
            sample.rowsCompared = rows / 1000;
        moire::diff::Site different;
        different.state = moire::diff::Site::State::Different;
        different.valuesCompared = true;
        different.sumSquares = different.referenceSquares = 1;
        // The whole grid would take gigabytes here; its shape is what matters.
        report.tapPairs.resize(8);
        report.sites.assign(rows * report.tapPairs.size(), different);
        const auto run = test::handMadeRun(7);
        const std::string page = htmlText(report, *run, *run);
        QVERIFY2(page.size() < 2'000'000, std::to_string(page.size()).c_str());
    }
};

QTEST_APPLESS_MAIN(FormatsTest)
#include "formats_test.moc"
