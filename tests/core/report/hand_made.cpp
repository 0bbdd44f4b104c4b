// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/report/hand_made.h"

#include "core/trace/run_builder.h"

#include <cassert>
#include <cmath>
#include <limits>

namespace moire::report::test {

namespace {

using diff::Divergence;
using diff::Measure;
using numeric::DType;
using trace::TapKind;

trace::RunHeader header(std::string_view arithmetic)
{
    trace::RunHeader header;
    header.environment.set(trace::env::modelName, std::string("toy"));
    header.environment.set(trace::env::policy, std::string("bf16"));
    header.environment.set(trace::env::arithmetic, std::string(arithmetic));
    header.environment.set(trace::env::seed, std::int64_t{7});
    header.environment.set(trace::env::tf32, false);
    header.environment.set(trace::env::wallSeconds, 1.5);
    header.environment.set(trace::env::commandLine,
                           std::string("moire-capture run toy --text 'a<b'"));
    const auto tap = [](const char* name, std::int32_t layer, TapKind kind, std::uint32_t width) {
        trace::Tap out;
        out.name = name;
        out.layer = layer;
        out.kind = kind;
        out.dtype = DType::BF16;
        out.width = width;
        return out;
    };
    header.taps = {tap("model.layers.0.out", 0, TapKind::Residual, 2),
                   tap("model.layers.1.out", 1, TapKind::Residual, 2),
                   tap("lm_head.out", -1, TapKind::Head, 4)};
    trace::RouterLayer router;
    router.module = "model.layers.1.mlp.gate";
    router.layer = 1;
    router.experts = 4;
    router.chosen = 2;
    header.routers = {router};
    header.logits = {4, 2, DType::BF16, 0};
    return header;
}

trace::RowBlock block(std::uint32_t position)
{
    trace::RowBlock rows;
    trace::Row row;
    row.position = position;
    rows.rows = {row};
    for (const std::size_t width : {2U, 2U, 4U})
        rows.values.emplace_back(width * 2, std::byte{0});
    trace::RoutingBlock routing;
    routing.ids = {2, 0};
    routing.weights.resize(2 * sizeof(float));
    routing.logits.resize(4 * sizeof(float));
    rows.routing = {routing};
    return rows;
}

Measure measure(const char* id, const char* name, const char* family, const char* unit,
                double value, std::uint64_t n)
{
    Measure out;
    out.id = id;
    out.name = name;
    out.family = family;
    out.unit = unit;
    out.value = value;
    out.n = n;
    return out;
}

Measure missing(const char* id, const char* name, const char* family, const char* why)
{
    Measure out;
    out.id = id;
    out.name = name;
    out.family = family;
    out.unit = "%";
    out.whyNull = why;
    return out;
}

std::vector<Measure> overall()
{
    Measure equal = measure("A1", "equal bits", "A", "%", 99.99999, 12);
    equal.interval = diff::Interval{99.5, 100, "bootstrap"};
    equal.byPosition = {100.0, std::nullopt, 99.9};
    Measure relativeMean = measure("A3", "unequal elements", "A", "ppm", 0.1, 12);
    relativeMean.whyNoInterval = "one sample only";
    Measure classes = measure("A7", "value classes", "A", "count", 1, 12);
    classes.matrix = {{11, 0}, {1, 0}};
    Measure largest = measure("B2", "largest absolute difference", "B", "logit",
                              std::numeric_limits<double>::infinity(), 11);
    largest.parameters = {{"mean", 0.1}};
    largest.percentiles = {{"50", 0.0}, {"max", std::numeric_limits<double>::quiet_NaN()}};
    largest.at = "s/one/2/lm_head.out/3";
    Measure relative = measure("B4", "relative L2", "B", "", 1.0 / 3.0, 11);
    relative.byLayer = {{0, 0.0}, {1, 0.5}};
    Measure forward = measure("C1", "forward KL", "C", "nats", 3.1e-4, 3);
    forward.byGroup = {{"maths", 3.1e-4}};
    return {equal,
            relativeMean,
            classes,
            largest,
            relative,
            forward,
            measure("E1", "top-1 agreement", "E", "%", 100, 3),
            missing("E3", "top-K sets equal", "E", "the best 5 tokens are not known on both sides"),
            measure("G1", "responses equal", "G", "%", 0, 1),
            measure("H1", "expert sets equal", "H", "%", 50, 2)};
}

Divergence bitwise()
{
    Divergence d;
    d.sample = "s/one";
    d.row = 2;
    d.targetRow = 2;
    d.position = 2;
    d.phase = trace::Phase::Decode;
    d.tap = "model.layers.1.out";
    d.layer = 1;
    d.element = 1;
    d.referenceBits = 0x3f59;
    d.targetBits = 0x8000;
    d.referenceValue = 0.84765625;
    d.targetValue = -0.0;
    d.referenceType = d.targetType = DType::BF16;
    d.ulps = 16217;
    d.origin = diff::Origin::Introduced;
    d.amplification = 2.5;
    return d;
}

Divergence experts()
{
    Divergence d;
    d.sample = "s/one";
    d.row = 2;
    d.position = 2;
    d.tap = "model.layers.1.mlp.gate";
    d.layer = 1;
    d.referenceValue = 2;
    d.targetValue = 3;
    d.note = "expert 3 for expert 2";
    return d;
}

void fillGrid(diff::Report& report)
{
    report.rows = {{0, 0, {}, 0}, {1, 1, {}, 1}, {2, 2, {}, 2}};
    for (std::uint32_t i = 0; i < 3; ++i)
        report.tapPairs.push_back(
            {static_cast<trace::TapIndex>(i), static_cast<trace::TapIndex>(i)});
    report.sites.resize(9);
    for (diff::Site& site : report.sites) {
        site.state = diff::Site::State::Equal;
        site.valuesCompared = true;
    }
    for (const std::size_t at : {7U, 8U}) {
        report.sites[at].state = diff::Site::State::Different;
        report.sites[at].sumSquares = 1e-6;
        report.sites[at].referenceSquares = 1;
        report.sites[at].elements = report.sites[at].finite = 4;
    }
    report.logits.resize(3);
    report.logits[2].compared = true;
    report.logits[2].forwardKl = 3.1e-4;
    report.routerPairs = {{0, 0}};
    report.routes.resize(3);
    for (diff::RouteCell& cell : report.routes)
        cell = {2, 0, true, 0.5F, 0.5F};
    report.routes[2] = {2, 1, false, 0.25F, 0.125F};
}

} // namespace

trace::RunPointer handMadeRun(std::int32_t lastToken)
{
    trace::RunBuilder builder(header(lastToken == 7 ? "ordered" : "native"),
                              lastToken == 7 ? "ref & co.moire" : "target.moire");
    trace::Sample sample;
    sample.id = "s/one";
    sample.category = "maths";
    const std::vector<trace::Token> prompt{
        {4, false, 0, "ab"}, {5, false, 2, " "}, {6, false, 3, "<b>"}};
    const auto index = builder.beginSample(sample, prompt);
    assert(index);
    for (std::uint32_t position = 0; position < 4; ++position) {
        trace::RowBlock rows = block(position);
        rows.topK.ids = {0, 1};
        rows.topK.values = {0, 0};
        rows.topK.logSumExp = {0};
        rows.topK.remainingMass = {0};
        trace::summariseBlock(header(""), rows);
        const auto appended = builder.append(std::move(rows));
        assert(appended);
        (void)appended;
    }
    const auto added = builder.addTokens(*index, {{lastToken, true, 6, "\xff"}});
    const auto ended = builder.endSample(*index, "length", "");
    const auto finished = builder.finish({});
    assert(added && ended && finished);
    return builder.snapshot();
}

diff::Report handMadeReport()
{
    diff::Report report;
    report.verdict = "First divergence: token 2 \xe2\x80\x9c<b>\xe2\x80\x9d, layer 1, out.";
    report.exit = 1;
    report.reference = {"ref & co.moire", header("ordered").environment, 1, 4, 3, true};
    report.target = {"target.moire", header("native").environment, 1, 4, 3, false};
    report.environmentDifferences = {{"numerics.arithmetic", "ordered", "native"}};
    report.alignment.samples = 1;
    report.alignment.rows = 3;
    report.alignment.taps = 3;
    report.alignment.tapsOnlyTarget = {"model.norm.out"};
    report.alignment.rowsNotComparableReference = report.alignment.rowsNotComparableTarget = 1;
    report.alignment.incompleteTarget = true;
    report.alignment.missingTarget = 2;
    report.alignment.remarks = {"The target is incomplete"};
    report.first.bitwise = bitwise();
    report.first.experts = experts();
    report.cause = "The accumulation order differs | it is <introduced> at one op.";
    report.causeFindings = {{"inputs",
                             "The runs differ in *numerics.arithmetic*.",
                             {"ordered in the reference", "native"}},
                            {"introduced", "Introduced at one op.", {}}};
    report.toleranceProfile = "strict";
    report.tolerance = {
        {"model.layers.*", "ulp<=2", 6, 1, 0, 16217.0, "s/one/2/model.layers.1.out/1"},
        {"*", "bitwise", 3, 0, 2, std::nullopt, {}},
        {"*.mlp.gate.out", "routes>=1", 0, 0, 0, std::nullopt, {}}};
    report.measures = overall();
    report.taps.resize(3);
    const auto names = header("").taps;
    for (std::size_t i = 0; i < names.size(); ++i) {
        diff::TapReport& tap = report.taps[i];
        tap.name = names[i].name;
        tap.layer = names[i].layer;
        tap.kind = names[i].kind;
        tap.rows = 3;
        tap.elements = std::uint64_t{3} * names[i].width;
        tap.measures = {measure("A1", "equal bits", "A", "%", i == 0 ? 100 : 75, tap.elements),
                        measure("B4", "relative L2", "B", "",
                                i == 0 ? 0 : 0.001 * static_cast<double>(i), tap.elements)};
    }
    diff::SampleReport sample;
    sample.id = "s/one";
    sample.category = "maths";
    sample.rowsCompared = 3;
    sample.firstBitwise = 2;
    sample.split = 3;
    sample.notComparable = 2;
    sample.repeat = 1;
    sample.blocks = {{0, 0, 3, 3}, {9, 8, 10, 10}};
    sample.measures = {measure("C1", "forward KL", "C", "nats", 3.1e-4, 3)};
    report.samples = {sample};
    fillGrid(report);
    return report;
}

diff::Report equalReport()
{
    diff::Report report = handMadeReport();
    report.verdict = "Bitwise equal: 3 rows × 3 taps.";
    report.exit = 0;
    report.environmentDifferences.clear();
    report.alignment = {};
    report.alignment.samples = 1;
    report.alignment.rows = report.alignment.taps = 3;
    report.target.complete = true;
    report.first = {};
    report.cause.clear();
    report.causeFindings.clear();
    report.toleranceProfile.clear();
    report.tolerance.clear();
    for (diff::Site& site : report.sites)
        site = {diff::Site::State::Equal, true};
    report.routerPairs.clear();
    report.routes.clear();
    report.measures = {measure("A1", "equal bits", "A", "%", 100, 24)};
    for (diff::TapReport& tap : report.taps)
        tap.measures = {measure("A1", "equal bits", "A", "%", 100, tap.elements)};
    report.samples[0].firstBitwise.reset();
    report.samples[0].split.reset();
    report.samples[0].notComparable = 0;
    return report;
}

} // namespace moire::report::test
