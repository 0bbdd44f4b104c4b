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
#include "core/report/palette.h"
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
        page.replace(QRegularExpression("<script>.*</script>",
                                        QRegularExpression::DotMatchesEverythingOption),
                     "<script></script>");
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
        // Formulas are text, numbers stay numbers.
        QCOMPARE(csvLine({"=1+1", "+x", "-2*3", "@SUM(A1)", "-0.5", "-Infinity", "+", "=a,\"b\""}),
                 std::string("'=1+1,'+x,'-2*3,'@SUM(A1),-0.5,-Infinity,'+,\"'=a,\"\"b\"\"\"\n"));
    }

    void escapesForHtml()
    {
        QCOMPARE(escaped("<a href=\"x\">&'"),
                 std::string("&lt;a href=&quot;x&quot;&gt;&amp;&#39;"));
        QCOMPARE(escaped("\xe2\x80\xae"), std::string("\\u202e"));
        QCOMPARE(escaped("\xff"), std::string("&lt;0xFF&gt;"));
        QCOMPARE(tokenMarkup(" a\n"), std::string("·a\\n"));
        const std::string token = tokenMarkup(std::string(5000, '<'));
        QCOMPARE(token.size(), std::size_t{39} * 4 + 3);
        QVERIFY(token.ends_with("&lt;…"));
        QCOMPARE(cellMarkup("a<b"), std::string("a&lt;b"));
        QVERIFY(cellMarkup(std::string(200, 'x')).starts_with("<span title=\"xxx"));
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

    /// A million rows; a thousand samples, and more taps than are listed.
    void largeReportStaysSmall()
    {
        // One tap's grid: that of all would take gigabytes here. The map of 500 is in the second.
        const std::size_t byRows = pageSize(1'000'000, 1);
        const std::size_t byTaps = pageSize(2'000, 500);
        const std::size_t map = 2
                                * pngBytes({800, 400, std::vector<std::uint8_t>(320'000)},
                                           paletteOf(Theme::Light))
                                      .size()
                                * 4 / 3; // both themes, base64
        QVERIFY2(byTaps < 2'000'000, std::to_string(byTaps).c_str());
        QVERIFY2(byRows + map < 2'000'000, std::to_string(byRows + map).c_str());
    }

private:
    static std::size_t pageSize(std::size_t rows, std::size_t gridTaps)
    {
        auto report = test::equalReport();
        constexpr std::size_t samples = 1000;
        constexpr std::size_t taps = 2000;
        report.taps.assign(taps, report.taps[1]);
        for (std::size_t i = 0; i < taps; ++i)
            report.taps[i].name += ".of_a_model_with_long_names." + std::to_string(i);
        report.rows.assign(rows, report.rows[0]);
        report.logits.assign(rows, {});
        report.samples.assign(samples, report.samples[0]);
        for (auto& sample : report.samples)
            sample.rowsCompared = rows / samples;
        report.tapPairs.assign(gridTaps, report.tapPairs[0]);
        report.sites.resize(rows * gridTaps);
        for (std::size_t i = 0; i < report.sites.size(); ++i) {
            moire::diff::Site& site = report.sites[i];
            site.state = moire::diff::Site::State::Different;
            site.valuesCompared = true;
            site.sumSquares = static_cast<double>(i + 1);
            site.referenceSquares = static_cast<double>(report.sites.size());
        }
        const auto run = test::handMadeRun(7);
        return htmlText(report, *run, *run).size();
    }
};

QTEST_APPLESS_MAIN(FormatsTest)
#include "formats_test.moc"
