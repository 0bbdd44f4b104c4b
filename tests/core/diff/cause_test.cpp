// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/noise_floor.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

ComparisonOptions plain()
{
    ComparisonOptions options;
    options.resamples = 0;
    return options;
}

/// Adds `difference` to element 0 of a tap in every row of a sample from `position` on.
PlainRun changed(PlainRun run, const std::string& tap, std::uint32_t position = 0,
                 double difference = 0.5)
{
    for (PlainRun::Row& row : run.rows)
        if (row.position >= position)
            row.values[run.tapAt(tap)][0] += difference;
    return run;
}

const CauseFinding* findingOf(const Report& report, const std::string& rule)
{
    for (const CauseFinding& finding : report.causeFindings)
        if (finding.rule == rule)
            return &finding;
    return nullptr;
}

const char* queries = "model.layers.0.self_attn.q_proj.out";

} // namespace

class CauseTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nothingDiffers();
    void inputs();
    void weightsInAnotherType();
    void construction();
    void decodeOnly();
    void oneOperation();
    void severalOperations();
    void tensorParallel();
    void precision();
    void policies();
    void routing();
    void accumulation();
    void noise();
    void selection();
    void unexplained();
};

void CauseTest::nothingDiffers()
{
    const PlainRun run = randomRun(1, 2, 5);
    const Report report = compared(run, run, 1, plain());
    QCOMPARE(report.cause, std::string());
    QVERIFY(report.causeFindings.empty());
}

void CauseTest::inputs()
{
    PlainRun reference = randomRun(1, 2, 5);
    PlainRun target = changed(reference, queries);
    reference.header.environment.set(trace::env::weightDigest, std::string("0x1"));
    target.header.environment.set(trace::env::weightDigest, std::string("0x2"));
    target.tokens[1][2] = {79, false, -1, "other"};
    const Report report = compared(reference, target, 1, plain());
    QCOMPARE(report.cause, std::string("The runs were not given the same: the weights and the "
                                       "prompts differ, so that equal results are not to be "
                                       "expected."));
    QCOMPARE(report.causeFindings[0].rule, std::string("inputs"));
    QCOMPARE(report.causeFindings[0].evidence[0],
             std::string("model.weight_digest: 0x1 in the reference, 0x2 in the target"));
    QCOMPARE(report.causeFindings[0].evidence[1],
             std::string("1 sample with another prompt, first sample s1 at token 2"));
}

void CauseTest::weightsInAnotherType()
{
    PlainRun reference = randomRun(1, 2, 5);
    PlainRun target = changed(reference, queries);
    const auto set = [&](std::string_view key, const std::string& ours, const std::string& theirs) {
        reference.header.environment.set(key, ours);
        target.header.environment.set(key, theirs);
    };
    set(trace::env::weightDigest, "0x1", "0x2");
    set("model.weight_dtype", "fp32", "bf16");
    const Report unknown = compared(reference, target, 1, plain());
    QCOMPARE(unknown.alignment.remarks.front(),
             std::string("Weights are stored as fp32 in the reference, bf16 in the target; whether "
                         "their values are the same is not recorded"));
    QCOMPARE(unknown.causeFindings[0].rule, std::string("inputs"));
    set("model.weight_values", "0x3", "0x3");
    const Report same = compared(reference, target, 1, plain());
    QCOMPARE(same.alignment.remarks.front(),
             std::string("The weights have the same values and are stored as fp32 in the "
                         "reference, bf16 in the target"));
    QVERIFY(same.causeFindings[0].rule != "inputs");
    set("model.weight_values", "0x3", "0x4");
    const Report other = compared(reference, target, 1, plain());
    QCOMPARE(other.alignment.remarks.front(),
             std::string("Weights differ: 0x1 in the reference, 0x2 in the target"));
    QCOMPARE(other.causeFindings[0].rule, std::string("inputs"));
}

void CauseTest::construction()
{
    const PlainRun reference = randomRun(1, 2, 5);
    PlainRun target = changed(reference, queries, 3);
    for (PlainRun::Row& row : target.rows)
        if (row.position >= 3)
            row.construction = trace::Construction::Steps;
    const Report report = compared(reference, target, 1, plain());
    QCOMPARE(report.causeFindings[0].rule, std::string("construction"));
    QCOMPARE(report.cause,
             std::string("The reference computed the row in one pass over all tokens, the target "
                         "token by token from the cache: the gap is between prefill and decode "
                         "before it is one between the runs."));
}

void CauseTest::decodeOnly()
{
    const PlainRun reference = randomRun(1, 2, 6);
    const Report report = compared(reference, changed(reference, queries, 4), 1, plain());
    const CauseFinding* finding = findingOf(report, "construction");
    QVERIFY(finding != nullptr);
    QCOMPARE(finding->sentence,
             std::string("Every prefill row is equal; the difference begins in decode"));
    QCOMPARE(finding->evidence[0], std::string("0 prefill rows of 8 and 4 later rows of 4 differ"));
    QCOMPARE(report.causeFindings[0].rule, std::string("unexplained")); // that alone is no cause
}

void CauseTest::oneOperation()
{
    const PlainRun reference = randomRun(1, 3, 5);
    const Report report = compared(reference, changed(reference, queries), 1, plain());
    const CauseFinding* finding = findingOf(report, "introduced");
    QVERIFY(finding != nullptr);
    QCOMPARE(finding->sentence,
             std::string("One operation gives other results from equal inputs: self_attn.q_proj"));
    QCOMPARE(finding->evidence,
             std::vector<std::string>{"self_attn.q_proj: introduced at 3 sites, first "
                                      "s0/0/model.layers.0.self_attn.q_proj.out"});
}

void CauseTest::severalOperations()
{
    const PlainRun reference = randomRun(1, 2, 5);
    const PlainRun target =
        changed(changed(reference, queries), "model.layers.0.self_attn.v_proj.out");
    const CauseFinding* finding = nullptr;
    const Report report = compared(reference, target, 1, plain());
    finding = findingOf(report, "introduced");
    QVERIFY(finding != nullptr);
    QCOMPARE(finding->sentence, std::string("2 operations give other results from equal inputs, "
                                            "first self_attn.q_proj"));
}

void CauseTest::tensorParallel()
{
    PlainRun reference = randomRun(1, 2, 5);
    reference.header.taps[reference.tapAt(queries)].tpSensitive = true;
    PlainRun target = changed(reference, queries);
    reference.header.environment.set(trace::env::tpSize, std::int64_t{1});
    target.header.environment.set(trace::env::tpSize, std::int64_t{4});
    const Report report = compared(reference, target, 1, plain());
    QCOMPARE(report.cause, std::string("self_attn.q_proj is summed over ranks, and the runs sum "
                                       "differently (size 1 against 4)."));
    target.header.taps[target.tapAt(queries)].tpSensitive = false;
    reference.header.taps[reference.tapAt(queries)].tpSensitive = false;
    QVERIFY(findingOf(compared(reference, target, 1, plain()), "tensor-parallel") == nullptr);
    // A tap whose inputs were not recorded, and nothing else that differs.
    for (PlainRun* run : {&reference, &target})
        run->header.taps[run->tapAt(queries)].inputsComplete = false;
    QCOMPARE(compared(reference, target, 1, plain()).cause,
             std::string("The runs differ only in how they sum over ranks (size 1 against 4); the "
                         "sum where that begins was not recorded."));
    target.header.environment.set(trace::env::threads, std::int64_t{3});
    reference.header.environment.set(trace::env::threads, std::int64_t{1});
    QVERIFY(findingOf(compared(reference, target, 1, plain()), "tensor-parallel") == nullptr);
}

void CauseTest::precision()
{
    const PlainRun reference = randomRun(1, 2, 5, numeric::DType::FP32);
    PlainRun target = randomRun(1, 2, 5, numeric::DType::BF16); // the same draws, rounded
    const Report report = compared(reference, target, 1, plain());
    QCOMPARE(report.causeFindings[0].rule, std::string("precision"));
    QCOMPARE(report.cause, std::string("model.embed_tokens is computed in another precision (fp32 "
                                       "against bf16)."));
}

/// Mixed policies are named whether or not the first difference shows in a dtype.
void CauseTest::policies()
{
    const auto causeOf = [](const PlainRun& reference, const PlainRun& target) {
        return compared(reference, target, 1, plain()).cause;
    };
    const auto set = [](PlainRun& run, const std::string& policy, const std::string& rules) {
        run.header.environment.set(trace::env::policy, policy);
        run.header.environment.set("numerics.policy_rules", rules);
    };
    PlainRun reference = randomRun(1, 2, 5, numeric::DType::FP32);
    PlainRun narrow = randomRun(1, 2, 5, numeric::DType::BF16);
    set(reference, "layercast", "*: fp32 with bf16 weights");
    set(narrow, "bf16", "*: bf16");
    QCOMPARE(causeOf(reference, narrow),
             std::string("model.embed_tokens is computed in another precision (fp32 against bf16, "
                         "policy layercast against bf16)."));
    PlainRun target = changed(reference, queries);
    set(target, "fp32", "*: fp32");
    QCOMPARE(causeOf(reference, target),
             std::string("self_attn.q_proj is computed in another precision (policy layercast "
                         "against fp32)."));
    set(target, "layercast", "*: fp32 with fp16 weights");
    QCOMPARE(causeOf(reference, target),
             std::string("self_attn.q_proj is computed in another precision (other rules of policy "
                         "layercast)."));
}

void CauseTest::routing()
{
    const PlainRun reference = randomRun(1, 2, 5);
    PlainRun target = reference;
    PlainRun::Row& row = target.rowAt(1, 3);
    row.routing[0].ids = {(row.routing[0].ids[0] + 1) % 8, (row.routing[0].ids[0] + 3) % 8};
    row.values[target.tapAt("model.layers.0.mlp.gate.out")][0] += 2;
    row.values[target.tapAt(trace::headTapName)][4] += 9;
    target.rowAt(0, 1).values[target.tapAt(trace::headTapName)][4] += 1;
    const Report report = compared(reference, target, 1, plain());
    const CauseFinding* finding = findingOf(report, "routing");
    QVERIFY(finding != nullptr);
    QCOMPARE(report.causeFindings[0].rule, std::string("routing"));
    QVERIFY2(finding->sentence.starts_with("Routing changed on 1 row, which carries 9"),
             finding->sentence.c_str());
    QVERIFY2(finding->evidence[0].starts_with(
                 "1 row of 10 took other experts, first at s1/3/model.layers.0.mlp.gate.out, where "
                 "the margin was "),
             finding->evidence[0].c_str());
    QCOMPARE(report.first.experts->position, 3U);
    QCOMPARE(report.first.experts->layer, 0);
    // Rows that took other experts and are no worse than the others explain nothing.
    target.rowAt(0, 1).values[target.tapAt(trace::headTapName)][4] += 8;
    const Report alike = compared(reference, target, 1, plain());
    QVERIFY(findingOf(alike, "routing") != nullptr);
    QVERIFY(alike.causeFindings[0].rule != "routing");
}

void CauseTest::accumulation()
{
    PlainRun reference = randomRun(1, 2, 5);
    PlainRun target = changed(reference, queries);
    reference.header.environment.set(trace::env::arithmetic, std::string("ordered"));
    target.header.environment.set(trace::env::arithmetic, std::string("native"));
    QCOMPARE(compared(reference, target, 1, plain()).cause,
             std::string("self_attn.q_proj multiplies matrices, and the runs add up the products "
                         "differently (ordered against native)."));
    target = changed(reference, "model.layers.0.input_layernorm.out");
    target.header.environment.set(trace::env::arithmetic, std::string("native"));
    QCOMPARE(compared(reference, target, 1, plain()).cause,
             std::string("input_layernorm adds up squares, and the runs do so differently (ordered "
                         "against native)."));
    target = changed(reference, "model.embed_tokens.out"); // a look-up adds up nothing
    target.header.environment.set(trace::env::arithmetic, std::string("native"));
    QVERIFY(findingOf(compared(reference, target, 1, plain()), "accumulation") == nullptr);
}

void CauseTest::noise()
{
    const PlainRun reference = randomRun(1, 2, 5);
    const PlainRun target = changed(reference, queries, 2, 0.25);
    ComparisonOptions options = plain();
    options.floor = std::make_shared<const NoiseFloor>(
        NoiseFloor::of(compared(reference, changed(reference, queries, 1, 0.5))));
    QCOMPARE(compared(reference, target, 1, options).cause,
             std::string("No site differs by more than two repeats of the reference do: the "
                         "difference is noise."));
    options.floor =
        std::make_shared<const NoiseFloor>(NoiseFloor::of(compared(reference, reference)));
    const Report report = compared(reference, target, 1, options);
    QCOMPARE(report.causeFindings[0].rule, std::string("unexplained"));
    QVERIFY(findingOf(report, "noise floor") != nullptr);
}

void CauseTest::selection()
{
    const PlainRun reference = randomRun(1, 1, 5);
    PlainRun target = reference;
    target.tokens[0][4].id += 1;
    const Report report = compared(reference, target, 1, plain());
    QCOMPARE(report.causeFindings[0].rule, std::string("selection"));
}

void CauseTest::unexplained()
{
    PlainRun reference = randomRun(1, 2, 5);
    PlainRun target = changed(reference, "model.layers.0.input_layernorm.out");
    reference.header.environment.set(trace::env::device, std::string("H100"));
    target.header.environment.set(trace::env::device, std::string("MI300X"));
    QCOMPARE(compared(reference, target, 1, plain()).cause,
             std::string("The captures do not explain the difference that begins at "
                         "input_layernorm; the environments differ in device.name."));
}

QTEST_APPLESS_MAIN(CauseTest)
#include "cause_test.moc"
