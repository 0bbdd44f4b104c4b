// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/tap_plan.h"

#include <QTest>

#include <algorithm>

using namespace moire;
using namespace moire::capture;

namespace {

ModelPlan plan(bool sparse)
{
    ModelPlan result;
    result.hidden = 64;
    result.heads = 4;
    result.kvHeads = 2;
    result.headDim = 16;
    result.mlpWidth = 96;
    result.vocabulary = 500;
    result.layers.resize(2, LayerPlan{sparse, 0});
    if (sparse) {
        result.qkNorm = QkNorm::WholeWidth;
        result.moe = MoePlan{.experts = 8, .chosen = 2, .expertWidth = 48};
    }
    return result;
}

TapPlan tapsOf(const ModelPlan& model)
{
    return TapPlan::of(model, *Policy::parse("bf16", model));
}

std::vector<std::string> names(const TapPlan& taps)
{
    std::vector<std::string> result;
    for (const trace::Tap& tap : taps.taps())
        result.push_back(tap.name);
    return result;
}

const trace::Tap& tapOf(const TapPlan& taps, const std::string& name)
{
    const auto all = names(taps);
    const auto place = std::find(all.begin(), all.end(), name);
    Q_ASSERT(place != all.end());
    return taps.taps()[static_cast<std::size_t>(place - all.begin())];
}

std::string inputsOf(const TapPlan& taps, const std::string& name)
{
    std::string text;
    for (const trace::TapIndex input : tapOf(taps, name).inputs)
        text += (text.empty() ? "" : " ") + taps.taps()[trace::indexOf(input)].name;
    return text;
}

} // namespace

class TapPlanTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void denseNamesInExecutionOrder();
    void sparseTaps();
    void sharedExpertTaps();
    void normsBehindTheBlocks();
    void gpt2Names();
    void inputsFormTheGraph();
    void traits();
    void selection();
    void selectionDropsInputs();
    void patternWithoutMatch();
    void policies();
};

void TapPlanTest::denseNamesInExecutionOrder()
{
    const std::string layer = "model.layers.0.";
    const std::vector<std::string> wanted{"model.embed_tokens.out",
                                          "model.rotary_emb.cos",
                                          "model.rotary_emb.sin",
                                          layer + "input_layernorm.out",
                                          layer + "self_attn.q_proj.out",
                                          layer + "self_attn.k_proj.out",
                                          layer + "self_attn.v_proj.out",
                                          layer + "self_attn.q_rope.out",
                                          layer + "self_attn.k_rope.out",
                                          layer + "self_attn.o_proj.in",
                                          layer + "self_attn.o_proj.out",
                                          layer + "self_attn.out",
                                          layer + "post_attention_layernorm.out",
                                          layer + "mlp.gate_proj.out",
                                          layer + "mlp.act_fn.out",
                                          layer + "mlp.up_proj.out",
                                          layer + "mlp.down_proj.in",
                                          layer + "mlp.down_proj.out",
                                          layer + "mlp.out",
                                          "model.layers.0.out"};
    auto all = names(tapsOf(plan(false)));
    QCOMPARE(all.size(), std::size_t{3 + 2 * 17 + 2});
    QCOMPARE(all[all.size() - 2], std::string("model.norm.out"));
    QCOMPARE(all.back(), std::string("lm_head.out"));
    all.resize(wanted.size());
    QCOMPARE(all, wanted);
}

void TapPlanTest::sparseTaps()
{
    const TapPlan taps = tapsOf(plan(true));
    const auto& slots = tapOf(taps, "model.layers.1.mlp.experts.gate_up.slots");
    QCOMPARE(slots.width, 2U * 2U * 48U);
    QCOMPARE(slots.slots, 2U);
    QCOMPARE(tapOf(taps, "model.layers.1.mlp.experts.down.slots").width, 2U * 64U);
    QVERIFY(tapOf(taps, "model.layers.1.mlp.experts.down.slots").tpSensitive);
    QCOMPARE(tapOf(taps, "model.layers.0.mlp.gate.out").width, 8U);
    QCOMPARE(tapOf(taps, "model.layers.0.self_attn.k_norm.out").width, 32U);
    QCOMPARE(taps.routers().size(), std::size_t{2});
    QCOMPARE(taps.routers()[1].module, std::string("model.layers.1.mlp.gate"));
    QCOMPARE(taps.routers()[1].chosen, 2U);
    QVERIFY(taps.routers()[1].weightType == numeric::DType::BF16);
}

/// Shared expert first, then the router, as transformers calls them; layers may be dense.
void TapPlanTest::sharedExpertTaps()
{
    ModelPlan model = plan(true);
    model.qkNorm = QkNorm::None;
    model.moe->sharedWidth = 24;
    model.layers[0].sparse = false;
    const TapPlan taps = tapsOf(model);
    const std::string block = "model.layers.1.mlp.";
    const auto all = names(taps);
    const auto begin = std::find(all.begin(), all.end(), block + "shared_expert.gate_proj.out");
    QVERIFY(begin != all.end());
    const std::vector<std::string> wanted{block + "shared_expert.gate_proj.out",
                                          block + "shared_expert.act_fn.out",
                                          block + "shared_expert.up_proj.out",
                                          block + "shared_expert.down_proj.in",
                                          block + "shared_expert.down_proj.out",
                                          block + "shared_expert.out",
                                          block + "gate.out",
                                          block + "experts.gate_up.slots",
                                          block + "experts.down.slots",
                                          block + "experts.out",
                                          block + "shared_expert_gate.out",
                                          "model.layers.1.mlp.out"};
    QCOMPARE(std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(wanted.size())),
             wanted);
    QCOMPARE(tapOf(taps, block + "shared_expert_gate.out").width, 1U);
    QCOMPARE(inputsOf(taps, "model.layers.1.mlp.out"), block + "experts.out " + block
                                                           + "shared_expert.out " + block
                                                           + "shared_expert_gate.out");
    QVERIFY(std::find(all.begin(), all.end(), "model.layers.0.mlp.gate_proj.out") != all.end());
    QCOMPARE(taps.routers().size(), std::size_t{1});
    QCOMPARE(taps.routers()[0].layer, 1);
}

void TapPlanTest::normsBehindTheBlocks()
{
    ModelPlan model = plan(false);
    model.normPlace = NormPlace::AfterBlocks;
    const TapPlan taps = tapsOf(model);
    const std::string layer = "model.layers.1.";
    QCOMPARE(inputsOf(taps, layer + "self_attn.q_proj.out"), std::string("model.layers.0.out"));
    QCOMPARE(inputsOf(taps, layer + "post_attention_layernorm.out"), layer + "self_attn.out");
    QCOMPARE(inputsOf(taps, layer + "mlp.up_proj.out"),
             "model.layers.0.out " + layer + "post_attention_layernorm.out");
    QCOMPARE(inputsOf(taps, layer + "post_feedforward_layernorm.out"), layer + "mlp.out");
    QCOMPARE(inputsOf(taps, "model.layers.1.out"), "model.layers.0.out " + layer
                                                       + "post_attention_layernorm.out " + layer
                                                       + "post_feedforward_layernorm.out");
}

void TapPlanTest::gpt2Names()
{
    ModelPlan model = plan(false);
    model.names = NameStyle::Gpt2;
    model.kvHeads = model.heads;
    model.rope.kind = RopeKind::None;
    model.learnedPositions = model.fusedQkv = true;
    model.mlp = MlpKind::Plain;
    model.layers.resize(1);
    const TapPlan taps = tapsOf(model);
    const std::string layer = "transformer.h.0.";
    QCOMPARE(names(taps),
             (std::vector<std::string>{
                 "transformer.wte.out", "transformer.wpe.out", "transformer.drop.out",
                 layer + "ln_1.out", layer + "attn.c_attn.out", layer + "attn.c_proj.in",
                 layer + "attn.c_proj.out", layer + "attn.out", layer + "ln_2.out",
                 layer + "mlp.c_fc.out", layer + "mlp.act.out", layer + "mlp.c_proj.in",
                 layer + "mlp.c_proj.out", layer + "mlp.out", "transformer.h.0.out",
                 "transformer.ln_f.out", "lm_head.out"}));
    QCOMPARE(tapOf(taps, layer + "attn.c_attn.out").width, 3U * 64U);
    QCOMPARE(inputsOf(taps, layer + "ln_1.out"), std::string("transformer.drop.out"));
    QCOMPARE(inputsOf(taps, layer + "attn.c_proj.in"), layer + "attn.c_attn.out");
    QCOMPARE(inputsOf(taps, layer + "mlp.c_proj.in"), layer + "mlp.act.out");
}

void TapPlanTest::inputsFormTheGraph()
{
    const TapPlan taps = tapsOf(plan(false));
    QCOMPARE(inputsOf(taps, "model.layers.0.input_layernorm.out"),
             std::string("model.embed_tokens.out"));
    QCOMPARE(inputsOf(taps, "model.layers.1.input_layernorm.out"),
             std::string("model.layers.0.out"));
    QCOMPARE(inputsOf(taps, "model.layers.1.self_attn.o_proj.in"),
             std::string("model.layers.1.self_attn.q_rope.out model.layers.1.self_attn.k_rope.out "
                         "model.layers.1.self_attn.v_proj.out"));
    QCOMPARE(inputsOf(taps, "model.layers.1.post_attention_layernorm.out"),
             std::string("model.layers.0.out model.layers.1.self_attn.out"));
    QCOMPARE(inputsOf(taps, "model.layers.1.out"),
             std::string("model.layers.0.out model.layers.1.self_attn.out model.layers.1.mlp.out"));
    QCOMPARE(inputsOf(taps, "model.norm.out"), std::string("model.layers.1.out"));
    for (std::size_t i = 0; i < taps.taps().size(); ++i)
        for (const trace::TapIndex input : taps.taps()[i].inputs)
            QVERIFY(trace::indexOf(input) < i);
}

void TapPlanTest::traits()
{
    const TapPlan taps = tapsOf(plan(false));
    for (const trace::Tap& tap : taps.taps()) {
        QVERIFY(tap.inputsComplete);
        QVERIFY(tap.dtype == numeric::DType::BF16);
        QCOMPARE(tap.readsEarlierRows, tap.name.ends_with("o_proj.in"));
        QCOMPARE(tap.tpSensitive,
                 tap.name.ends_with("o_proj.out") || tap.name.ends_with("down_proj.out"));
        QCOMPARE(tap.layer == -1, !tap.name.starts_with("model.layers."));
    }
}

void TapPlanTest::selection()
{
    const std::vector<std::string> patterns{"*.mlp.out", "model.layers.1.out"};
    const auto chosen = tapsOf(plan(false)).select(patterns);
    QVERIFY(chosen);
    QCOMPARE(names(*chosen),
             (std::vector<std::string>{"model.layers.0.mlp.out", "model.layers.1.mlp.out",
                                       "model.layers.1.out"}));
    QCOMPARE(trace::indexOf(*chosen->find(Site::Layer, 1)), std::size_t{2});
    QVERIFY(!chosen->find(Site::Layer, 0));
    QVERIFY(!chosen->find(Site::Head, -1));
}

void TapPlanTest::selectionDropsInputs()
{
    const std::vector<std::string> patterns{"model.layers.1.mlp.out", "model.layers.*.out"};
    const auto chosen = tapsOf(plan(false)).select(std::span(patterns).first(1));
    QVERIFY(chosen);
    QVERIFY(chosen->taps()[0].inputs.empty());
    QVERIFY(!chosen->taps()[0].inputsComplete);
}

void TapPlanTest::patternWithoutMatch()
{
    const std::vector<std::string> patterns{"*", "model.layers.7.*"};
    const auto chosen = tapsOf(plan(false)).select(patterns);
    QVERIFY(!chosen);
    QCOMPARE(chosen.error().code, Errc::Invalid);
    QVERIFY(chosen.error().sentence.find("model.layers.7.*") != std::string::npos);
}

void TapPlanTest::policies()
{
    ModelPlan model = plan(false);
    model.dtype = numeric::DType::FP64;
    QCOMPARE(Policy::parse("half", model).error().code, Errc::Invalid);
    QCOMPARE(Policy::parse("", model).error().code, Errc::Unsupported);
    model.dtype = numeric::DType::BF16;
    QCOMPARE(Policy::parse("", model)->name(), std::string("bf16"));
    QVERIFY(Policy::parse("fp32", model)->dtypeOf("lm_head") == numeric::DType::FP32);
}

QTEST_APPLESS_MAIN(TapPlanTest)
#include "tap_plan_test.moc"
