// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/config.h"
#include "tests/capture/model/small_checkpoint.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace moire;
using namespace moire::capture;
using nlohmann::json;

class ConfigTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsLlama();
    void readsOlmoe();
    void bothStylesAgree();
    void endTokensOfGenerationWin();
    void refusesUnknownArchitecture();
    void namesTheMissingKey_data();
    void namesTheMissingKey();
    void namesTheWrongType_data();
    void namesTheWrongType();
    void refusesBadValues_data();
    void refusesBadValues();
    void refusesBadText_data();
    void refusesBadText();
};

namespace {

Result<ConfiguredPlan> planOf(const json& config)
{
    return planFromConfig(config.dump(), "config.json");
}

QString messageOf(const Result<ConfiguredPlan>& result)
{
    return result ? QString() : QString::fromStdString(result.error().text());
}

const std::vector<std::string> requiredKeys{
    "architectures",     "vocab_size",          "hidden_size",  "num_hidden_layers",
    "intermediate_size", "num_attention_heads", "rms_norm_eps", "max_position_embeddings"};
const std::vector<std::string> requiredExpertKeys{"num_experts", "num_experts_per_tok"};

} // namespace

void ConfigTest::readsLlama()
{
    json config = testing::llamaConfig();
    config["head_dim"] = 6;
    config["attention_bias"] = true;
    config["mlp_bias"] = true;
    config["tie_word_embeddings"] = true;
    config["torch_dtype"] = "bfloat16";
    config["eos_token_id"] = {3, 5};
    config["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", 8.0},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 64}};
    const auto read = planOf(config);
    QVERIFY2(read, qPrintable(messageOf(read)));
    const ModelPlan& plan = read->plan;
    QCOMPARE(plan.architecture, std::string("LlamaForCausalLM"));
    QCOMPARE(plan.hidden, 8U);
    QCOMPARE(plan.heads, 2U);
    QCOMPARE(plan.kvHeads, 1U);
    QCOMPARE(plan.headDim, 6U);
    QCOMPARE(plan.mlpWidth, 12U);
    QCOMPARE(plan.vocabulary, 16U);
    QCOMPARE(plan.context, 32U);
    QCOMPARE(plan.layers.size(), std::size_t{1});
    QVERIFY(!plan.layers.front().sparse);
    QCOMPARE(plan.dtype, numeric::DType::BF16);
    QVERIFY(plan.qkvBias && plan.outBias && plan.mlpBias && plan.tiedHead);
    QCOMPARE(plan.endTokens, (std::vector<std::int32_t>{3, 5}));
    QCOMPARE(plan.rope.scaling, RopeScaling::Llama3);
    QCOMPARE(plan.rope.factor, 8.0);
    QCOMPARE(plan.rope.originalContext, 64U);
    QVERIFY(!plan.moe);
}

void ConfigTest::readsOlmoe()
{
    const auto read = planOf(testing::olmoeConfig());
    QVERIFY2(read, qPrintable(messageOf(read)));
    const ModelPlan& plan = read->plan;
    QCOMPARE(plan.qkNorm, QkNorm::WholeWidth);
    QVERIFY(plan.clipQkv);
    QCOMPARE(*plan.clipQkv, 1.5);
    QVERIFY(plan.layers.front().sparse);
    QVERIFY(plan.moe);
    QCOMPARE(plan.moe->experts, 3U);
    QCOMPARE(plan.moe->chosen, 2U);
    QCOMPARE(plan.moe->expertWidth, 6U);
    QVERIFY(!plan.moe->normaliseWeights);
}

void ConfigTest::bothStylesAgree()
{
    json older = testing::llamaConfig();
    older["rope_theta"] = 500000.0;
    older["torch_dtype"] = "bfloat16";
    json newer = older;
    newer.erase("rope_theta");
    newer.erase("rope_scaling");
    newer.erase("torch_dtype");
    newer["dtype"] = "bfloat16";
    newer["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 500000.0}};
    const auto a = planOf(older);
    const auto b = planOf(newer);
    QVERIFY2(a, qPrintable(messageOf(a)));
    QVERIFY2(b, qPrintable(messageOf(b)));
    QCOMPARE(b->plan.rope.theta, 500000.0);
    QCOMPARE(a->plan.rope.theta, b->plan.rope.theta);
    QCOMPARE(a->plan.dtype, b->plan.dtype);
    QVERIFY(a->dtypeNamed && b->dtypeNamed);
}

void ConfigTest::endTokensOfGenerationWin()
{
    const QTemporaryDir folder;
    const std::filesystem::path path = folder.path().toStdString();
    testing::writeFile(path / "config.json", testing::llamaConfig().dump());
    QCOMPARE(planFromFolder(path)->plan.endTokens, std::vector<std::int32_t>{2});
    testing::writeFile(path / "generation_config.json", R"({"eos_token_id": [7, 9]})");
    QCOMPARE(planFromFolder(path)->plan.endTokens, (std::vector<std::int32_t>{7, 9}));
    testing::writeFile(path / "generation_config.json", R"({"eos_token_id": "end"})");
    const auto refused = planFromFolder(path);
    QVERIFY(messageOf(refused).contains("eos_token_id"));
}

void ConfigTest::refusesUnknownArchitecture()
{
    json config = testing::llamaConfig();
    config["architectures"] = {"MambaForCausalLM"};
    const auto read = planOf(config);
    QVERIFY(!read);
    QCOMPARE(read.error().code, Errc::Unsupported);
    QVERIFY(messageOf(read).contains("MambaForCausalLM"));
    QVERIFY(messageOf(read).contains("LlamaForCausalLM, MistralForCausalLM"));
}

void ConfigTest::namesTheMissingKey_data()
{
    QTest::addColumn<bool>("olmoe");
    QTest::addColumn<std::string>("key");
    for (const auto& key : requiredKeys) {
        QTest::addRow("llama %s", key.c_str()) << false << key;
        QTest::addRow("olmoe %s", key.c_str()) << true << key;
    }
    for (const auto& key : requiredExpertKeys)
        QTest::addRow("olmoe %s", key.c_str()) << true << key;
}

void ConfigTest::namesTheMissingKey()
{
    QFETCH(bool, olmoe);
    QFETCH(std::string, key);
    json config = olmoe ? testing::olmoeConfig() : testing::llamaConfig();
    for (const bool asNull : {false, true}) {
        if (asNull)
            config[key] = nullptr;
        else
            config.erase(key);
        const auto read = planOf(config);
        QVERIFY(!read);
        QCOMPARE(read.error().code, Errc::Damaged);
        QVERIFY2(messageOf(read).contains("has no key " + QString::fromStdString(key)),
                 qPrintable(messageOf(read)));
    }
}

void ConfigTest::namesTheWrongType_data()
{
    QTest::addColumn<bool>("olmoe");
    QTest::addColumn<std::string>("key");
    for (const bool olmoe : {false, true}) {
        const json config = olmoe ? testing::olmoeConfig() : testing::llamaConfig();
        for (const auto& [key, value] : config.items())
            QTest::addRow("%s %s", olmoe ? "olmoe" : "llama", key.c_str()) << olmoe << key;
    }
}

void ConfigTest::namesTheWrongType()
{
    QFETCH(bool, olmoe);
    QFETCH(std::string, key);
    const json sound = olmoe ? testing::olmoeConfig() : testing::llamaConfig();
    QVERIFY(planOf(sound));
    const std::vector<json> values{
        "nonsense", true, json::array({json::object()}), {{"a", 1}}, -1, 1.5, 1e300, 0};
    int refused = 0;
    for (const json& value : values) {
        json config = sound;
        config[key] = value;
        const auto read = planOf(config);
        if (read)
            continue; // a flag takes true, a size may be 1.5 nowhere, eps takes 1.5
        ++refused;
        QVERIFY2(messageOf(read).contains(QString::fromStdString(key))
                     || messageOf(read).contains("nonsense"),
                 qPrintable(messageOf(read)));
    }
    QVERIFY(refused >= 4);
}

void ConfigTest::refusesBadValues_data()
{
    QTest::addColumn<std::string>("key");
    QTest::addColumn<std::string>("value");
    QTest::addColumn<QString>("word");
    const auto row = [](const char* key, const char* value, const char* word) {
        QTest::addRow("%s = %s", key, value)
            << std::string(key) << std::string(value) << QString(word);
    };
    row("hidden_size", "9", "no multiple");
    row("num_key_value_heads", "3", "no multiple");
    row("head_dim", "5", "rotated");
    row("num_attention_heads", "16", "no multiple");
    row("vocab_size", "4294967296", "vocab_size");
    row("num_hidden_layers", "1000000", "num_hidden_layers");
    row("hidden_size", "18446744073709551616", "hidden_size");
    row("hidden_act", "\"gelu\"", "gelu");
    row("torch_dtype", "\"float8_e4m3fn\"", "float8_e4m3fn");
    row("quantization_config", "{\"bits\": 4}", "quantised");
    row("rope_scaling", "{\"rope_type\": \"longrope\", \"factor\": 2.0}", "longrope");
    row("rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": -2.0}", "rope_scaling.factor");
    row("rope_scaling", "{\"type\": \"dynamic\"}", "rope_scaling.factor");
    row("rope_scaling", "{\"rope_type\": \"llama3\", \"factor\": 2.0}", "low_freq_factor");
    row("rope_scaling", "{\"type\": \"linear\"}", "rope_scaling.factor");
    row("partial_rotary_factor", "0.5", "partial_rotary_factor");
    row("eos_token_id", "[1, \"x\"]", "eos_token_id");
    row("num_experts_per_tok", "4", "chooses 4 experts of 3");
}

void ConfigTest::refusesBadValues()
{
    QFETCH(std::string, key);
    QFETCH(std::string, value);
    QFETCH(QString, word);
    json config = key.starts_with("num_experts") ? testing::olmoeConfig() : testing::llamaConfig();
    config[key] = json::parse(value);
    const auto read = planOf(config);
    QVERIFY(!read);
    QVERIFY2(messageOf(read).contains(word), qPrintable(messageOf(read)));
}

void ConfigTest::refusesBadText_data()
{
    QTest::addColumn<std::string>("text");
    QTest::addColumn<QString>("word");
    QTest::newRow("empty") << std::string() << "not JSON";
    QTest::newRow("binary") << std::string("\x00\xff\x80{", 4) << "not JSON";
    QTest::newRow("cut") << std::string(R"({"hidden_size": 8)") << "not JSON";
    QTest::newRow("list") << std::string("[]") << "no JSON object";
    QTest::newRow("number") << std::string("1") << "no JSON object";
    QTest::newRow("huge number") << std::string(R"({"hidden_size": 1e999})") << "out of range";
    QTest::newRow("deep") << std::string(1000000, '[') << "nested";
    QTest::newRow("deep objects") << [] {
        std::string text;
        for (int i = 0; i < 100000; ++i)
            text += "{\"a\":";
        return text;
    }() << "nested";
    QTest::newRow("key twice") << std::string(R"({"hidden_size": 8, "hidden_size": 9})") << "twice";
}

void ConfigTest::refusesBadText()
{
    QFETCH(std::string, text);
    QFETCH(QString, word);
    const auto read = planFromConfig(text, "config.json");
    QVERIFY(!read);
    QVERIFY2(messageOf(read).contains(word), qPrintable(messageOf(read)));
}

QTEST_APPLESS_MAIN(ConfigTest)
#include "config_test.moc"
