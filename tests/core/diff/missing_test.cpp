// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/noise_floor.h"
#include "core/diff/run_matrix.h"
#include "core/diff/tap_mapping.h"
#include "core/diff/tolerance.h"
#include "tests/core/diff/through_file.h"

#include <QtTest>

#include <array>
#include <cmath>
#include <limits>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

// What is missing is neither zero nor equal: it is listed, counted, left undecided or refused.

namespace {

const std::string plainTaps = "tap a.out other 0 fp32 2\ntap b.out other 1 fp32 2\n";
const std::string plainRows =
    "sample x : 1 2 3\nrow 0 : 1 2 ; 3 4\nrow 1 : 1 2 ; 3 4\nrow 2 : 1 2 ; 3 4\n";

ComparisonOptions with(std::string_view criterion)
{
    ComparisonOptions options;
    options.resamples = 0;
    const auto parsed = parseCriterion(criterion);
    if (!parsed)
        qFatal("%s", parsed.error().text().c_str());
    options.tolerance = std::make_shared<const Tolerance>(Tolerance::everywhere({*parsed}));
    return options;
}

Error alignmentError(const PlainRun& reference, const PlainRun& target)
{
    const auto aligned = align(*reference.build("reference"), *target.build("target"), {});
    return aligned ? Error{} : aligned.error();
}

bool holds(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

/// A router of `experts` of which two are chosen, at every row the same two.
PlainRun routed(const std::string& module, unsigned experts)
{
    std::string logits;
    for (unsigned e = 0; e < experts; ++e)
        logits += ' ' + std::to_string(experts - e);
    return textRun(plainTaps + "router " + module + " 0 " + std::to_string(experts) + " 2\n"
                   + "sample x : 1 2\nrow 0 : 1 2 ; 3 4 @ 0 1 : 0.5 0.5 :" + logits
                   + "\nrow 1 : 1 2 ; 3 4 @ 0 1 : 0.5 0.5 :" + logits + '\n');
}

/// Logits of four tokens at every row.
PlainRun scored(trace::Level level, unsigned topK)
{
    PlainRun run = textRun("env run.replay forced\ntap lm_head.out head -1 fp32 4\nlogits 4 "
                           + std::to_string(topK)
                           + "\nsample x : 1 | 2 3 0\nrow 0 forced : 1 4 2 3\n"
                             "row 1 forced : 7 4 2 5\nrow 2 forced : 0 1 6 2\n");
    run.header.level = level;
    return run;
}

/// A run whose tokens stand for these bytes, with ids from 0 on.
PlainRun spelled(const std::vector<std::string>& words, const std::string& tokenizer)
{
    PlainRun run = textRun(plainTaps + plainRows);
    for (std::size_t i = 0; i < words.size(); ++i)
        run.tokens[0][i].bytes = words[i];
    if (!tokenizer.empty())
        run.header.environment.set(trace::env::tokenizerDigest, tokenizer);
    return run;
}

} // namespace

class MissingTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void angleOfOverflow();
    void everyTap();
    void tokensOfPositions();
    void tokensOfASample();
    void whatACriterionSpeaksOf();
    void counterpartsOfRouters_data();
    void counterpartsOfRouters();
    void theRestOfASlice();
    void theReplaysName();
    void tokensOfTables();
    void finiteValues();
    void someFiniteValues();
    void weightsOfAGate();
    void theEndOfARepeat();
    void repeatsThatAreNone();
    void theSameBytes_data();
    void theSameBytes();
    void bytesOfTokens();
    void rowsThatWereNotCompared();
    void wordsOfVerdicts();
};

void MissingTest::angleOfOverflow()
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Site site;
    site.sumSquares = site.referenceSquares = site.targetSquares = infinity;
    QVERIFY(std::isnan(site.oneMinusCosine()));
    site = {};
    site.referenceSquares = site.targetSquares = 4;
    QCOMPARE(site.oneMinusCosine(), 0.0);
}

void MissingTest::everyTap()
{
    const PlainRun reference = textRun("tap model.layers.0.self_attn.q_proj.out projection 0 fp32 2"
                                       "\ntap b.out other 1 fp32 2\n"
                                       + plainRows);
    PlainRun target = reference;
    target.header.taps.clear();
    for (PlainRun::Row& row : target.rows)
        row.values.clear();
    for (const Error& error :
         {alignmentError(reference, target), alignmentError(target, reference)}) {
        QCOMPARE(error.code, Errc::Incomparable);
        QCOMPARE(error.sentence, std::string("the runs have no tap in common"));
    }
}

void MissingTest::tokensOfPositions()
{
    const PlainRun reference = textRun(plainTaps + plainRows);
    PlainRun target = reference;
    for (const std::uint32_t position : {3U, 100'000'000U, 4'294'967'284U}) {
        target.rows.back().position = position;
        for (const Error& error :
             {alignmentError(reference, target), alignmentError(target, reference)}) {
            QCOMPARE(error.code, Errc::Damaged);
            QCOMPARE(error.sentence, std::string("a row stands at a position without a token"));
            QCOMPARE(error.place, "x/" + std::to_string(position) + " in "
                                      + (error.place.ends_with("target") ? "target" : "reference"));
            QVERIFY(!error.hint.empty());
        }
    }
    target.tokens[0].clear(); // and none could have it
    QCOMPARE(alignmentError(target, target).code, Errc::Damaged);
}

void MissingTest::tokensOfASample()
{
    const PlainRun reference = textRun(plainTaps + plainRows);
    PlainRun target = reference;
    target.tokens[0].clear();
    Report report = compared(reference, target);
    QCOMPARE(report.exit, 1);
    QCOMPARE(report.alignment.tokensOnlyReference, std::uint64_t{1});
    QCOMPARE(report.verdict,
             std::string("Of 1 sample the tokens were not recorded in both runs, and rows are "
                         "matched by position alone. Equal in what was compared (3 rows × 2 taps); "
                         "the tokens of 1 sample of the reference have no counterpart."));
    report = compared(target, target); // nothing of the one is missing in the other
    QCOMPARE(report.exit, 0);
    QVERIFY(report.verdict.starts_with("Of 1 sample the tokens were not recorded"));
}

void MissingTest::whatACriterionSpeaksOf()
{
    const std::string module = "model.layers.0.mlp.gate";
    const Report routes = compared(routed(module, 8), routed(module, 16), 1, with("routes>=1"));
    QCOMPARE(routes.exit, 1);
    QCOMPARE(routes.tolerance[0].checked, std::uint64_t{0});
    QCOMPARE(routes.tolerance[0].undecided, std::uint64_t{1});
    QVERIFY(holds(routes.verdict,
                  "The tolerance (routes>=1) could not be decided: “routes>=1” found nothing to "
                  "check; 1 router of the reference and 1 router of the target have no "
                  "counterpart. Equal in what was compared (2 rows × 2 taps)."));
    // Also where nothing but that would be wrong.
    ComparisonOptions lenient = with("routes>=1");
    lenient.allowMissing = true;
    QCOMPARE(compared(routed(module, 8), routed(module, 16), 1, lenient).exit, 1);
    // Runs without a choice of tokens.
    const PlainRun prompts = textRun("tap lm_head.out head -1 fp32 3\nlogits 3 2\nsample x : 1 2\n"
                                     "row 0 : NaN NaN NaN\n");
    QCOMPARE(compared(prompts, prompts, 1, with("tokens>=0")).exit, 1);
    // A profile's catch-all need not meet anything.
    ComparisonOptions profile;
    profile.resamples = 0;
    const auto tolerance =
        Tolerance::parse("[[tap]]\npattern = \"?.out\"\ncriterion = \"bitwise\"\n"
                         "[[tap]]\npattern = \"*\"\ncriterion = \"bitwise\"\n",
                         "profile.toml");
    QVERIFY(tolerance);
    profile.tolerance = std::make_shared<const Tolerance>(*tolerance);
    const PlainRun run = textRun(plainTaps + plainRows);
    QCOMPARE(compared(run, run, 1, profile).exit, 0);
}

void MissingTest::counterpartsOfRouters_data()
{
    QTest::addColumn<QString>("module");
    QTest::addColumn<unsigned>("experts");
    QTest::newRow("other number of experts") << "model.layers.0.mlp.gate" << 16U;
    QTest::newRow("other module") << "layers.0.ffn.router" << 8U;
    QTest::newRow("none") << "" << 0U;
}

void MissingTest::counterpartsOfRouters()
{
    QFETCH(QString, module);
    QFETCH(unsigned, experts);
    const PlainRun reference = routed("model.layers.0.mlp.gate", 8);
    const PlainRun target =
        experts > 0 ? routed(module.toStdString(), experts)
                    : textRun(plainTaps + "sample x : 1 2\nrow 0 : 1 2 ; 3 4\nrow 1 : 1 2 ; 3 4\n");
    const Report report = compared(reference, target);
    QCOMPARE(report.exit, 1);
    QCOMPARE(report.alignment.routersOnlyReference,
             std::vector<std::string>{"model.layers.0.mlp.gate"});
    QCOMPARE(report.alignment.routersOnlyTarget.size(), std::size_t{experts == 0 ? 0U : 1U});
    QVERIFY(holds(report.verdict, "1 router of the reference"));
    const Report swapped = compared(target, reference);
    QCOMPARE(swapped.exit, 1);
    QCOMPARE(swapped.alignment.routersOnlyTarget, report.alignment.routersOnlyReference);

    const std::array<trace::RunPointer, 2> runs{reference.build("a"), target.build("b")};
    base::Progress progress;
    const auto matrix = runMatrix(runs, {}, 1, {}, progress);
    QVERIFY(matrix);
    QCOMPARE(matrix->clusters.size(), std::size_t{2});
    AlignmentOptions options; // what a filter leaves out is not missing
    options.tapPatterns = {"a.out"};
    QCOMPARE(compared(reference, target, 1, {}, options).exit, 0);
}

void MissingTest::theRestOfASlice()
{
    const PlainRun reference = textRun("tap y.out other 0 fp32 6\nsample x : 1\n"
                                       "row 0 : 1 2 3 4 5 6\n");
    PlainRun target = reference;
    target.rows[0].values[0][4] = 9;
    const auto mapping = TapMapping::parse("[[map]]\nreference = \"y.out[1:3]\"\n"
                                           "target = \"y.out[1:3]\"\n",
                                           "map.toml");
    QVERIFY(mapping);
    AlignmentOptions options;
    options.mapping = std::make_shared<const TapMapping>(*mapping);
    const Report report = compared(reference, target, 1, {}, options);
    const std::vector<std::string> rest{"y.out[0:1]", "y.out[3:6]"};
    QCOMPARE(report.alignment.tapsOnlyReference, rest);
    QCOMPARE(report.alignment.tapsOnlyTarget, rest);
    QCOMPARE(report.exit, 1);
    QVERIFY(!holds(report.verdict, "another name"));

    // All parts of a fused projection are compared under another name.
    const std::string at = "model.layers.0.self_attn.";
    const PlainRun apart = textRun("tap " + at + "q_proj.out projection 0 fp32 2\ntap " + at
                                   + "k_proj.out projection 0 fp32 1\ntap " + at
                                   + "v_proj.out projection 0 fp32 1\nsample x : 1\n"
                                     "row 0 : 1 2 ; 3 ; 4\n");
    const PlainRun fused = textRun("tap " + at
                                   + "qkv_proj.out projection 0 fp32 4\nsample x : 1\n"
                                     "row 0 : 1 2 3 4\n");
    const Report three = compared(apart, fused);
    QVERIFY(holds(three.verdict, "3 taps are compared under another name"));
    QCOMPARE(three.exit, 0);
}

void MissingTest::theReplaysName()
{
    // Without it the rows' phase tells: forced rows chose nothing.
    const std::string rows = "tap a.out other 0 fp32 1\nsample x : 1 | 2 3\nrow 0 forced : 1\n"
                             "row 1 forced : 1\n";
    PlainRun forced = textRun(rows);
    QCOMPARE(measureOf(compared(forced, forced).measures, "G1").whyNull,
             std::string("the target scored given tokens; it did not choose its own"));
    for (PlainRun::Row& row : forced.rows)
        row.phase = trace::Phase::Decode;
    QCOMPARE(measureOf(compared(forced, forced).measures, "G1").value.value_or(0), 100.0);

    // A replay counts rows with the same best token, a free run the equal beginning.
    PlainRun reference = scored(trace::Level::Full, 4);
    reference.header.environment = {};
    PlainRun target = reference;
    target.rows[2].values[0] = {6, 1, 0, 2}; // another best token
    const Report report = compared(reference, target, 1, with("tokens>=0.5"));
    QCOMPARE(report.tolerance[0].worst.value_or(0), 2.0 / 3);
}

void MissingTest::tokensOfTables()
{
    // F7 by hand: 4 − 2, 7 − 5, 6 − 0; the tables hold two of the four tokens.
    const Report full = compared(scored(trace::Level::Full, 2), scored(trace::Level::Full, 2));
    QCOMPARE(measureOf(full.measures, "F7").value.value_or(-1), 10.0 / 3);
    PlainRun run = scored(trace::Level::TopK, 2);
    const Report tables = compared(run, run);
    QCOMPARE(measureOf(tables.measures, "F7").value.value_or(-1), 10.0 / 3);
    QCOMPARE(measureOf(tables.measures, "F7").n, std::uint64_t{3});
    // The target goes on with another token, and its table lacks the reference's.
    PlainRun other = run;
    other.tokens[0][3].id = 1;
    const Report missed = compared(run, other);
    QVERIFY(!measureOf(missed.measures, "F7").value);
    QCOMPARE(measureOf(missed.measures, "F7").whyNull,
             std::string("in some row a table misses what it takes"));
    // B9 takes the target's logits of the reference's best two.
    other = run;
    other.rows[0].values[0] = {5, 4, 6, 3};
    QVERIFY(measureOf(tables.measures, "B9").value);
    QVERIFY(!measureOf(compared(run, other).measures, "B9").value);
    QVERIFY(!measureOf(compared(run, other).measures, "F6").value);
}

void MissingTest::finiteValues()
{
    const std::string taps = "tap model.layers.0.out residual 0 fp32 2\n"
                             "tap model.layers.0.self_attn.k_proj.out projection 0 fp32 2\n";
    const PlainRun reference = textRun(taps
                                       + "sample x : 1 2\nrow 0 : 1 2 ; 3 4\n"
                                         "row 1 : 1 2 ; 3 4\n");
    const PlainRun target = textRun(taps
                                    + "sample x : 1 2\nrow 0 : NaN NaN ; NaN NaN\n"
                                      "row 1 : NaN NaN ; NaN NaN\n");
    const Report report = compared(reference, target);
    for (const char* id : {"B1", "B2", "B4", "B5"}) {
        const Measure& measure = measureOf(report.taps[0].measures, id);
        QVERIFY2(!measure.value, id);
        QCOMPARE(measure.n, std::uint64_t{0});
        QCOMPARE(measure.whyNull, std::string("no element is finite on both sides"));
        QVERIFY(measure.percentiles.empty() && measure.at.empty());
    }
    const Measure& ulps = measureOf(report.taps[0].measures, "A4");
    QVERIFY(!ulps.value);
    QCOMPARE(ulps.n, std::uint64_t{0});
    QCOMPARE(ulps.whyNull, std::string("no element is a number on both sides"));
    QVERIFY(!measureOf(report.measures, "I1").value);
    QVERIFY(measureOf(report.measures, "I1").byLayer.empty());
    QVERIFY(!measureOf(report.measures, "I5").value);
    // The noise floor of such a repeat is not 0: there is none.
    QVERIFY(!NoiseFloor::of(report).relativeL2("model.layers.0.out", 0));
}

void MissingTest::someFiniteValues()
{
    // Of 4 elements one is NaN; the others are 1, 1 and 0 last places apart.
    const float one = 1;
    const double next = static_cast<double>(std::nextafter(one, 2.0F));
    const PlainRun reference = textRun("tap a.out other 0 fp32 2\nsample x : 1 2\nrow 0 : 1 1\n"
                                       "row 1 : 1 1\n");
    PlainRun target = reference;
    target.rows[0].values[0] = {std::numeric_limits<double>::quiet_NaN(), next};
    target.rows[1].values[0] = {next, 1};
    const Report report = compared(reference, target);
    const Measure& ulps = measureOf(report.taps[0].measures, "A4");
    QCOMPARE(ulps.n, std::uint64_t{3});
    QCOMPARE(ulps.parameters.at("mean"), 2.0 / 3);
    QCOMPARE(measureOf(report.taps[0].measures, "B2").n, std::uint64_t{3});
    // A sum that is too large is no division by zero.
    PlainRun huge = textRun("tap lm_head.out head -1 fp32 2\nlogits 2 2\nsample x : 1\n"
                            "row 0 : 1 NaN\n");
    const Report head = compared(huge, huge);
    QCOMPARE(measureOf(head.measures, "C1").whyNull,
             std::string("no element is finite on both sides"));
}

void MissingTest::weightsOfAGate()
{
    const PlainRun reference = routed("model.layers.0.mlp.gate", 4);
    PlainRun target = reference;
    target.rows[0].routing[0].weights[0] = 0.25F;
    QCOMPARE(measureOf(compared(reference, target).measures, "H7").value.value_or(-1), 0.125);
    target.rows[1].routing[0].weights[0] = std::numeric_limits<float>::quiet_NaN();
    const Report report = compared(reference, target);
    QCOMPARE(measureOf(report.measures, "H7").value.value_or(-1), 0.25);
    QCOMPARE(measureOf(report.measures, "H7").n, std::uint64_t{1});
}

void MissingTest::theEndOfARepeat()
{
    const PlainRun reference = textRun(plainTaps + plainRows);
    PlainRun repeat = reference;
    repeat.rows[0].values[0][0] = 1.25;
    repeat.rows.pop_back();
    PlainRun target = reference;
    target.rows[2].values[0][0] = 1.125;
    ComparisonOptions options = with("floor(2)");
    const auto floor =
        std::make_shared<const NoiseFloor>(NoiseFloor::of(compared(reference, repeat)));
    QVERIFY(floor->relativeL2("a.out", 1) && !floor->relativeL2("a.out", 2));
    options.floor = floor;
    const Report report = compared(reference, target, 1, options);
    QCOMPARE(report.exit, 1);
    QCOMPARE(report.tolerance[0].undecided, std::uint64_t{1});
    QVERIFY(report.verdict.starts_with(
        "Not wholly within tolerance (floor(2)): 1 check could not be decided without values and a "
        "noise floor there; 5 checks hold."));
    QVERIFY(!holds(report.cause, "the difference is noise"));
}

void MissingTest::repeatsThatAreNone()
{
    const QTemporaryDir folder;
    const std::filesystem::path here = folder.path().toStdString();
    PlainRun run = textRun("env model.weight_digest 0x1\n" + plainTaps + plainRows);
    const auto reference = throughFile(run, here / "reference.moire");
    const auto target = throughFile(run, here / "target.moire");
    const auto again = throughFile(run, here / "again.moire");
    run.header.environment.set(trace::env::weightDigest, std::string("0x2"));
    const auto other = throughFile(run, here / "other.moire");
    run.tokens[0][0] = {9, false, -1, "t9"};
    run.header.environment = {};
    const auto elsewhere = throughFile(run, here / "elsewhere.moire");
    // A copy holds the same run; a repeat with the same bits was made at another time.
    const std::string times = "env run.start_time 2026-01-02T03:04:05Z\nenv run.wall_seconds ";
    const std::string text = plainTaps + plainRows;
    const auto timed = throughFile(textRun(times + "1.5\n" + text), here / "timed.moire");
    const auto copy = throughFile(textRun(times + "1.5\n" + text), here / "copy.moire");
    const auto later = throughFile(textRun(times + "1.25\n" + text), here / "later.moire");
    base::Progress progress;
    const auto refused = [&](const trace::RunPointer& repeat) {
        const auto floor = measureFloor(reference, *target, repeat, {}, 1, {}, progress);
        return floor || floor.error().code != Errc::Invalid ? std::string()
                                                            : floor.error().sentence;
    };
    QVERIFY(measureFloor(reference, *target, again, {}, 1, {}, progress));
    QVERIFY(holds(refused(reference), "the repeat is the reference itself"));
    QVERIFY(holds(refused(target), "the repeat is the target itself"));
    QVERIFY(holds(refused(other), "the repeat is of another model (model.weight_digest: 0x1"));
    const auto over = [&](const trace::RunPointer& ours, const trace::RunPointer& theirs,
                          const trace::RunPointer& repeat) {
        const auto floor = measureFloor(ours, *theirs, repeat, {}, 1, {}, progress);
        return floor ? std::string() : floor.error().sentence;
    };
    QCOMPARE(over(later, timed, copy),
             std::string("the repeat is a copy of the target: both hold the run that started at "
                         "2026-01-02T03:04:05Z"));
    QVERIFY(holds(over(timed, later, copy), "the repeat is a copy of the reference"));
    QCOMPARE(over(timed, target, later), std::string());
    QVERIFY(holds(refused(elsewhere), "the repeat is none of the reference: no row"));
}

void MissingTest::theSameBytes_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("tokenizer");
    QTest::addColumn<int>("rows"); // that stand for each other; 0: nothing does
    const QStringList same{"ab", "c", "d"};
    QTest::newRow("same bytes") << same << "0x2" << 3;
    QTest::newRow("another cut") << QStringList{"a", "bc", "d"} << "0x2" << 1;
    QTest::newRow("another text") << QStringList{"xx", "yy", "zz"} << "0x2" << 0;
    QTest::newRow("same, nameless") << same << "" << 3;
    QTest::newRow("another text, nameless") << QStringList{"xx", "yy", "zz"} << "" << 0;
    QTest::newRow("bytes unknown") << QStringList{"", "", ""} << "0x2" << 3;
}

void MissingTest::theSameBytes()
{
    // The same ids may stand for other bytes.
    QFETCH(QStringList, words);
    QFETCH(QString, tokenizer);
    QFETCH(int, rows);
    std::vector<std::string> bytes;
    for (const QString& word : words)
        bytes.push_back(word.toStdString());
    const PlainRun reference = spelled({"ab", "c", "d"}, "0x1");
    const PlainRun target = spelled(bytes, tokenizer.toStdString());
    const auto aligned = align(*reference.build(), *target.build(), {});
    QCOMPARE(aligned ? static_cast<int>(aligned->rows.size()) : 0, rows);
    if (!aligned)
        QCOMPARE(aligned.error().code, Errc::Incomparable);
}

void MissingTest::rowsThatWereNotCompared()
{
    // Two of three tokens are cut otherwise: nothing that differs, and not wholly the same.
    const PlainRun reference = spelled({"ab", "c", "d"}, "0x1");
    const PlainRun target = spelled({"a", "bc", "d"}, "0x2");
    const Report bits = compared(reference, target);
    QVERIFY2(holds(bits.verdict, "Equal in what was compared (1 row × 2 taps); 4 rows are not "
                                 "comparable."),
             bits.verdict.c_str());
    QCOMPARE(bits.exit, 1);
    ComparisonOptions options = with("rel<=1");
    const Report judged = compared(reference, target, 1, options);
    QVERIFY2(holds(judged.verdict, "Not wholly within tolerance (rel<=1): 4 rows are not "
                                   "comparable; 2 checks hold."),
             judged.verdict.c_str());
    QCOMPARE(judged.exit, 1);
    options.allowMissing = true;
    const Report allowed = compared(reference, target, 1, options);
    QVERIFY2(holds(allowed.verdict, "Within tolerance (rel<=1) in what was compared: 2 checks; "
                                    "4 rows are not comparable."),
             allowed.verdict.c_str());
    QCOMPARE(allowed.exit, 0);

    // Free runs that part: a criterion that speaks of tokens says how much of that is allowed.
    const std::string rows = "sample x : 1 | 2 ";
    const PlainRun one = textRun(plainTaps + rows
                                 + "3 4\nrow 0 : 1 2 ; 3 4\nrow 1 : 1 2 ; 3 4\n"
                                   "row 2 : 1 2 ; 3 4\n");
    const PlainRun other = textRun(plainTaps + rows
                                   + "5 4\nrow 0 : 1 2 ; 3 4\nrow 1 : 1 2 ; 3 4\n"
                                     "row 2 : 1 2 ; 3 5\n");
    const Report parted = compared(one, other, 1, with("rel<=1"));
    QVERIFY2(parted.verdict.starts_with("Not wholly within tolerance (rel<=1): the tokens part, "
                                        "and 2 rows are not comparable; 4 checks hold."),
             parted.verdict.c_str());
    QCOMPARE(parted.exit, 1);
    PlainRun free = scored(trace::Level::Full, 4); // responses of two tokens
    free.header.environment = {};
    PlainRun freely = free;
    freely.tokens[0][2].id = 1;
    const Report tokens = compared(free, freely, 1, with("tokens>=0.25"));
    QVERIFY2(tokens.verdict.starts_with("Within tolerance (tokens>=0.25) in what was compared: 1 "
                                        "check; 2 rows are not comparable."),
             tokens.verdict.c_str());
    QCOMPARE(tokens.exit, 0);

    // An incomplete capture that has all rows of the other is not within either.
    PlainRun broken = one;
    broken.complete = false;
    const Report incomplete = compared(one, broken, 1, with("rel<=1"));
    QVERIFY2(holds(incomplete.verdict, "Not wholly within tolerance (rel<=1): the target capture "
                                       "is incomplete; 6 checks hold."),
             incomplete.verdict.c_str());
    QCOMPARE(incomplete.exit, 1);
}

void MissingTest::bytesOfTokens()
{
    // A token without text stands for nothing, and its neighbours for themselves.
    const PlainRun reference = spelled({"the", " cat", " sat"}, "0x1");
    PlainRun target = spelled({"", "the", " cat"}, "0x2");
    target.tokens[0].push_back({7, false, -1, ""});
    target.tokens[0].push_back({8, false, -1, " sat"});
    const auto aligned = align(*reference.build(), *target.build(), {});
    QVERIFY(aligned);
    QCOMPARE(aligned->rows.size(), std::size_t{2}); // the target's row of " sat" was not recorded
    QCOMPARE(aligned->rows[0].target, trace::RowIndex{1});
    QCOMPARE(aligned->rows[1].target, trace::RowIndex{2});
    // The same text cut differently throughout has no prompt that differs.
    const Error error =
        alignmentError(spelled({"ab", "cd", "ef"}, "0x1"), spelled({"a", "bcd", "ef"}, "0x2"));
    QVERIFY(error.sentence.empty());
    const Error never =
        alignmentError(spelled({"ab", "c", "de"}, "0x1"), spelled({"a", "bcd", "e"}, "0x2"));
    QCOMPARE(never.sentence, std::string("no row of the runs stands for the same tokens: the text "
                                         "is tokenised differently throughout"));
}

void MissingTest::wordsOfVerdicts()
{
    PlainRun reference = textRun(plainTaps + plainRows);
    reference.rows[0].values[0][0] = 0;
    PlainRun target = reference;
    target.rows[0].values[0][0] = -0.0;
    const Report zeros = compared(reference, target);
    QVERIFY2(holds(zeros.verdict, "(+0 became −0)"), zeros.verdict.c_str());
    QVERIFY(!holds(zeros.verdict, "  ") && !zeros.verdict.ends_with(' '));

    PlainRun routes = routed("model.layers.0.mlp.gate", 4);
    PlainRun padded = routes;
    padded.rows[0].routing[0].ids[1] = -1;
    QCOMPARE(compared(routes, padded).first.experts->note,
             std::string("expert 1 is no longer chosen, and none in its place"));
}

QTEST_APPLESS_MAIN(MissingTest)
#include "missing_test.moc"
