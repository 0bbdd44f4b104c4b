// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/noise_floor.h"
#include "core/diff/tolerance.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

#include <limits>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

const char* head = "tap a.out other 0 fp32 2\ntap b.out other 1 fp32 2\n";

PlainRun oneRow(const std::string& values)
{
    return textRun(std::string(head) + "sample x : 1\nrow 0 : " + values);
}

ComparisonOptions with(const std::vector<std::string>& criteria)
{
    std::vector<Criterion> parsed;
    for (const std::string& text : criteria) {
        auto criterion = parseCriterion(text);
        if (!criterion)
            qFatal("%s", criterion.error().text().c_str());
        parsed.push_back(*criterion);
    }
    ComparisonOptions options;
    options.resamples = 0;
    options.tolerance = std::make_shared<const Tolerance>(Tolerance::everywhere(std::move(parsed)));
    return options;
}

ComparisonOptions withProfile(const std::string& text)
{
    auto tolerance = Tolerance::parse(text, "profile.toml");
    if (!tolerance)
        qFatal("%s", tolerance.error().text().c_str());
    ComparisonOptions options;
    options.resamples = 0;
    options.tolerance = std::make_shared<const Tolerance>(std::move(*tolerance));
    return options;
}

std::string comparing(const PlainRun& reference, const PlainRun& target,
                      const ComparisonOptions& options)
{
    base::Progress progress;
    const auto report =
        compare(reference.build("reference"), target.build("target"), {}, options, 1, {}, progress);
    return report ? std::string() : report.error().text();
}

} // namespace

class ToleranceTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void criteria_data();
    void criteria();
    void noCriteria_data();
    void noCriteria();
    void profiles();
    void mistakes_data();
    void mistakes();
    void passesAndFails_data();
    void passesAndFails();
    void firstMatchDecides();
    void severalCriteria();
    void logitsAndRoutes();
    void tokens();
    void floors();
    void withoutValues();
    void refused();
    void shipped();
};

void ToleranceTest::criteria_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("spelling");
    QTest::newRow("bitwise") << " bitwise "
                             << "bitwise";
    QTest::newRow("ulp") << "ulp <= 2"
                         << "ulp<=2";
    QTest::newRow("abs") << "abs<=0.001"
                         << "abs<=0.001";
    QTest::newRow("rel") << "rel<=1e-3"
                         << "rel<=0.001";
    QTest::newRow("allclose") << "allclose(2e-3, 1e-2)"
                              << "allclose(rtol=0.002, atol=0.01)";
    QTest::newRow("allclose by name") << "allclose(atol=1e-2, rtol=2e-3)"
                                      << "allclose(rtol=0.002, atol=0.01)";
    QTest::newRow("kl") << "kl<=1e-4"
                        << "kl<=1e-04";
    QTest::newRow("topk") << "topk>=0.8"
                          << "topk>=0.8";
    QTest::newRow("topk with K") << "topk[k=10]>=0.8"
                                 << "topk[k=10]>=0.8";
    QTest::newRow("routes") << "routes>=1"
                            << "routes>=1";
    QTest::newRow("tokens") << "tokens >= 0.99"
                            << "tokens>=0.99";
    QTest::newRow("floor") << "floor( 2 )"
                           << "floor(2)";
}

void ToleranceTest::criteria()
{
    QFETCH(QString, text);
    const auto criterion = parseCriterion(text.toStdString());
    QVERIFY2(criterion, criterion ? "" : criterion.error().text().c_str());
    QTEST(QString::fromStdString(criterion->text), "spelling");
}

void ToleranceTest::noCriteria_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("unknown") << "upl<=2"
                             << "is no criterion";
    QTest::newRow("empty") << ""
                           << "is no criterion";
    QTest::newRow("sign") << "ulp<2"
                          << "has to say ulp<=x";
    QTest::newRow("other sign") << "topk<=1"
                                << "has to say topk>=x";
    QTest::newRow("no number") << "abs<="
                               << "needs a number";
    QTest::newRow("negative") << "abs<=-1"
                              << "needs a number";
    QTest::newRow("NaN") << "abs<=nan"
                         << "needs a number";
    QTest::newRow("infinite") << "kl<=inf"
                              << "needs a number";
    QTest::newRow("behind") << "abs<=1e-3x"
                            << "needs a number";
    QTest::newRow("part of an ulp") << "ulp<=0.5"
                                    << "a part of a last place";
    QTest::newRow("per cent") << "tokens>=99"
                              << "a share above 1";
    QTest::newRow("K") << "topk[k=7]>=1"
                       << "names no K";
    QTest::newRow("one number") << "allclose(1e-3)"
                                << "needs two numbers";
    QTest::newRow("floor 0") << "floor(0)"
                             << "needs a number above 0";
}

void ToleranceTest::noCriteria()
{
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    const auto criterion = parseCriterion(text.toStdString());
    QVERIFY(!criterion);
    QCOMPARE(criterion.error().code, Errc::Invalid);
    QVERIFY2(criterion.error().text().find(sentence.toStdString()) != std::string::npos,
             criterion.error().text().c_str());
    QVERIFY(!criterion.error().hint.empty());
}

void ToleranceTest::profiles()
{
    const auto toml = Tolerance::parse("name = \"two\"\n"
                                       "[[tap]]\npattern = \"*.mlp.*\"\ncriterion = \"ulp<=2\"\n"
                                       "source = \"somewhere\"\n"
                                       "[[tap]]\npattern = \"*\"\n"
                                       "criterion = [\"bitwise\", \"floor(3)\"]\n",
                                       "p.toml");
    const auto json = Tolerance::parse(
        R"json({"name": "two", "tap": [
             {"pattern": "*.mlp.*", "criterion": "ulp<=2", "source": "some\u0077here"},
             {"pattern": "*", "criterion": ["bitwise", "floor(3)"]}]})json",
        "p.json");
    QVERIFY(toml);
    QVERIFY2(json, json ? "" : json.error().text().c_str());
    for (const Tolerance& tolerance : {*toml, *json}) {
        QCOMPARE(tolerance.name(), std::string("two"));
        QCOMPARE(tolerance.entries().size(), std::size_t{2});
        QCOMPARE(tolerance.entries()[0].source, std::string("somewhere"));
        QCOMPARE(tolerance.entries()[1].criteria.size(), std::size_t{2});
        QCOMPARE(tolerance.entryOf("model.layers.0.mlp.out"), std::size_t{0});
        QCOMPARE(tolerance.entryOf("model.norm.out"), std::size_t{1});
        QVERIFY(tolerance.uses(Criterion::Kind::Floor));
        QVERIFY(!tolerance.uses(Criterion::Kind::Kl));
    }
    QCOMPARE(toml->entries()[1].line, 6U);
    QCOMPARE(json->entries()[1].line, 3U);
}

void ToleranceTest::mistakes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    const QString entry = "[[tap]]\npattern = \"*\"\ncriterion = \"bitwise\"\n";
    QTest::newRow("empty") << ""
                           << "profile: a tolerance profile needs [[tap]] tables";
    QTest::newRow("no TOML") << "[[tap"
                             << "profile, line 1: is not TOML";
    QTest::newRow("unknown key") << "nmae = \"x\"\n" + entry
                                 << "profile, line 1: the key “nmae” is unknown";
    QTest::newRow("unknown key of a tap") << "[[tap]]\npattern = \"*\"\ncriterium = \"bitwise\"\n"
                                          << "profile, line 3: the key “criterium” is unknown";
    QTest::newRow("criterion") << "[[tap]]\npattern = \"*\"\n\ncriterion = \"bitwize\"\n"
                               << "profile, line 4: “criterion”: “bitwize” is no criterion";
    QTest::newRow("number") << "[[tap]]\npattern = \"*\"\ncriterion = 2\n"
                            << "profile, line 3: “criterion” has to be a text";
    QTest::newRow("no criterion") << "[[tap]]\npattern = \"*\"\n"
                                  << "profile, line 1: a [[tap]] has no “criterion”";
    QTest::newRow("no pattern") << "[[tap]]\ncriterion = \"bitwise\"\n"
                                << "profile, line 1: a [[tap]] has no “pattern”";
    QTest::newRow("no catch-all") << "[[tap]]\npattern = \"a*\"\ncriterion = \"bitwise\"\n"
                                  << "profile, line 1: the last pattern has to be \"*\"";
    QTest::newRow("never reached")
        << entry + "[[tap]]\npattern = \"*.mlp.*\"\ncriterion = \"bitwise\"\n"
        << "profile, line 4: the pattern “*.mlp.*” is never reached: “*” in line 1";
    QTest::newRow("twice") << entry + entry << "profile, line 4: the pattern “*” is never reached";
    QTest::newRow("JSON") << "{\"tap\": [\n{\"pattern\": \"*\",\n \"criterion\": \"ulp<=x\"}]}"
                          << "profile, line 3: “criterion”: “ulp<=x” needs a number";
    QTest::newRow("JSON key") << "{\"tap\": [\n{\"pattern\": \"*\",\n \"critter\": \"ulp<=2\"}]}"
                              << "profile, line 3: the key “critter” is unknown";
    QTest::newRow("no JSON") << "{\"tap\": [\n{\"pattern\": \"*\",\n]}"
                             << "profile, line 3: is not JSON";
    QTest::newRow("JSON twice") << "{\"tap\": [],\n\"tap\": []}"
                                << "line 2: is not JSON: it has the key “tap” twice";
    QTest::newRow("JSON end") << "{\"tap\": []}\n}"
                              << "line 2: is not JSON: it has something";
    QTest::newRow("JSON deep") << "{\"tap\": " + QString(100, '[') << "nests too deeply";
}

void ToleranceTest::mistakes()
{
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    const auto tolerance = Tolerance::parse(text.toStdString(), "profile");
    QVERIFY(!tolerance);
    QCOMPARE(tolerance.error().code, Errc::Invalid);
    QVERIFY2(tolerance.error().text().find(sentence.toStdString()) != std::string::npos,
             tolerance.error().text().c_str());
}

void ToleranceTest::passesAndFails_data()
{
    QTest::addColumn<QString>("reference");
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("criterion");
    QTest::addColumn<int>("failed"); ///< of the two sites
    const char* plain = "1 2 ; 3 4";
    QTest::newRow("equal") << plain << plain << "bitwise" << 0;
    QTest::newRow("bitwise") << plain << "1 2 ; 3 4.5"
                             << "bitwise" << 1;
    QTest::newRow("abs at") << plain << "1 2 ; 3 4.5"
                            << "abs<=0.5" << 0;
    QTest::newRow("abs above") << plain << "1 2 ; 3 4.5"
                               << "abs<=0.49" << 1;
    QTest::newRow("rel at") << plain << "1 2 ; 3 4.5"
                            << "rel<=0.1" << 0; // 0.5 / 5
    QTest::newRow("rel above") << plain << "1 2 ; 3 4.5"
                               << "rel<=0.0999" << 1;
    QTest::newRow("ulp at") << plain << "1.00000011920928955078125 2 ; 3 4"
                            << "ulp<=1" << 0;
    QTest::newRow("ulp above") << plain << "1.00000011920928955078125 2 ; 3 4"
                               << "ulp<=0" << 1;
    QTest::newRow("allclose at") << plain << "1 2 ; 3 4.5"
                                 << "allclose(0.1, 0.1)" << 0; // 0.1+0.4
    QTest::newRow("allclose above") << plain << "1 2 ; 3 4.5"
                                    << "allclose(0.1, 0.099)" << 1;
    QTest::newRow("allclose relative to the reference") << "4 0 ; 0 0"
                                                        << "5 0 ; 0 0"
                                                        << "allclose(0.24, 0)" << 1; // not of the 5
    QTest::newRow("zeros") << "0 2 ; 3 4"
                           << "-0.0 2 ; 3 4"
                           << "abs<=0" << 0;
    QTest::newRow("zeros bitwise") << "0 2 ; 3 4"
                                   << "-0.0 2 ; 3 4"
                                   << "bitwise" << 1;
    QTest::newRow("zero reference") << "0 0 ; 3 4"
                                    << "1e-9 0 ; 3 4"
                                    << "rel<=1000" << 1;
    for (const char* criterion :
         {"ulp<=2000000", "abs<=1e30", "rel<=1e30", "allclose(1e30, 1e30)"}) {
        const QByteArray name = criterion;
        QTest::newRow("NaN on one side, " + name) << plain << "NaN 2 ; 3 4" << criterion << 1;
        QTest::newRow("NaN on the other, " + name) << "NaN 2 ; 3 4" << plain << criterion << 1;
        QTest::newRow("NaN on both, " + name) << "NaN 2 ; 3 4"
                                              << "NaN 2 ; 3 4.5" << criterion << 0;
        QTest::newRow("Inf on one side, " + name) << plain << "inf 2 ; 3 4" << criterion << 1;
        QTest::newRow("Inf on both, " + name) << "inf 2 ; 3 4"
                                              << "inf 2 ; 3 4.5" << criterion << 0;
        QTest::newRow("Inf of both signs, " + name) << "inf 2 ; 3 4"
                                                    << "-inf 2 ; 3 4" << criterion << 1;
    }
}

void ToleranceTest::passesAndFails()
{
    QFETCH(QString, reference);
    QFETCH(QString, target);
    QFETCH(QString, criterion);
    QFETCH(int, failed);
    const Report report = compared(oneRow(reference.toStdString()), oneRow(target.toStdString()), 1,
                                   with({criterion.toStdString()}));
    QCOMPARE(report.tolerance.size(), std::size_t{1});
    QCOMPARE(report.tolerance[0].checked, std::uint64_t{2});
    QCOMPARE(report.tolerance[0].failed, static_cast<std::uint64_t>(failed));
    QCOMPARE(report.tolerance[0].undecided, std::uint64_t{0});
    QCOMPARE(report.exit, failed > 0 ? 1 : 0);
    QCOMPARE(report.first.tolerance.has_value(), failed > 0);
}

void ToleranceTest::firstMatchDecides()
{
    const PlainRun reference = oneRow("1 2 ; 3 4");
    const PlainRun target = oneRow("1 2.5 ; 3 4.25");
    const Report report =
        compared(reference, target, 1,
                 withProfile("name = \"loose a\"\n"
                             "[[tap]]\npattern = \"a.*\"\ncriterion = \"abs<=1\"\n"
                             "[[tap]]\npattern = \"*\"\ncriterion = \"abs<=0.125\"\n"));
    QCOMPARE(report.toleranceProfile, std::string("loose a"));
    QCOMPARE(report.tolerance.size(), std::size_t{2});
    QCOMPARE(report.tolerance[0].failed, std::uint64_t{0});
    QCOMPARE(*report.tolerance[0].worst, 0.5);
    QCOMPARE(report.tolerance[0].at, std::string("x/0/a.out"));
    QCOMPARE(report.tolerance[1].failed, std::uint64_t{1});
    QCOMPARE(*report.tolerance[1].worst, 0.25);
    QCOMPARE(report.first.tolerance->tap, std::string("b.out"));
    QCOMPARE(*report.first.tolerance->element, 1U);
    QCOMPARE(report.first.tolerance->note, std::string("beyond abs<=0.125"));
    QCOMPARE(report.first.bitwise->tap, std::string("a.out"));
    QCOMPARE(report.beyondTolerance.size(), std::size_t{1});
    QVERIFY((report.beyondTolerance[0] == GridPlace{0, 1}));
    QVERIFY2(report.verdict.starts_with("Beyond tolerance (loose a) in 1 of 2 checks, first at "
                                        "position 0 of sample x in b.out (beyond abs<=0.125). "
                                        "First difference in bits: "),
             report.verdict.c_str());
}

void ToleranceTest::severalCriteria()
{
    const PlainRun reference = oneRow("1 2 ; 3 4");
    const PlainRun target = oneRow("1 2 ; 3 4.5");
    const Report report = compared(reference, target, 1, with({"abs<=1", "rel<=0.01"}));
    QCOMPARE(report.tolerance[0].failed, std::uint64_t{0});
    QCOMPARE(report.tolerance[1].failed, std::uint64_t{1});
    QCOMPARE(report.exit, 1);
    QVERIFY(compared(reference, target, 1, with({"abs<=1"}))
                .verdict.starts_with(
                    "Within tolerance (abs<=1): 2 checks. First difference in bits: "));
}

void ToleranceTest::logitsAndRoutes()
{
    const PlainRun reference = randomRun(3, 2, 6);
    PlainRun target = reference;
    PlainRun::Row& row = target.rowAt(1, 2);
    row.values[target.tapAt(trace::headTapName)][17] += 0.5;
    row.routing[1].ids[0] = (row.routing[1].ids[0] + 1) % 8 == row.routing[1].ids[1]
                                ? (row.routing[1].ids[0] + 2) % 8
                                : (row.routing[1].ids[0] + 1) % 8;
    Report report = compared(reference, target, 1, with({"kl<=0"}));
    const double kl = report.logits[8].forwardKl;
    QVERIFY(kl > 0);
    QCOMPARE(report.tolerance[0].checked, std::uint64_t{12});
    QCOMPARE(report.tolerance[0].failed, std::uint64_t{1});
    QCOMPARE(*report.tolerance[0].worst, kl);
    QCOMPARE(report.tolerance[0].at, std::string("s1/2/lm_head.out"));
    QCOMPARE(report.first.tolerance->tap, std::string("lm_head.out"));
    QCOMPARE(compared(reference, target, 1, with({"kl<=1"})).exit, 0);

    report = compared(reference, target, 1, with({"routes>=0.51"}));
    QCOMPARE(report.tolerance[0].checked, std::uint64_t{24});
    QCOMPARE(report.tolerance[0].failed, std::uint64_t{1});
    QCOMPARE(*report.tolerance[0].worst, 0.5);
    QCOMPARE(report.tolerance[0].at, std::string("s1/2/model.layers.1.mlp.gate.out"));
    QCOMPARE(report.first.tolerance->tap, std::string("model.layers.1.mlp.gate.out"));
    QCOMPARE(compared(reference, target, 1, with({"routes>=0.5"})).exit, 0);

    // What comes first in execution order is named, whichever criterion saw it.
    report = compared(reference, target, 1, with({"kl<=0", "routes>=1"}));
    QCOMPARE(report.first.tolerance->tap, std::string("model.layers.1.mlp.gate.out"));

    report = compared(reference, target, 1, with({"topk[k=64]>=1"}));
    QCOMPARE(report.tolerance[0].checked, std::uint64_t{12});
    QCOMPARE(report.tolerance[0].undecided, std::uint64_t{0});
}

void ToleranceTest::tokens()
{
    // Four response tokens, of which the first two are the same: 0.5.
    const PlainRun reference =
        textRun("tap lm_head.out head -1 fp32 3\nlogits 3 2\nsample x : 1 2 | 0 1 2 1\n"
                "row 1 : 1 2 3\nrow 2 decode : 1 2 3\nrow 3 decode : 1 2 3");
    PlainRun target = reference;
    target.tokens[0][4].id = 0;
    Report report = compared(reference, target, 1, with({"tokens>=0.5"}));
    QCOMPARE(*report.tolerance[0].worst, 0.5);
    QCOMPARE(report.exit, 0);
    report = compared(reference, target, 1, with({"tokens>=0.51"}));
    QCOMPARE(report.exit, 1);
    QCOMPARE(report.first.tolerance->position, 3U);

    // In a replay: the share of rows with the same best token.
    PlainRun forced = reference;
    forced.header.environment.set(trace::env::replay, std::string("forced"));
    forced.rows[0].values[0] = {3, 2, 1};
    report = compared(reference, forced, 1, with({"tokens>=0.7"}));
    QCOMPARE(*report.tolerance[0].worst, 2.0 / 3);
    QCOMPARE(report.first.tolerance->position, 1U);
}

void ToleranceTest::floors()
{
    const auto at = [](const char* a, const char* b) {
        return textRun(std::string(head) + "sample x : 1 2\nrow 0 : " + a + "\nrow 1 : " + b);
    };
    const PlainRun reference = at("1 0 ; 1 0", "1 0 ; 1 0");
    // The repeat differs by 0.125 in a at position 1, and nowhere else.
    const Report repeat = compared(reference, at("1 0 ; 1 0", "1.125 0 ; 1 0"));
    const auto floor = std::make_shared<const NoiseFloor>(NoiseFloor::of(repeat));
    QCOMPARE(*floor->relativeL2("a.out", 0), 0.0);
    QCOMPARE(*floor->relativeL2("a.out", 1), 0.125);
    QVERIFY(!floor->relativeL2("a.out", 2)); // the repeat ends before
    QCOMPARE(*floor->relativeL2("b.out", 1), 0.0);
    QVERIFY(!floor->relativeL2("c.out", 1));

    ComparisonOptions options = with({"floor(2)"});
    options.floor = floor;
    Report report = compared(reference, at("1 0 ; 1 0", "1.25 0 ; 1 0"), 1, options);
    QCOMPARE(report.exit, 0);
    QCOMPARE(*report.tolerance[0].worst, 2.0);
    QCOMPARE(report.first.floor->tap, std::string("a.out")); // beyond once the floor
    QVERIFY(!report.first.tolerance);
    report = compared(reference, at("1.125 0 ; 1 0", "1 0 ; 1 0"), 1, options);
    QCOMPARE(report.exit, 1); // at position 0 the repeats are equal
    QCOMPARE(report.first.tolerance->position, 0U);
    report = compared(reference, at("1 0 ; 1 0", "1.0625 0 ; 1 0"), 1, options);
    QVERIFY(!report.first.floor);
    QCOMPARE(report.noiseFloor, std::string("target"));
    QVERIFY(report.cause.find("noise") != std::string::npos);
}

void ToleranceTest::withoutValues()
{
    PlainRun reference = randomRun(3, 1, 4);
    reference.header.level = trace::Level::TopK;
    PlainRun target = reference;
    target.rowAt(0, 1).values[2][0] += 1;
    Report report = compared(reference, target, 1, with({"abs<=10"}));
    QCOMPARE(report.tolerance[0].failed, std::uint64_t{0});
    QCOMPARE(report.tolerance[0].undecided, std::uint64_t{1});
    QCOMPARE(report.exit, 1);
    report = compared(reference, target, 1, with({"bitwise"}));
    QCOMPARE(report.tolerance[0].failed, std::uint64_t{1});
    QCOMPARE(report.tolerance[0].undecided, std::uint64_t{0});
}

void ToleranceTest::refused()
{
    const PlainRun run = oneRow("1 2 ; 3 4");
    const auto refuses = [&](const ComparisonOptions& options, const std::string& sentence) {
        const std::string text = comparing(run, run, options);
        return text.find(sentence) != std::string::npos ? std::string()
                                                        : "“" + text + "” is not: " + sentence;
    };
    const std::string rest = "[[tap]]\npattern = \"*\"\ncriterion = \"bitwise\"\n";
    const std::string entry = "[[tap]]\npattern = \"c.*\"\ncriterion = \"bitwise\"\n";
    QCOMPARE(refuses(withProfile(entry + rest),
                     "profile.toml, line 1: the pattern “c.*” matches no tap of either run"),
             std::string());
    QCOMPARE(comparing(run, run,
                       withProfile("[[tap]]\npattern = \"c.*\"\noptional = true\n"
                                   "criterion = \"bitwise\"\n"
                                   + rest)),
             std::string());
    QCOMPARE(refuses(with({"kl<=1"}), "“kl<=1” speaks of the logits, lm_head.out, and no tap"),
             std::string());
    QCOMPARE(refuses(with({"routes>=1"}), "“routes>=1” speaks of routers, and no tap"),
             std::string());
    QCOMPARE(refuses(with({"floor(2)"}), "“floor(2)” needs a noise floor"), std::string());
    ComparisonOptions first = with({"abs<=1"});
    first.firstOnly = true;
    QCOMPARE(refuses(first, "“abs<=1” needs the values"), std::string());
}

void ToleranceTest::shipped()
{
    const QDir folder(qEnvironmentVariable("MOIRE_SOURCE") + "/resources/tolerance");
    const QStringList names = folder.entryList({"*.toml"}, QDir::Files);
    QVERIFY(!names.isEmpty());
    const PlainRun run = randomRun(3, 1, 4);
    for (const QString& name : names) {
        const auto tolerance = Tolerance::read(folder.filePath(name).toStdString());
        QVERIFY2(tolerance, tolerance ? "" : tolerance.error().text().c_str());
        for (const ToleranceEntry& entry : tolerance->entries())
            QVERIFY2(!entry.source.empty(), name.toUtf8().constData());
        ComparisonOptions options;
        options.resamples = 0;
        options.tolerance = std::make_shared<const Tolerance>(*tolerance);
        if (tolerance->uses(Criterion::Kind::Floor))
            options.floor = std::make_shared<const NoiseFloor>(NoiseFloor::of(compared(run, run)));
        QCOMPARE(compared(run, run, 1, options).exit, 0);
    }
}

QTEST_APPLESS_MAIN(ToleranceTest)
#include "tolerance_test.moc"
