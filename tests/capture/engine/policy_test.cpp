// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/policy.h"
#include "capture/engine/policy_modules.h"
#include "capture/engine/tap_plan.h"

#include <QTest>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

using namespace moire;
using namespace moire::capture;
using numeric::DType;

/// The dtypes of POLICIES.md, module by module and tap by tap.
class PolicyTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void words_data();
    void words();
    void everyTapHasAModule_data();
    void everyTapHasAModule();
    void namesOfParts();
    void refusedWords_data();
    void refusedWords();
    void rulesInOrder();
    void refusedRules();
    void residualStream();
    void mixtures();
    void promotion();
};

namespace {

ModelPlan dense()
{
    ModelPlan plan;
    plan.hidden = 64;
    plan.heads = 4;
    plan.kvHeads = 2;
    plan.headDim = 16;
    plan.mlpWidth = 96;
    plan.vocabulary = 500;
    plan.dtype = DType::BF16;
    plan.layers.resize(3);
    return plan;
}

ModelPlan sparse()
{
    ModelPlan plan = dense();
    for (LayerPlan& layer : plan.layers)
        layer.sparse = true;
    plan.qkNorm = QkNorm::WholeWidth;
    plan.moe = MoePlan{.experts = 8, .chosen = 2, .expertWidth = 48, .sharedWidth = 24};
    return plan;
}

ModelPlan gpt2()
{
    ModelPlan plan = dense();
    plan.names = NameStyle::Gpt2;
    plan.norm = NormKind::LayerNorm;
    plan.rope.kind = RopeKind::None;
    plan.learnedPositions = plan.fusedQkv = true;
    plan.mlp = MlpKind::Plain;
    return plan;
}

Policy policyOf(const std::string& word, const ModelPlan& plan)
{
    const auto policy = Policy::parse(word, plan);
    if (!policy)
        qFatal("%s", policy.error().text().c_str());
    return *policy;
}

/// The modules that compute in fp32.
std::set<std::string> wideModules(const std::string& word, const ModelPlan& plan)
{
    const Policy policy = policyOf(word, plan);
    std::set<std::string> modules;
    for (const std::string& module : policyModules(plan))
        if (policy.dtypeOf(module) == DType::FP32)
            modules.insert(module);
    return modules;
}

std::string dtypeOfTap(const TapPlan& taps, const std::string& name)
{
    for (const trace::Tap& tap : taps.taps())
        if (tap.name == name)
            return std::string(numeric::nameOf(tap.dtype));
    return "no tap " + name;
}

} // namespace

void PolicyTest::words_data()
{
    QTest::addColumn<QString>("word");
    QTest::addColumn<QString>("module");
    QTest::addColumn<QString>("own"); ///< the model's own dtype
    QTest::addColumn<QString>("weights");
    QTest::addColumn<QString>("compute");
    const auto row = [](const char* word, const char* module, const char* own, const char* weights,
                        const char* compute) {
        QTest::addRow("%s %s of %s", word, module, own)
            << word << module << own << weights << compute;
    };
    const char* up = "model.layers.1.mlp.up_proj";
    const char* q = "model.layers.1.self_attn.q_proj";
    row("", up, "fp16", "fp16", "fp16");
    row("bf16", up, "fp16", "bf16", "bf16");
    row("fp16", q, "bf16", "fp16", "fp16");
    row("fp32", q, "bf16", "fp32", "fp32");
    row("layercast", q, "bf16", "bf16", "fp32");
    row("layercast", "lm_head", "fp16", "fp16", "fp32");
    row("layercast", "lm_head", "fp32", "bf16", "fp32");
    row("nomlp", up, "fp16", "fp16", "fp16");
    row("nomlp", "model.layers.1.mlp.act_fn", "fp32", "bf16", "bf16");
    row("nomlp", q, "bf16", "fp32", "fp32");
    row("selective:mlp", up, "bf16", "fp32", "fp32");
    row("selective:mlp", q, "fp16", "fp16", "fp16");
}

void PolicyTest::words()
{
    QFETCH(QString, word);
    QFETCH(QString, module);
    QFETCH(QString, own);
    QFETCH(QString, weights);
    QFETCH(QString, compute);
    ModelPlan plan = dense();
    plan.dtype = *numeric::dtypeFromName(own.toStdString());
    const Precision found = policyOf(word.toStdString(), plan).precisionOf(module.toStdString());
    QCOMPARE(std::string(numeric::nameOf(found.weights)), weights.toStdString());
    QCOMPARE(std::string(numeric::nameOf(found.compute)), compute.toStdString());
}

void PolicyTest::everyTapHasAModule_data()
{
    QTest::addColumn<int>("model");
    QTest::newRow("dense") << 0;
    QTest::newRow("mixture") << 1;
    QTest::newRow("gpt2") << 2;
}

/// The list of modules is that of the taps, but for sums and what only calls others.
void PolicyTest::everyTapHasAModule()
{
    QFETCH(int, model);
    const ModelPlan plan = model == 0 ? dense() : model == 1 ? sparse() : gpt2();
    const auto modules = policyModules(plan);
    const std::set<std::string> known(modules.begin(), modules.end());
    QCOMPARE(known.size(), modules.size());
    std::set<std::string> tapped;
    const TapPlan taps = TapPlan::of(plan, policyOf("bf16", plan));
    for (const trace::Tap& tap : taps.taps()) {
        std::string name = tap.name;
        for (const char* ending : {".gate_up.slots", ".down.slots", ".out", ".in", ".cos", ".sin"})
            if (name.ends_with(ending)) {
                name.resize(name.size() - std::strlen(ending));
                break;
            }
        if (!name.ends_with("_rope"))
            tapped.insert(name);
    }
    for (const std::string& module : modules)
        QVERIFY2(tapped.contains(module), module.c_str());
    for (const std::string& module : tapped) {
        const bool composed = module.ends_with(".mlp") || module.ends_with(".shared_expert")
                              || module.ends_with(".drop") || std::isdigit(module.back()) != 0;
        const bool norm = module.ends_with("ln_1") || module.ends_with("ln_2");
        QVERIFY2(known.contains(module) != (composed && !norm), module.c_str());
    }
}

void PolicyTest::namesOfParts()
{
    const std::string layer = "model.layers.0.";
    QCOMPARE(wideModules("selective:head", dense()), std::set<std::string>{"lm_head"});
    QCOMPARE(wideModules("selective:embed", dense()), std::set<std::string>{"model.embed_tokens"});
    QCOMPARE(wideModules("selective:embed", gpt2()),
             (std::set<std::string>{"transformer.wte", "transformer.wpe"}));
    QCOMPARE(wideModules("selective:norm", gpt2()).size(), std::size_t{2 * 3 + 1});
    QCOMPARE(wideModules("selective:norm", sparse()).size(), std::size_t{4 * 3 + 1});
    QCOMPARE(wideModules("selective:attn", gpt2()),
             (std::set<std::string>{"transformer.h.0.attn", "transformer.h.0.attn.c_attn",
                                    "transformer.h.0.attn.c_proj", "transformer.h.1.attn",
                                    "transformer.h.1.attn.c_attn", "transformer.h.1.attn.c_proj",
                                    "transformer.h.2.attn", "transformer.h.2.attn.c_attn",
                                    "transformer.h.2.attn.c_proj"}));
    const auto attention = wideModules("selective:attn", sparse());
    QCOMPARE(attention.size(), std::size_t{7 * 3 + 1});
    QVERIFY(attention.contains("model.rotary_emb")
            && attention.contains(layer + "self_attn.q_norm"));
    const auto mlp = wideModules("selective:mlp", sparse());
    QCOMPARE(mlp.size(), std::size_t{6 * 3});
    QVERIFY(!mlp.contains(layer + "mlp.gate"));
    QCOMPARE(wideModules("selective:router", sparse()).size(), std::size_t{3});
    const auto ends = wideModules("selective:first1+last1", dense());
    QVERIFY(ends.contains(layer + "mlp.act_fn") && ends.contains("model.rotary_emb"));
    QVERIFY(ends.contains("model.layers.2.input_layernorm"));
    QCOMPARE(ends.size(), std::size_t{2 * 11 + 1});
    QCOMPARE(policyOf("selective:last2+router+norm+embed", sparse()).name(),
             std::string("selective:norm+router+embed+last2"));
    const auto rules = [](const char* word) { return policyOf(word, sparse()).rulesText(); };
    QCOMPARE(rules("nomlp"), std::string("*.mlp.gate: fp32; *.mlp.*: bf16; *: fp32"));
    QCOMPARE(rules("selective:mlp"), std::string("*.mlp.gate: bf16; *.mlp.*: fp32; *: bf16"));
    QCOMPARE(rules("selective:router"), std::string("*.mlp.gate: fp32; *: bf16"));
    QCOMPARE(rules("selective:router+mlp"), std::string("*.mlp.*: fp32; *: bf16"));
    QCOMPARE(policyOf("nomlp", dense()).rulesText(), std::string("*.mlp.*: bf16; *: fp32"));
    const auto nomlp = wideModules("nomlp", sparse());
    QVERIFY(nomlp.contains(layer + "mlp.gate") && !nomlp.contains(layer + "mlp.experts"));
    QVERIFY(!nomlp.contains(layer + "mlp.shared_expert_gate"));
}

void PolicyTest::refusedWords_data()
{
    QTest::addColumn<QString>("word");
    for (const char* word :
         {"half", "float8", "selective", "selective:", "selective:legs", "selective:norm+",
          "selective:norm+norm", "selective:first", "selective:first0", "selective:last4",
          "selective:first1+first2", "selective:router", "selective:first-1", "FP32"})
        QTest::newRow(word) << word;
}

void PolicyTest::refusedWords()
{
    QFETCH(QString, word);
    const auto policy = Policy::parse(word.toStdString(), dense());
    QVERIFY(!policy);
    QCOMPARE(policy.error().code, Errc::Invalid);
    QVERIFY(!policy.error().hint.empty());
}

void PolicyTest::rulesInOrder()
{
    const Precision half{DType::BF16, DType::BF16};
    const Precision cast{DType::FP16, DType::FP32};
    const PolicyRules rules{
        "mine", "mine.toml", {{"*.1.mlp.*", cast, 1}, {"*.mlp.up_proj", half, 2}, {"*", cast, 3}}};
    const auto policy = Policy::fromRules(rules, dense());
    QVERIFY(policy);
    QCOMPARE(policy->name(), std::string("mine"));
    QCOMPARE(policy->precisionOf("model.layers.1.mlp.up_proj"), cast);
    QCOMPARE(policy->precisionOf("model.layers.0.mlp.up_proj"), half);
    QCOMPARE(policy->precisionOf("lm_head"), cast);
    QCOMPARE(policy->rulesText(),
             std::string("*.1.mlp.*: fp32 with fp16 weights; *.mlp.up_proj: bf16; "
                         "*: fp32 with fp16 weights"));
    QVERIFY(policy->computesIn(DType::BF16) && !policy->computesIn(DType::FP16));
    QVERIFY(cast.held() == DType::FP16 && half.held() == DType::BF16);
    QVERIFY((Precision{DType::FP32, DType::BF16}.held() == DType::BF16));
    QVERIFY((Precision{DType::FP16, DType::BF16}.held() == DType::BF16));
}

void PolicyTest::refusedRules()
{
    const Precision half{DType::BF16, DType::BF16};
    const auto refused = [&](std::vector<PolicyRule> rules) {
        const auto policy = Policy::fromRules({"mine", "mine.toml", std::move(rules)}, dense());
        return policy ? std::string("accepted") : policy.error().text();
    };
    QVERIFY(refused({}).find("does not match every module") != std::string::npos);
    QVERIFY(refused({{"lm_head", half, 4}}).find("mine.toml, line 4") != std::string::npos);
    const std::string unknown = refused({{"*.experts", half, 2}, {"*", half, 5}});
    QVERIFY2(unknown.find("no module of this model matches '*.experts'") != std::string::npos,
             unknown.c_str());
    QVERIFY(unknown.find("line 2") != std::string::npos);
    QVERIFY(refused({{"*", half, 1}, {"lm_head", half, 2}, {"*", half, 3}})
                .find("'lm_head' never counts")
            != std::string::npos);
    QVERIFY(refused({{"model.layers.0", half, 1}, {"*", half, 3}}).find("no module")
            != std::string::npos);
}

/// It widens with the first wide output and does not narrow again.
void PolicyTest::residualStream()
{
    const auto layers = [](const std::string& word, const ModelPlan& plan) {
        const TapPlan taps = TapPlan::of(plan, policyOf(word, plan));
        std::string text;
        for (const char* layer : {"0", "1", "2"})
            text += dtypeOfTap(taps, "model.layers." + std::string(layer) + ".out") + ' ';
        return text;
    };
    QCOMPARE(layers("bf16", dense()), std::string("bf16 bf16 bf16 "));
    QCOMPARE(layers("fp16", dense()), std::string("fp16 fp16 fp16 "));
    QCOMPARE(layers("selective:norm+head", dense()), std::string("bf16 bf16 bf16 "));
    QCOMPARE(layers("selective:last1", dense()), std::string("bf16 bf16 fp32 "));
    QCOMPARE(layers("selective:embed", dense()), std::string("fp32 fp32 fp32 "));
    QCOMPARE(layers("nomlp", dense()), std::string("fp32 fp32 fp32 "));
    ModelPlan behind = dense();
    behind.normPlace = NormPlace::AfterBlocks; // the norms' outputs are added
    QCOMPARE(layers("selective:norm", behind), std::string("fp32 fp32 fp32 "));
    QCOMPARE(layers("selective:attn", behind), std::string("bf16 bf16 bf16 "));
    const TapPlan taps = TapPlan::of(dense(), policyOf("selective:first1", dense()));
    QCOMPARE(dtypeOfTap(taps, "model.rotary_emb.cos"), std::string("fp32"));
    QCOMPARE(dtypeOfTap(taps, "model.layers.0.self_attn.o_proj.in"), std::string("fp32"));
    QCOMPARE(dtypeOfTap(taps, "model.layers.1.self_attn.q_rope.out"), std::string("bf16"));
    QCOMPARE(dtypeOfTap(taps, "model.layers.1.mlp.out"), std::string("bf16"));
}

void PolicyTest::mixtures()
{
    const ModelPlan plan = sparse();
    const TapPlan nomlp = TapPlan::of(plan, policyOf("nomlp", plan));
    QVERIFY(nomlp.routers()[0].logitType == DType::FP32);
    QVERIFY(nomlp.routers()[0].weightType == DType::FP32);
    for (const char* tap : {"experts.gate_up.slots", "experts.down.slots", "experts.out",
                            "shared_expert.down_proj.in", "shared_expert.out", "out"})
        QCOMPARE(dtypeOfTap(nomlp, "model.layers.1.mlp." + std::string(tap)), std::string("bf16"));
    QCOMPARE(dtypeOfTap(nomlp, "model.layers.1.self_attn.k_norm.out"), std::string("fp32"));
    const PolicyRules rules{"mine",
                            "",
                            {{"*.shared_expert.act_fn", {DType::FP32, DType::FP32}, 1},
                             {"*.shared_expert_gate", {DType::FP16, DType::FP16}, 2},
                             {"*", {DType::BF16, DType::BF16}, 3}}};
    const TapPlan mixed = TapPlan::of(plan, *Policy::fromRules(rules, plan));
    QCOMPARE(dtypeOfTap(mixed, "model.layers.1.mlp.shared_expert.down_proj.in"),
             std::string("fp32"));
    QCOMPARE(dtypeOfTap(mixed, "model.layers.1.mlp.shared_expert.out"), std::string("bf16"));
    QCOMPARE(dtypeOfTap(mixed, "model.layers.1.mlp.out"), std::string("fp32"));
}

void PolicyTest::promotion()
{
    QVERIFY(promoted(DType::BF16, DType::BF16) == DType::BF16);
    QVERIFY(promoted(DType::BF16, DType::FP16) == DType::FP32);
    QVERIFY(promoted(DType::FP16, DType::FP32) == DType::FP32);
}

QTEST_APPLESS_MAIN(PolicyTest)
#include "policy_test.moc"
