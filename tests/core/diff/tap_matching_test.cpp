// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tap_mapping.h"
#include "core/diff/tap_matching.h"
#include "core/diff/tap_names.h"
#include "core/diff/tap_spelling.h"
#include "tests/core/diff/compared.h"

#include <QtTest>

using namespace moire;
using namespace moire::diff;
using namespace moire::diff::test;

namespace {

/// q of 4, k and v of 2 elements; two key-value heads.
const char* separate = "env model.key_value_heads 2\n"
                       "tap model.layers.0.input_layernorm.out norm 0 fp32 2 complete\n"
                       "tap model.layers.0.self_attn.q_proj.out projection 0 fp32 4 in "
                       "model.layers.0.input_layernorm.out complete\n"
                       "tap model.layers.0.self_attn.k_proj.out projection 0 fp32 2 in "
                       "model.layers.0.input_layernorm.out complete\n"
                       "tap model.layers.0.self_attn.v_proj.out projection 0 fp32 2 in "
                       "model.layers.0.input_layernorm.out complete\n"
                       "sample x : 1\nrow 0 : 9 9 ; 1 2 3 4 ; 5 6 ; 7 8";

PlainRun fused(const std::string& norm, const std::string& name, const std::string& values)
{
    return textRun("tap " + norm + " norm 0 fp32 2 complete\ntap " + name
                   + " projection 0 fp32 8 in " + norm + " complete\nsample x : 1\nrow 0 : 9 9 ; "
                   + values);
}

std::string pairsOf(const Report& report)
{
    std::string text;
    for (const TapPair& pair : report.tapPairs)
        text += std::to_string(indexOf(pair.reference)) + '+' + std::to_string(pair.referenceOffset)
                + '/' + std::to_string(indexOf(pair.target)) + '+'
                + std::to_string(pair.targetOffset) + ':' + std::to_string(pair.width) + ' ';
    return text;
}

ComparisonOptions plain()
{
    ComparisonOptions options;
    options.resamples = 0;
    return options;
}

Result<TapMapping> mappingOf(const std::string& text)
{
    return TapMapping::parse(text, "map.toml");
}

std::string refusal(const std::string& text, const PlainRun& reference, const PlainRun& target)
{
    auto mapping = mappingOf(text);
    if (!mapping)
        return mapping.error().text();
    AlignmentOptions options;
    options.mapping = std::make_shared<const TapMapping>(std::move(*mapping));
    const auto aligned = align(*reference.build(), *target.build(), options);
    return aligned ? std::string() : aligned.error().text();
}

} // namespace

class TapMatchingTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void whatPeopleLeaveOut();
    void names_data();
    void names();
    void fusedProjections();
    void fusedReference();
    void groupedByHead();
    void notFused();
    void engines();
    void userMapping();
    void stars();
    void mistakes_data();
    void mistakes();
    void roundTrip();
};

void TapMatchingTest::whatPeopleLeaveOut()
{
    const std::vector<std::string> taps{"model.layers.0.mlp.out",  "model.layers.0.down.in",
                                        "model.layers.0.down.out", "lm_head.out",
                                        "model.lm_head.out",       "odd"};
    const auto exists = [&taps](const std::string& name) {
        return std::find(taps.begin(), taps.end(), name) != taps.end();
    };
    QCOMPARE(spelledOut("layers.0.mlp", exists).value_or(""), taps[0]);
    QCOMPARE(spelledOut("model.layers.0.mlp", exists).value_or(""), taps[0]);
    QCOMPARE(spelledOut("layers.0.down.in", exists).value_or(""), taps[1]);
    QVERIFY(!spelledOut("layers.0.down", exists)); // its input or its output?
    QCOMPARE(spelledOut("lm_head", exists).value_or(""), taps[3]);
    QCOMPARE(spelledOut("odd", exists).value_or(""), taps[5]);
    QVERIFY(!spelledOut("even", exists));
}

void TapMatchingTest::names_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("hub");
    const char* q = "model.layers.3.self_attn.q_proj.out";
    QTest::newRow("own") << q << q;
    QTest::newRow("input") << "model.layers.3.mlp.down_proj.in"
                           << "model.layers.3.mlp.down_proj.in";
    QTest::newRow("GGUF") << "blk.3.attn_q" << q;
    QTest::newRow("GGUF weight") << "blk.12.attn_output.weight"
                                 << "model.layers.12.self_attn.o_proj.out";
    QTest::newRow("GGUF head") << "output.weight"
                               << "lm_head.out";
    QTest::newRow("graph") << "l_out-7"
                           << "model.layers.7.out";
    QTest::newRow("graph head") << "result_output"
                                << "lm_head.out";
    QTest::newRow("Megatron") << "module.module.decoder.layers.0.mlp.linear_fc2"
                              << "model.layers.0.mlp.down_proj.out";
    QTest::newRow("Megatron router") << "decoder.layers.2.mlp.router"
                                     << "model.layers.2.mlp.gate.out";
    QTest::newRow("SGLang") << "non_intrusive__model.layers.3.self_attn.q_proj.output.0" << q;
    QTest::newRow("SGLang input") << "non_intrusive__model.layers.3.mlp.down_proj.inputs.0"
                                  << "model.layers.3.mlp.down_proj.in";
    QTest::newRow("vLLM head") << "logits_processor.output"
                               << "lm_head.out";
    QTest::newRow("vLLM attention") << "model.layers.3.self_attn.attn.output"
                                    << "model.layers.3.self_attn.o_proj.in";
    QTest::newRow("half a residual stream") << "non_intrusive__model.layers.3.output.0"
                                            << "";
    QTest::newRow("the other half") << "non_intrusive__model.layers.3.output.1"
                                    << "";
    QTest::newRow("no layer") << "blk.x.attn_q"
                              << "blk.x.attn_q.out";
}

void TapMatchingTest::names()
{
    QFETCH(QString, name);
    QTEST(QString::fromStdString(hubName(name.toStdString()).value_or("")), "hub");
}

void TapMatchingTest::fusedProjections()
{
    const PlainRun reference = textRun(separate);
    const char* norm = "model.layers.0.input_layernorm.out";
    const char* qkv = "model.layers.0.self_attn.qkv_proj.out";
    Report report = compared(reference, fused(norm, qkv, "1 2 3 4 5 6 7 8"), 1, plain());
    QCOMPARE(pairsOf(report), std::string("0+0/0+0:2 1+0/1+0:4 2+0/1+4:2 3+0/1+6:2 "));
    QVERIFY(report.alignment.tapsOnlyReference.empty());
    QVERIFY(report.alignment.tapsOnlyTarget.empty());
    QCOMPARE(report.exit, 0);
    QCOMPARE(report.alignment.remarks,
             (std::vector<std::string>{"3 taps are compared under another name "
                                       "(model.layers.0.self_attn.q_proj.out of the reference is "
                                       "model.layers.0.self_attn.qkv_proj.out of the target)"}));

    // One element of k: the first site is k's, with the element's number in k.
    report = compared(reference, fused(norm, qkv, "1 2 3 4 5 6.5 7 8"), 1, plain());
    QCOMPARE(report.first.bitwise->tap, std::string("model.layers.0.self_attn.k_proj.out"));
    QCOMPARE(*report.first.bitwise->element, 1U);
    QCOMPARE(*report.first.bitwise->targetValue, 6.5);
    QVERIFY(report.first.bitwise->origin == Origin::Introduced);
    QCOMPARE(report.sites[2].unequal, 1U);
    QCOMPARE(report.sites[1].unequal, 0U);
}

void TapMatchingTest::fusedReference()
{
    const PlainRun target = textRun(separate);
    const PlainRun reference = fused("model.layers.0.input_layernorm.out",
                                     "model.layers.0.self_attn.qkv_proj.out", "1 2 3 4 5 6 7.5 8");
    const Report report = compared(reference, target, 1, plain());
    QCOMPARE(pairsOf(report), std::string("0+0/0+0:2 1+0/1+0:4 1+4/2+0:2 1+6/3+0:2 "));
    QCOMPARE(report.first.bitwise->tap, std::string("model.layers.0.self_attn.qkv_proj.out"));
    QCOMPARE(*report.first.bitwise->element, 6U);
    QCOMPARE(*report.first.bitwise->referenceValue, 7.5);
    QCOMPARE(*report.first.bitwise->targetValue, 7.0);
}

void TapMatchingTest::groupedByHead()
{
    // Megatron: for each key-value head two queries, one key, one value.
    const PlainRun target =
        fused("decoder.layers.0.input_layernorm", "decoder.layers.0.self_attention.linear_qkv",
              "1 2 5 7 3 4 6 8.5");
    const Report report = compared(textRun(separate), target, 1, plain());
    QCOMPARE(pairsOf(report),
             std::string("0+0/0+0:2 1+0/1+0:2 1+2/1+4:2 2+0/1+2:1 2+1/1+6:1 3+0/1+3:1 3+1/1+7:1 "));
    QCOMPARE(report.first.bitwise->tap, std::string("model.layers.0.self_attn.v_proj.out"));
    QCOMPARE(*report.first.bitwise->element, 1U);
}

void TapMatchingTest::notFused()
{
    // Without the number of heads the grouping is not known, and widths have to add up.
    PlainRun reference = textRun(separate);
    reference.header.environment = {};
    const PlainRun grouped = fused("decoder.layers.0.input_layernorm",
                                   "decoder.layers.0.self_attention.linear_qkv", "1 2 5 7 3 4 6 8");
    Report report = compared(reference, grouped, 1, plain());
    QCOMPARE(pairsOf(report), std::string("0+0/0+0:2 "));
    QCOMPARE(report.alignment.tapsOnlyTarget,
             std::vector<std::string>{"decoder.layers.0.self_attention.linear_qkv"});
    QCOMPARE(report.alignment.tapsOnlyReference.size(), std::size_t{3});
    QCOMPARE(report.exit, 1);
}

void TapMatchingTest::engines()
{
    const PlainRun reference =
        textRun("tap model.layers.0.mlp.gate_proj.out projection 0 fp32 1\n"
                "tap model.layers.0.mlp.up_proj.out projection 0 fp32 1\n"
                "tap model.layers.0.mlp.act_fn.out activation 0 fp32 1\n"
                "tap model.layers.0.mlp.down_proj.in projection_input 0 fp32 1\n"
                "tap lm_head.out head -1 fp32 3\nlogits 3 2\n"
                "sample x : 1\nrow 0 : 1 ; 2 ; 3 ; 4 ; 1 2 3");
    const PlainRun target = textRun("tap model.layers.0.mlp.gate_up_proj.out projection 0 fp32 2\n"
                                    "tap model.layers.0.mlp.act_fn.out activation 0 fp32 1\n"
                                    "tap logits_processor head -1 fp32 3\n"
                                    "sample x : 1\nrow 0 : 1 2 ; 4 ; 1 2 3");
    const Report report = compared(reference, target, 1, plain());
    // The activation of joined modules is multiplied already: what down_proj reads.
    QCOMPARE(pairsOf(report), std::string("0+0/0+0:1 1+0/0+1:1 3+0/1+0:1 4+0/2+0:3 "));
    QCOMPARE(report.alignment.tapsOnlyReference,
             std::vector<std::string>{"model.layers.0.mlp.act_fn.out"});
    QVERIFY(!report.first.bitwise);
    QCOMPARE(*report.findMeasure("E1")->value, 100.0);
}

void TapMatchingTest::userMapping()
{
    const PlainRun reference = textRun("tap a.0.x other 0 fp32 2\ntap a.1.x other 0 fp32 2\n"
                                       "sample s : 1\nrow 0 : 1 2 ; 3 4");
    const PlainRun target = textRun("tap b.0.y other 0 fp32 2\ntap b.1.y other 0 fp32 3\n"
                                    "sample s : 1\nrow 0 : 1 2 ; 9 3 5");
    auto mapping = mappingOf("[[map]]\nreference = \"a.1.x[0:2]\"\ntarget = \"b.1.y[1:3]\"\n"
                             "[[map]]\nreference = \"a.0.*\"\ntarget = \"b.0.*\"\n");
    QVERIFY(mapping);
    QCOMPARE(refusal("[[map]]\nreference = \"a.*.x\"\ntarget = \"b.*.y\"\n", reference, target),
             std::string("map.toml, line 1: a.1.x would be compared over 2 elements with 3 of "
                         "b.1.y."));
    auto star = mappingOf("[[map]]\nreference = \"a.0.x\"\ntarget = \"b.0.y\"\n"
                          "[[map]]\nreference = \"a.1.x\"\ntarget = \"b.1.y[1:3]\"\n");
    QVERIFY(star);
    AlignmentOptions options;
    options.mapping = std::make_shared<const TapMapping>(std::move(*star));
    const Report report = compared(reference, target, 1, plain(), options);
    QCOMPARE(pairsOf(report), std::string("0+0/0+0:2 1+0/1+1:2 "));
    QCOMPARE(*report.first.bitwise->element, 1U);
    QCOMPARE(*report.first.bitwise->targetValue, 5.0);
}

void TapMatchingTest::stars()
{
    QCOMPARE(*starsOf("a.*.x", "a.12.x"), std::vector<std::string>{"12"});
    QCOMPARE(*starsOf("*.*", "a.b.c"), (std::vector<std::string>{"a", "b.c"}));
    QCOMPARE(*starsOf("a", "a"), std::vector<std::string>{});
    QVERIFY(!starsOf("a.*.x", "a.12.y"));
}

void TapMatchingTest::mistakes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("sentence");
    const auto entry = [](const char* reference, const char* target) {
        return QString("[[map]]\nreference = \"%1\"\ntarget = \"%2\"\n").arg(reference, target);
    };
    QTest::newRow("empty") << ""
                           << "map.toml: a mapping needs [[map]] tables";
    QTest::newRow("key") << "[[map]]\nreferense = \"a\"\n"
                         << "map.toml, line 2: the key “referense” is unknown";
    QTest::newRow("no target") << "[[map]]\nreference = \"a\"\n"
                               << "map.toml, line 1: a [[map]] needs “target”";
    QTest::newRow("slice") << entry("a[3:1]", "b")
                           << "map.toml, line 2: “reference”: what stands in brackets is no slice";
    QTest::newRow("two to one") << entry("a", "c") + entry("b", "c")
                                << "map.toml, line 4: maps two taps to one: “c” stands for “a” in "
                                   "line 1 already";
    QTest::newRow("overlapping") << entry("a", "c[0:2]") + entry("b", "c[1:3]")
                                 << "maps two taps to one";
    QTest::newRow("one to two") << entry("a", "c") + entry("a", "d") << "maps one tap to two";
    QTest::newRow("many to one") << entry("a.*", "c") << "many taps like “a.*” would stand for one";
    QTest::newRow("stars") << entry("a", "c.*") << "“target” has more '*' than “reference”";
    QTest::newRow("no tap") << entry("nowhere", "a.out")
                            << "map.toml, line 1: no tap of the reference";
    QTest::newRow("beyond") << entry("a.out[0:9]", "b.out")
                            << "map.toml, line 1: the slice ends at 9, and a.out has 2 elements";
    QTest::newRow("two to one by stars") << entry("a.out", "b.out") + entry("b.*", "b.*")
                                         << "map.toml, line 4: maps two taps to one";
}

void TapMatchingTest::mistakes()
{
    QFETCH(QString, text);
    QFETCH(QString, sentence);
    const PlainRun run = textRun("tap a.out other 0 fp32 2\ntap b.out other 0 fp32 2\n"
                                 "sample s : 1\nrow 0 : 1 2 ; 3 4");
    const std::string refused = refusal(text.toStdString(), run, run);
    QVERIFY2(refused.find(sentence.toStdString()) != std::string::npos, refused.c_str());
}

void TapMatchingTest::roundTrip()
{
    TapMapping mapping;
    mapping.add({"a \"quoted\".out", "b.out", std::nullopt, Slice{0, 4}, 0});
    mapping.add({"c.*.out", "d.*.out", std::nullopt, std::nullopt, 0});
    const auto read = mappingOf(mapping.text());
    QVERIFY(read);
    QCOMPARE(read->text(), mapping.text());
    QCOMPARE(read->entries()[0].reference, std::string("a \"quoted\".out"));
    QCOMPARE(read->entries()[0].targetSlice->end, 4U);
}

QTEST_APPLESS_MAIN(TapMatchingTest)
#include "tap_matching_test.moc"
