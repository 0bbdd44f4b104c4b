// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/decades.h"
#include "core/report/families.h"
#include "core/report/first_kinds.h"
#include "core/report/format.h"
#include "core/report/json_value.h"
#include "core/report/not_comparable.h"
#include "core/report/output_file.h"
#include "core/report/palette.h"
#include "core/report/partial_file.h"
#include "core/report/png.h"
#include "core/report/pooled_map.h"
#include "core/report/reproduce.h"
#include "core/report/text_table.h"
#include "tests/core/report/hand_made.h"

#include <QtTest>

#include <fstream>

using namespace moire::report;

class PartsTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void table()
    {
        TextTable table({Align::Left, Align::Right});
        table.add({"é", "1"});
        table.add({"abc", "22"});
        table.add({"x"});
        QCOMPARE(table.text(), std::string("  é     1\n  abc  22\n  x\n"));
        TextTable overhanging({Align::Left, Align::Left, Align::Left});
        overhanging.add({"a", "b", "c"});
        overhanging.add({"a", "longer than its column"});
        QCOMPARE(overhanging.text(), std::string("  a  b  c\n  a  longer than its column\n"));
    }

    void namesWhatHasNoCounterpart()
    {
        moire::diff::Report report;
        report.alignment.routersOnlyReference = {"model.layers.1.mlp.gate"};
        report.alignment.samplesOnlyTarget = {"s/one", std::string(200, 'n')};
        for (int i = 0; i < 11; ++i)
            report.alignment.tapsOnlyTarget.push_back("t" + std::to_string(i));
        report.alignment.rowsNotComparableTarget = 3;
        report.alignment.tokenisedDifferently = 1;
        const std::vector<std::string> lines = alignmentLines(report);
        QCOMPARE(lines.size(), std::size_t{5});
        QCOMPARE(lines[1], std::string("1 router of the reference has no counterpart: "
                                       "model.layers.1.mlp.gate"));
        QCOMPARE(lines[2], "2 samples of the target have no counterpart: s/one, "
                               + std::string(79, 'n') + "…");
        QCOMPARE(lines[3], std::string("11 taps of the target have no counterpart: t0, t1, t2, t3, "
                                       "t4, t5, t6, t7 and 3 more"));
        QCOMPARE(lines[4], std::string("3 rows tokenised differently: not comparable (0 of the "
                                       "reference, 3 of the target)"));
    }

    void reproducesTheJudgement()
    {
        moire::diff::Report report;
        report.reference.file = "a.moire";
        report.target.file = "b.moire";
        QCOMPARE(reproduceCommands(report).front(), std::string("moire-diff a.moire b.moire"));
        report.toleranceProfile = "strict";
        report.tolerance = {{"*.mlp.*", "ulp<=2", 1, 0, 0, {}, {}}};
        report.noiseFloor = "a 2.moire";
        QCOMPARE(reproduceCommands(report).front(),
                 std::string("moire-diff a.moire b.moire --tolerance strict --repeat 'a 2.moire'"));
        report.toleranceProfile = "abs<=1, kl<=1";
        report.tolerance = {{"*", "abs<=1", 1, 0, 0, {}, {}}, {"*", "kl<=1", 1, 0, 0, {}, {}}};
        report.noiseFloor.clear();
        QCOMPARE(reproduceCommands(report).front(),
                 std::string("moire-diff a.moire b.moire --criterion 'abs<=1' "
                             "--criterion 'kl<=1'"));
    }

    void base64AsInTheRfc()
    {
        QCOMPARE(base64(""), std::string(""));
        QCOMPARE(base64("f"), std::string("Zg=="));
        QCOMPARE(base64("fo"), std::string("Zm8="));
        QCOMPARE(base64("foo"), std::string("Zm9v"));
        QCOMPARE(base64("foobar"), std::string("Zm9vYmFy"));
    }

    void logScale()
    {
        const LogScale scale(2e-6, 3e-2); // decades −6 … −1
        QCOMPARE(scale.lowDecade(), -6);
        QCOMPARE(scale.highDecade(), -1);
        QCOMPARE(scale.levelOf(1e-9), std::size_t{0});
        QCOMPARE(scale.levelOf(0.0999), scaleLevels - 1);
        QCOMPARE(scale.levelOf(std::numeric_limits<double>::infinity()), scaleLevels - 1);
        QCOMPARE(scale.levelOf(std::numeric_limits<double>::quiet_NaN()), scaleLevels - 1);
        QVERIFY(scale.levelOf(1e-5) < scale.levelOf(1e-4));
    }

    void chipsKeepTheirPlaces()
    {
        const auto chips = familyChips(test::handMadeReport());
        QCOMPARE(chips.size(), std::size_t{6});
        QCOMPARE(chips[0].value, std::string("99.99999 %"));
        QCOMPARE(chips[0].detail, std::string("[99.5, 100] · logits"));
        QVERIFY(!chips[2].known);
        QCOMPARE(chips[2].detail, std::string("the best 5 tokens are not known on both sides"));
        QCOMPARE(chips[4].value, std::string("no task"));
        QCOMPARE(familyChips(moire::diff::Report{}).size(), std::size_t{6});
    }

    void poolingLosesNoDifference()
    {
        auto report = test::equalReport();
        constexpr std::size_t rows = 5000;
        report.rows.assign(rows, report.rows[0]);
        report.samples[0].rowsCompared = rows;
        report.sites.assign(rows * 3, report.sites[0]);
        moire::diff::Site& site = report.sites[3456 * 3 + 1];
        site.state = moire::diff::Site::State::Different;
        site.valuesCompared = true;
        site.sumSquares = 1e-12;
        site.referenceSquares = 1;
        site.elements = site.finite = 1;
        moire::diff::Site& nan = report.sites[4 * 3 + 2]; // NaN of another payload: of no size
        nan.state = moire::diff::Site::State::Different;
        nan.valuesCompared = true;
        nan.elements = nan.unequal = 1;
        const auto run = test::handMadeRun(7);
        const PooledMap map = tapMap(report, mapColumns(report, *run, *run));
        QCOMPARE(map.picture.indices[2 * 800], std::uint8_t{cellUnmeasured});
        QCOMPARE(map.unmeasuredWords(), std::string("bits differ, nothing finite"));
        QVERIFY(map.hasNotFinite && !map.hasUnmeasured);
        QCOMPARE(map.picture.width, 800U);
        QCOMPARE(map.picture.height, 3U);
        std::size_t different = 0;
        for (const std::uint8_t index : map.picture.indices)
            different += index >= cellScale ? 1 : 0;
        QCOMPARE(different, std::size_t{1});
        QVERIFY(map.picture.indices[800 + 3456 * 800 / rows] >= cellScale);
    }

    void columnsAfterTheSplit()
    {
        const auto reference = test::handMadeRun(7);
        const auto target = test::handMadeRun(8);
        const MapColumns columns = mapColumns(test::handMadeReport(), *reference, *target);
        QCOMPARE(columns.pairs.size(), std::size_t{4});
        QCOMPARE(columns.pairs[3], MapColumns::notComparable);
        QCOMPARE(columns.positions[3], 3U);
    }

    void outputFile()
    {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("a.txt").toStdString();
        {
            auto file = OutputFile::create(path);
            QVERIFY(file && file->write("half"));
        }
        QVERIFY(std::filesystem::is_empty(folder.path().toStdString()));
        QVERIFY(writeFile(path, "whole"));
        QVERIFY(writeFile(path, "again"));
        QCOMPARE(std::filesystem::file_size(path), std::uintmax_t{5});
        QCOMPARE(writeFile(folder.path().toStdString(), "x").error().code, moire::Errc::Invalid);
        QCOMPARE(writeFile(path / "x", "x").error().code, moire::Errc::NotFound);
        std::filesystem::create_symlink(path, folder.filePath("link").toStdString());
        QVERIFY(writeFile(folder.filePath("link").toStdString(), "through"));
        QCOMPARE(std::filesystem::file_size(path), std::uintmax_t{7});
    }

    void linksThatLeadNowhereYet()
    {
        namespace fs = std::filesystem;
        QTemporaryDir temporary;
        const fs::path folder = temporary.path().toStdString();
        fs::create_directory(folder / "far");
        fs::create_symlink("far/second", folder / "first");
        fs::create_symlink("new.txt", folder / "far" / "second");
        QVERIFY(writeFile(folder / "first", "through both"));
        QVERIFY(fs::is_symlink(folder / "first") && fs::is_symlink(folder / "far" / "second"));
        QCOMPARE(fs::file_size(folder / "far" / "new.txt"), std::uintmax_t{12});
        fs::create_symlink("circle", folder / "circle");
        const auto circle = writeFile(folder / "circle", "x");
        QCOMPARE(circle.error().place, (folder / "circle").string());
        fs::create_symlink("no/where", folder / "lost");
        QCOMPARE(writeFile(folder / "lost", "x").error().code, moire::Errc::NotFound);
    }

    void longNames()
    {
        QTemporaryDir temporary;
        const std::filesystem::path folder = temporary.path().toStdString();
        QVERIFY(writeFile(folder / std::string(255, 'n'), "x"));
        QCOMPARE(writeFile(folder / std::string(256, 'n'), "x").error().code, moire::Errc::Io);
    }

    void sweepsWhatNobodyWritesAnyMore()
    {
        namespace fs = std::filesystem;
        QTemporaryDir temporary;
        const fs::path folder = temporary.path().toStdString();
        // Linux has no process of a number that large (PID_MAX_LIMIT is 2^22).
        const std::string gone = ".part-1999999999";
        const auto touch = [&](const std::string& name) { std::ofstream(folder / name) << "half"; };
        touch("a.txt" + gone);
        touch("b.txt" + gone);
        touch("a.txt.part-1");
        touch("a.txt.part-x");
        fs::create_symlink("b.txt", folder / ("a.txt.part-1999999998"));
        {
            auto file = OutputFile::create(folder / "a.txt"); // and leaves its own alone
            QVERIFY(file && file->write("one") && writeFile(folder / "a.txt.other", "x"));
            QVERIFY(!fs::exists(folder / ("a.txt" + gone)));
            QVERIFY(file->commit());
        }
        QCOMPARE(fs::file_size(folder / "a.txt"), std::uintmax_t{3});
        for (const std::string& kept : {"b.txt" + gone, std::string("a.txt.part-1"),
                                        std::string("a.txt.part-x"), std::string("a.txt.other")})
            QVERIFY2(fs::exists(folder / kept), kept.c_str());
        QVERIFY(fs::is_symlink(folder / "a.txt.part-1999999998"));
    }

    void signalsTakeAwayWhatIsHalfWritten()
    {
        QTemporaryDir temporary;
        const std::filesystem::path folder = temporary.path().toStdString();
        auto file = OutputFile::create(folder / "a.txt");
        QVERIFY(file && file->write("half") && !std::filesystem::is_empty(folder));
        removePartialFiles();
        QVERIFY(std::filesystem::is_empty(folder));
    }

    void namesOfSamples()
    {
        moire::diff::Report report;
        for (const auto& [id, repeat] : {std::pair("q", 0U), std::pair("q", 0U), std::pair("", 0U),
                                         std::pair("q", 0U), std::pair("r", 2U)}) {
            moire::diff::SampleReport sample;
            sample.id = id;
            sample.repeat = repeat;
            report.samples.push_back(sample);
        }
        QCOMPARE(sampleTexts(report), (std::vector<std::string>{"q", "q#1", "", "q#2", "r#2"}));
    }

    void longCells()
    {
        TextTable table({Align::Left, Align::Left});
        table.add({std::string(5000, 'x'), std::string(5000, 'y')});
        const std::string text = table.text();
        QCOMPARE(text.size(), std::size_t{2 + 119 + 3 + 2 + 499 + 3 + 1});
        QVERIFY(text.ends_with("y…\n"));
    }

    void notComparable()
    {
        const auto run = test::handMadeRun(7);
        const auto report = notComparableReport(
            *run, *run, {moire::Errc::Incomparable, "no row is common", "a and b", "Capture both"});
        QCOMPARE(report.exit, 3);
        QCOMPARE(report.verdict, std::string("Not comparable: no row is common. Capture both."));
        const std::string junit = reportText(Format::Junit, report, *run, *run);
        QVERIFY(junit.find("tests=\"1\" failures=\"0\" errors=\"1\"") != std::string::npos);
        for (const Format format : {Format::Json, Format::Html, Format::Csv, Format::Markdown})
            QVERIFY(reportText(format, report, *run, *run).find("Not comparable: no row is common")
                    != std::string::npos);
    }

    void nothingOverAModel_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<bool>("replaceable");
        const QByteArray header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
        const auto safetensors = [](const QByteArray& json) {
            return QByteArray(1, static_cast<char>(json.size())) + QByteArray(7, '\0') + json
                   + QByteArray(4, '\0');
        };
        QTest::newRow("safetensors") << "model.bin" << safetensors(header) << false;
        QTest::newRow("our own export")
            << "capture.safetensors"
            << safetensors(R"({"__metadata__":{"format":"moire-diff export"}})") << true;
        QTest::newRow("a length beyond the file")
            << "x" << QByteArray("\xff\0\0\0\0\0\0\0{}", 10) << true;
        QTest::newRow("text") << "notes.txt" << QByteArray("a report{") << true;
        QTest::newRow("short") << "x" << QByteArray("{") << true;
        QTest::newRow("empty") << "x" << QByteArray() << true;
        QTest::newRow("gguf") << "x" << QByteArray("GGUF\3") << false;
        QTest::newRow("hdf5") << "x" << QByteArray("\x89HDF\r\n\x1a\n") << false;
        QTest::newRow("tokenizer")
            << "tokenizer.json" << QByteArray(R"({"version":"1.0"})") << false;
        QTest::newRow("config") << "config.json" << QByteArray(R"({"model_type":"llama"})")
                                << false;
        QTest::newRow("a report of that name")
            << "config.json" << QByteArray(R"({ "schema": "moire-report/1"})") << true;
    }

    void nothingOverAModel()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, content);
        QFETCH(bool, replaceable);
        QTemporaryDir folder;
        const QString path = folder.filePath(name);
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
        file.close();
        const auto written = writeFile(path.toStdString(), "a report");
        QCOMPARE(static_cast<bool>(written), replaceable);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), replaceable ? QByteArray("a report") : content);
    }

    void activeTextInJson()
    {
        // Python's json.dumps escapes these the same way, and reads them back.
        const std::string text = "a\x7f\xc2\x85\xe2\x80\xae\xe2\x81\xa9\xd8\x9c\xe2\x80\xa8 é 日 😀";
        QCOMPARE(printed(Json(text)),
                 std::string("\"a\\u007f\\u0085\\u202e\\u2069\\u061c\\u2028 é 日 😀\"\n"));
        QCOMPARE(Json::parse(printed(Json(text))).get<std::string>(), text);
    }

    void decades()
    {
        RangeFinder finder;
        QCOMPARE(finder.range(), (DecadeRange{-7, -1}));
        for (const double size :
             {3e-4, 2.0, 0.0, -1.0, 1e-42, std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::quiet_NaN()})
            finder.add(size);
        QCOMPARE(finder.range(), (DecadeRange{-4, 1}));
        QCOMPARE(decadeText(-4), std::string("1e-4"));
        QCOMPARE(decadeText(0), std::string("1"));
    }

    void formatsByEnding()
    {
        const auto isOf = [](const char* file, Format format) {
            const auto found = formatOfFile(file);
            return found && *found == format;
        };
        QVERIFY(isOf("", Format::Text));
        QVERIFY(isOf("/dev/stdout", Format::Text));
        QVERIFY(isOf("a.b/report", Format::Text));
        QVERIFY(isOf("report.txt", Format::Text));
        QVERIFY(isOf("report.htm", Format::Html));
        QVERIFY(isOf("of.two.json", Format::Json));
        QVERIFY(isOf("r.xml", Format::Junit));
        QVERIFY(isOf("r.md", Format::Markdown));
        QVERIFY(isOf("r.csv", Format::Csv));
        for (const char* file : {"report.foo", "report.text", "report.HTML5", "x."})
            QCOMPARE(formatOfFile(file).error().code, moire::Errc::Invalid);
        QVERIFY(formatNamed("junit") == Format::Junit);
        QVERIFY(!formatNamed("xml"));
        QCOMPARE(reportText(Format::Text, test::equalReport(), *test::handMadeRun(7),
                            *test::handMadeRun(7), {false, true}),
                 std::string("Bitwise equal: 3 rows × 3 taps.\n"));
    }

    void countLevels()
    {
        QCOMPARE(countLevel(8, 8), scaleLevels - 1);
        QCOMPARE(countLevel(1, 1), countLevel(1, 2));
        QVERIFY(countLevel(1, 8) > 3); // one expert is no small thing
        QVERIFY(countLevel(4, 8) > countLevel(3, 8));
    }
};

QTEST_APPLESS_MAIN(PartsTest)
#include "parts_test.moc"
