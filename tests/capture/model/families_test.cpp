// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/checkpoint.h"
#include "capture/model/config.h"
#include "capture/model/families.h"
#include "capture/model/module_names.h"
#include "tests/capture/model/small_checkpoint.h"

#include <QtTest>

#include <cstdlib>

using namespace moire;
using namespace moire::capture;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A fixture of tests/data/models and the keys without which no plan can be made of it.
struct Required
{
    const char* model;
    std::vector<std::string> keys;
};

const std::vector<std::string> common{"architectures",       "vocab_size",
                                      "hidden_size",         "num_hidden_layers",
                                      "num_attention_heads", "max_position_embeddings"};

std::vector<std::string> with(std::vector<std::string> more)
{
    more.insert(more.end(), common.begin(), common.end());
    return more;
}

const std::vector<Required> families{
    {"llama_small", with({"rms_norm_eps", "intermediate_size"})},
    {"olmoe_small",
     with({"rms_norm_eps", "intermediate_size", "num_experts", "num_experts_per_tok"})},
    {"mistral", with({"rms_norm_eps", "intermediate_size"})},
    {"qwen2", with({"rms_norm_eps", "intermediate_size", "sliding_window"})},
    {"qwen3", with({"rms_norm_eps", "intermediate_size", "sliding_window"})},
    {"olmo", with({"intermediate_size"})},
    {"olmo2", with({"rms_norm_eps", "intermediate_size"})},
    {"qwen2_moe", with({"rms_norm_eps", "intermediate_size", "moe_intermediate_size",
                        "shared_expert_intermediate_size", "num_experts", "num_experts_per_tok"})},
    {"qwen3_moe", with({"rms_norm_eps", "intermediate_size", "moe_intermediate_size", "num_experts",
                        "num_experts_per_tok"})},
    {"mixtral",
     with({"rms_norm_eps", "intermediate_size", "num_local_experts", "num_experts_per_tok"})},
    {"gpt2",
     {"architectures", "vocab_size", "n_embd", "n_layer", "n_head", "n_positions",
      "layer_norm_epsilon"}},
    {"jais2", with({"layer_norm_eps", "intermediate_size"})},
};

/// Keys that a plan reads where they are there, whatever the family calls them; wrong types of
/// these are refused as well.
const std::vector<std::string> optional{"num_key_value_heads",
                                        "head_dim",
                                        "hidden_act",
                                        "activation_function",
                                        "attention_bias",
                                        "mlp_bias",
                                        "tie_word_embeddings",
                                        "rope_theta",
                                        "rope_scaling",
                                        "rope_parameters",
                                        "torch_dtype",
                                        "dtype",
                                        "eos_token_id",
                                        "clip_qkv",
                                        "norm_topk_prob",
                                        "use_sliding_window",
                                        "max_window_layers",
                                        "layer_types",
                                        "mlp_only_layers",
                                        "decoder_sparse_step",
                                        "qkv_bias",
                                        "n_inner",
                                        "scale_attn_weights",
                                        "scale_attn_by_inverse_layer_idx",
                                        "reorder_and_upcast_attn",
                                        "add_cross_attention"};

/// Pairs of a family and a key that it does not read, though other families do.
bool isRead(const Family& family, const std::string& key, const json& config)
{
    const bool windowed =
        family.window == WindowRule::FromLayer || family.window == WindowRule::EvenBelow;
    const bool sparse = family.sparse != SparseRule::Never;
    if (key == "num_key_value_heads")
        return !family.fusedQkv;
    if (key == "attention_bias")
        return family.keys.qkvBias == key && family.qkvBias != BiasRule::Never
               && family.qkvBias != BiasRule::Always;
    if (key == "mlp_bias")
        return family.mlpBias == BiasRule::IfNamed || family.mlpBias == BiasRule::UnlessDenied;
    if (key == "clip_qkv")
        return family.clipsQkv;
    if (key == "norm_topk_prob")
        return sparse && !family.normalisesWeights;
    if (key == "use_sliding_window")
        return windowed || family.window == WindowRule::AllIfUsed;
    if (key == "max_window_layers")
        return windowed && config.value("use_sliding_window", false)
               && !config.contains("layer_types");
    if (key == "layer_types")
        return windowed;
    if (key == "mlp_only_layers" || key == "decoder_sparse_step")
        return family.sparse == SparseRule::Steps;
    if (key == "rope_theta" || key == "rope_scaling" || key == "rope_parameters")
        return family.rope != RopeKind::None;
    if (key == "hidden_act" || key == "activation_function")
        return family.keys.activation == key;
    return true;
}

json configOf(const std::string& model, const std::string& file)
{
    const char* root = std::getenv("MOIRE_SOURCE");
    const fs::path folder = fs::path(root ? root : ".") / "tests/data/models" / model;
    return json::parse(testing::readFile(folder / file));
}

QString messageOf(const json& config)
{
    const auto read = planFromConfig(config.dump(), "config.json");
    return read ? QString() : QString::fromStdString(read.error().text());
}

} // namespace

/// Every family's config.json, in both styles, key by key; and what the tensors are called.
class FamiliesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void namesTheMissingKey_data() { eachConfig(); }
    void namesTheMissingKey();
    void namesTheWrongType_data() { eachConfig(); }
    void namesTheWrongType();
    void bothStylesGiveOnePlan_data();
    void bothStylesGiveOnePlan();
    void windows();
    void sparseLayers();
    void everyFamilyHasAFixture();
    void hubNames();
    void yarnWidensTheContext();

private:
    static void eachConfig()
    {
        QTest::addColumn<int>("family");
        QTest::addColumn<QString>("file");
        for (std::size_t i = 0; i < families.size(); ++i)
            for (const char* file : {"config.json", "config.v5.json"})
                QTest::addRow("%s %s", families[i].model, file) << static_cast<int>(i) << file;
    }
};

void FamiliesTest::namesTheMissingKey()
{
    QFETCH(int, family);
    QFETCH(QString, file);
    const Required& required = families[static_cast<std::size_t>(family)];
    const json sound = configOf(required.model, file.toStdString());
    QCOMPARE(messageOf(sound), QString());
    for (std::string key : required.keys) {
        if (key == "sliding_window" && !sound.value("use_sliding_window", false))
            continue;
        if (key == "num_experts" && !sound.contains(key))
            key = "num_local_experts"; // as transformers 5 writes it
        QVERIFY2(sound.contains(key), key.c_str());
        json config = sound;
        config.erase(key);
        // Without either name of the experts' number the usual one is missed.
        const std::string missed = key == "num_local_experts" ? "num_experts" : key;
        QVERIFY2(messageOf(config).contains("has no key " + QString::fromStdString(missed)),
                 qPrintable(QString::fromStdString(key) + ": " + messageOf(config)));
    }
}

void FamiliesTest::namesTheWrongType()
{
    QFETCH(int, family);
    QFETCH(QString, file);
    const Required& required = families[static_cast<std::size_t>(family)];
    const json sound = configOf(required.model, file.toStdString());
    const Family* traits = findFamily(sound["architectures"][0].get<std::string>());
    QVERIFY(traits != nullptr);
    std::vector<std::string> keys = required.keys;
    for (const std::string& key : optional)
        if (sound.contains(key) && isRead(*traits, key, sound))
            keys.push_back(key);
    for (std::string key : keys) {
        if (!sound.contains(key))
            key = "num_local_experts";
        // None of these is a count, a positive number, a flag, a name, an object or a list of ids.
        for (const json& wrong : {json(-1.5), json::array({json::object()})}) {
            json config = sound;
            config[key] = wrong;
            QVERIFY2(messageOf(config).contains(QString::fromStdString(key)),
                     qPrintable(QString::fromStdString(key + " " + wrong.dump() + ": ")
                                + messageOf(config)));
        }
    }
}

void FamiliesTest::bothStylesGiveOnePlan_data()
{
    QTest::addColumn<QString>("model");
    for (const Required& family : families)
        QTest::newRow(family.model) << QString(family.model);
}

void FamiliesTest::bothStylesGiveOnePlan()
{
    QFETCH(QString, model);
    const auto planOf = [&](const char* file) {
        return planFromConfig(configOf(model.toStdString(), file).dump(), file)->plan;
    };
    const ModelPlan hub = planOf("config.json");
    const ModelPlan v5 = planOf("config.v5.json");
    QCOMPARE(v5.headDim, hub.headDim);
    QCOMPARE(v5.kvHeads, hub.kvHeads);
    QCOMPARE(v5.rope.theta, hub.rope.theta);
    QCOMPARE(v5.dtype, hub.dtype);
    QCOMPARE(v5.tiedHead, hub.tiedHead);
    QCOMPARE(v5.layers.size(), hub.layers.size());
    for (std::size_t layer = 0; layer < hub.layers.size(); ++layer) {
        QCOMPARE(v5.layers[layer].window, hub.layers[layer].window);
        QCOMPARE(v5.layers[layer].sparse, hub.layers[layer].sparse);
    }
}

namespace {

/// "0 8": the windows of a config's layers.
std::string windowsOf(const json& config)
{
    const auto read = planFromConfig(config.dump(), "config.json");
    if (!read)
        return read.error().text();
    std::string text;
    for (const LayerPlan& layer : read->plan.layers)
        text += (text.empty() ? "" : " ") + std::to_string(layer.window);
    return text;
}

} // namespace

void FamiliesTest::windows()
{
    json mistral = configOf("mistral", "config.json");
    QCOMPARE(windowsOf(mistral), std::string("5 5"));
    mistral["sliding_window"] = nullptr;
    QCOMPARE(windowsOf(mistral), std::string("0 0"));
    mistral.erase("sliding_window");
    QCOMPARE(windowsOf(mistral), std::string("4096 4096"));

    json qwen = configOf("qwen2", "config.json");
    qwen["num_hidden_layers"] = 4;
    qwen["max_window_layers"] = 2;
    QCOMPARE(windowsOf(qwen), std::string("0 0 8 8"));
    qwen["use_sliding_window"] = false;
    QCOMPARE(windowsOf(qwen), std::string("0 0 0 0"));
    qwen["use_sliding_window"] = true;
    qwen["layer_types"] = {"sliding_attention", "full_attention", "full_attention",
                           "sliding_attention"};
    QCOMPARE(windowsOf(qwen), std::string("8 0 0 8"));
    qwen["layer_types"][1] = "linear_attention";
    QVERIFY(windowsOf(qwen).find("linear_attention") != std::string::npos);
    qwen["layer_types"].erase(0);
    QVERIFY(windowsOf(qwen).find("a list of 4 names") != std::string::npos);

    json moe = configOf("qwen2_moe", "config.json");
    moe["num_hidden_layers"] = 6;
    moe["use_sliding_window"] = true;
    moe["sliding_window"] = 7;
    moe["max_window_layers"] = 3;
    QCOMPARE(windowsOf(moe), std::string("7 0 7 0 0 0"));
}

void FamiliesTest::sparseLayers()
{
    json config = configOf("qwen2_moe", "config.json");
    config["num_hidden_layers"] = 6;
    config["decoder_sparse_step"] = 2;
    config["mlp_only_layers"] = {3};
    const auto read = planFromConfig(config.dump(), "config.json");
    QVERIFY(read);
    std::string sparse;
    for (const LayerPlan& layer : read->plan.layers)
        sparse += layer.sparse ? '1' : '0';
    QCOMPARE(sparse, std::string("010001"));
    QVERIFY(read->plan.moe->sharedWidth > 0);
}

void FamiliesTest::everyFamilyHasAFixture()
{
    std::string architectures;
    for (const Required& family : families) {
        const json config = configOf(family.model, "config.json");
        architectures += config["architectures"][0].get<std::string>() + " ";
    }
    const QString all = QString::fromStdString(supportedArchitectures());
    for (const QString& architecture : all.split(", "))
        QVERIFY2(architectures.find(architecture.toStdString()) != std::string::npos,
                 qPrintable(architecture));
}

void FamiliesTest::hubNames()
{
    const auto mixtral = [](const char* name) { return hubName(NameStyle::Mixtral, name); };
    QCOMPARE(mixtral("model.layers.0.mlp.experts.1.up_proj.weight"),
             std::string("model.layers.0.block_sparse_moe.experts.1.w3.weight"));
    QCOMPARE(mixtral("model.layers.0.mlp.gate.weight"),
             std::string("model.layers.0.block_sparse_moe.gate.weight"));
    QCOMPARE(mixtral("model.layers.0.block_sparse_moe.experts.1.w2.weight"),
             std::string("model.layers.0.block_sparse_moe.experts.1.w2.weight"));
    QCOMPARE(hubName(NameStyle::Gpt2, "transformer.h.0.ln_1.bias"), std::string("h.0.ln_1.bias"));
    QCOMPARE(hubName(NameStyle::Gpt2, "h.0.ln_1.bias"), std::string("h.0.ln_1.bias"));
    QVERIFY(isComputedAnew(NameStyle::Gpt2, "h.0.attn.bias"));
    QVERIFY(!isComputedAnew(NameStyle::Gpt2, "h.0.attn.c_attn.bias"));
    QVERIFY(!isComputedAnew(NameStyle::Llama, "model.layers.0.attn.bias"));
}

void FamiliesTest::yarnWidensTheContext()
{
    json config = configOf("qwen2", "config.json");
    config["max_position_embeddings"] = 512;
    config["rope_scaling"] = {{"type", "yarn"}, {"factor", 4.0}};
    const auto read = planFromConfig(config.dump(), "config.json");
    QVERIFY(read);
    QCOMPARE(read->plan.context, 2048U);
    QCOMPARE(read->plan.rope.originalContext, 512U);
    QVERIFY(std::abs(read->plan.rope.attentionFactor - (0.1 * std::log(4.0) + 1)) < 1e-12);
    config["rope_scaling"]["mscale"] = 0.707;
    config["rope_scaling"]["mscale_all_dim"] = 0.707;
    QCOMPARE(planFromConfig(config.dump(), "config.json")->plan.rope.attentionFactor, 1.0);
    config["rope_scaling"]["attention_factor"] = 1.5;
    QCOMPARE(planFromConfig(config.dump(), "config.json")->plan.rope.attentionFactor, 1.5);
}

QTEST_APPLESS_MAIN(FamiliesTest)
#include "families_test.moc"
