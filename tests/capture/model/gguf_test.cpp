// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/checkpoint.h"
#include "capture/model/ggml_types.h"
#include "capture/model/gguf_file.h"
#include "capture/model/gguf_names.h"
#include "tests/capture/model/small_checkpoint.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace moire;
using namespace moire::capture;
using testing::GgufBytes;
using testing::littleEndian;
namespace fs = std::filesystem;

/// What the format says; values and whole models are compared with gguf-py in gguf_test.py.
class GgufTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void opensASmallModel();
    void readsEveryKindOfValue();
    void dequantisesByHand();
    void mapsNames();
    void refusesTruncationAtEveryByte();
    void refusesBadHeaders();
    void refusesAbsurdCounts();
    void refusesBadMetadata();
    void refusesBadTensors();
    void refusesTypesByName();
    void refusesBadModels_data();
    void refusesBadModels();
    void tokenizerMayBeMissing();

private:
    QString openError(const std::string& bytes)
    {
        m_file.write(bytes);
        const auto opened = openCheckpoint(m_file.path());
        return opened ? QString() : QString::fromStdString(opened.error().text());
    }

    testing::MemoryFile m_file;
};

void GgufTest::opensASmallModel()
{
    const QTemporaryDir folder;
    const auto path = fs::path(folder.path().toStdString()) / "m.gguf";
    testing::writeFile(path, testing::llamaGguf().bytes());
    const auto opened = openCheckpoint(path);
    QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
    const ModelPlan& plan = opened->plan;
    QCOMPARE(plan.architecture, std::string("LlamaForCausalLM"));
    QCOMPARE(plan.name, std::string("m.gguf"));
    QCOMPARE(plan.headDim, 4U);
    QCOMPARE(plan.vocabulary, 16U);
    QCOMPARE(plan.normEps, 1e-5);
    QVERIFY(!plan.tiedHead);
    std::vector<std::string> names;
    for (const auto& entry : opened->weights->entries())
        names.push_back(entry.name);
    std::vector<std::string> expected;
    for (const auto& [name, shape] : testing::llamaShapes())
        expected.push_back(name);
    QCOMPARE(names, expected);
}

void GgufTest::readsEveryKindOfValue()
{
    GgufBytes file;
    file.raw("u8", 0, littleEndian(200, 1));
    file.raw("i8", 1, littleEndian(0xFF, 1));
    file.raw("u16", 2, littleEndian(60000, 2));
    file.raw("i16", 3, littleEndian(0xFFFE, 2));
    file.value("u32", 4000000000U);
    file.raw("i32", 5, littleEndian(7, 4));
    file.value("f32", 0.5F);
    file.value("bool", true);
    file.value("text", std::string("words"));
    file.raw("u64", 10, littleEndian(1ULL << 40U, 8));
    file.raw("i64", 11, littleEndian(~0ULL, 8));
    file.raw("f64", 12, littleEndian(0x3FF8000000000000ULL, 8));
    file.texts("list", {"a", "", "bcd"});
    file.raw("numbers", 9, littleEndian(1, 4) + littleEndian(2, 8) + "\xff\x05");
    // An array of two arrays of one 16-bit number each.
    file.raw("nested", 9,
             littleEndian(9, 4) + littleEndian(2, 8) + littleEndian(2, 4) + littleEndian(1, 8)
                 + "ab" + littleEndian(2, 4) + littleEndian(1, 8) + "cd");
    m_file.write(file.bytes());
    const auto opened = GgufFile::open(m_file.path());
    QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
    const auto value = [&](const char* key) { return *opened->find(key); };
    QCOMPARE(unsignedOf(value("u8")), std::optional<std::uint64_t>(200));
    QCOMPARE(unsignedOf(value("i8")), std::nullopt);
    QCOMPARE(numberOf(value("i8")), std::optional<double>(-1));
    QCOMPARE(unsignedOf(value("u16")), std::optional<std::uint64_t>(60000));
    QCOMPARE(numberOf(value("i16")), std::optional<double>(-2));
    QCOMPARE(unsignedOf(value("u32")), std::optional<std::uint64_t>(4000000000U));
    QCOMPARE(unsignedOf(value("i32")), std::optional<std::uint64_t>(7));
    QCOMPARE(numberOf(value("f32")), std::optional<double>(0.5));
    QCOMPARE(unsignedOf(value("f32")), std::nullopt);
    QCOMPARE(flagOf(value("bool")), std::optional<bool>(true));
    QCOMPARE(textOf(value("text")), std::optional<std::string_view>("words"));
    QCOMPARE(numberOf(value("text")), std::nullopt);
    QCOMPARE(unsignedOf(value("u64")), std::optional<std::uint64_t>(1ULL << 40U));
    QCOMPARE(numberOf(value("i64")), std::optional<double>(-1));
    QCOMPARE(numberOf(value("f64")), std::optional<double>(1.5));
    QCOMPARE(*textsOf(value("list")), (std::vector<std::string_view>{"a", "", "bcd"}));
    QCOMPARE(*integersOf(value("numbers")), (std::vector<std::int64_t>{-1, 5}));
    QVERIFY(opened->find("nothing") == nullptr);
}

void GgufTest::dequantisesByHand()
{
    // fp16 0x3800 = 0.5, 0xC000 = −2.
    std::string block = littleEndian(0x3800, 2);
    std::array<float, 32> values{};
    const auto unpack = [&](std::uint32_t type) {
        dequantise(*findGgmlType(type), std::as_bytes(std::span(block)), values);
    };
    block += std::string(16, '\x9f'); // low nibble 15, high nibble 9
    unpack(2);                        // Q4_0: 0.5 · (q − 8)
    QCOMPARE(values[0], 3.5F);
    QCOMPARE(values[16], 0.5F);
    block.insert(2, littleEndian(0xC000, 2));
    unpack(3); // Q4_1: 0.5 · q − 2
    QCOMPARE(values[15], 5.5F);
    QCOMPARE(values[31], 2.5F);
    block = littleEndian(0xC000, 2) + std::string(32, '\x80');
    unpack(8); // Q8_0: −2 · −128
    QCOMPARE(values[7], 256.0F);
}

void GgufTest::mapsNames()
{
    const auto name = [](std::string_view gguf, NameStyle style = NameStyle::Llama) {
        return hubTensor(gguf, style).name;
    };
    QCOMPARE(name("blk.12.attn_k.bias"), std::string("model.layers.12.self_attn.k_proj.bias"));
    QCOMPARE(name("blk.0.ffn_gate_inp.weight"), std::string("model.layers.0.mlp.gate.weight"));
    QCOMPARE(hubTensor("blk.0.ffn_up_exps.weight", NameStyle::Mixtral).projection,
             std::string("up_proj"));
    QCOMPARE(name("blk.7.attn_qkv.bias", NameStyle::Gpt2),
             std::string("transformer.h.7.attn.c_attn.bias"));
    QCOMPARE(name("position_embd.weight", NameStyle::Gpt2), std::string("transformer.wpe.weight"));
    for (const char* unknown :
         {"", "blk", "blk.", "blk.x.attn_q.weight", "blk.1.attn_q", "blk.1.attn_q.scale",
          "rope_freqs.weight", "blk..attn_q.weight", "position_embd.weight", "blk.1.attn_qkv.bias"})
        QVERIFY2(name(unknown).empty(), unknown);
    QVERIFY(name("blk.1.attn_q.weight", NameStyle::Gpt2).empty());
}

void GgufTest::refusesTruncationAtEveryByte()
{
    const GgufBytes file = testing::llamaGguf();
    const std::string whole = file.bytes();
    // Cutting the padding behind the last tensor loses nothing.
    for (std::size_t size = 0; size < file.soundSize(); ++size)
        QVERIFY2(!openError(whole.substr(0, size)).isEmpty(), qPrintable(QString::number(size)));
    QCOMPARE(openError(whole.substr(0, file.soundSize())), QString());
}

void GgufTest::refusesBadHeaders()
{
    GgufBytes file = testing::llamaGguf();
    file.version = 1;
    QVERIFY(openError(file.bytes()).contains("version 1"));
    file.version = 4;
    QVERIFY(openError(file.bytes()).contains("version 4"));
    file.version = 3U << 24U;
    QVERIFY(openError(file.bytes()).contains("big-endian"));
    QVERIFY(openError("no such thing").contains("neither a model folder nor a GGUF file"));
    QVERIFY(openError("").contains("neither a model folder nor a GGUF file"));
}

void GgufTest::refusesAbsurdCounts()
{
    for (const std::uint64_t count : {1ULL << 20U, 1ULL << 40U, ~0ULL - 100}) {
        GgufBytes file = testing::llamaGguf();
        file.extraTensors = count;
        QVERIFY(openError(file.bytes()).contains("tensors, more than fit"));
        file.extraTensors = 0;
        file.extraValues = count;
        QVERIFY(openError(file.bytes()).contains("entries, more than fit"));
        for (const std::uint32_t kind : {0U, 8U, 9U, 12U}) {
            GgufBytes array = testing::llamaGguf();
            array.raw("array", 9, littleEndian(kind, 4) + littleEndian(count, 8));
            QVERIFY(!openError(array.bytes()).isEmpty());
        }
        GgufBytes text = testing::llamaGguf();
        text.raw("text", 8, littleEndian(count, 8));
        QVERIFY(openError(text.bytes()).contains("ends at byte"));
    }
}

void GgufTest::refusesBadMetadata()
{
    GgufBytes file = testing::llamaGguf();
    file.raw("odd", 13, "x");
    QVERIFY(openError(file.bytes()).contains("unknown kind 13"));
    file = testing::llamaGguf();
    std::string nested;
    for (int i = 0; i < 100; ++i)
        nested += littleEndian(9, 4) + littleEndian(1, 8);
    file.raw("deep", 9, nested);
    QVERIFY(openError(file.bytes()).contains("nested"));
    file = testing::llamaGguf();
    file.value("llama.block_count", 1U);
    QVERIFY(openError(file.bytes()).contains("llama.block_count twice"));
    for (const std::uint32_t alignment : {0U, 24U, 1U << 30U}) {
        file = testing::llamaGguf();
        file.value("general.alignment", alignment);
        QVERIFY(openError(file.bytes()).contains("alignment"));
    }
    file = testing::llamaGguf();
    file.value("split.count", 2U);
    QVERIFY(openError(file.bytes()).contains("gguf-split"));
}

void GgufTest::refusesBadTensors()
{
    const auto errorOf = [&](const std::vector<std::uint64_t>& extents, std::uint32_t type,
                             std::uint64_t size) {
        GgufBytes file = testing::llamaGguf();
        file.tensor("x", extents, type, size);
        return openError(file.bytes());
    };
    QVERIFY(errorOf({}, 0, 4).contains("0 extents"));
    QVERIFY(errorOf({1, 1, 1, 1, 1}, 0, 4).contains("5 extents"));
    QVERIFY(errorOf({1ULL << 40U, 1ULL << 40U}, 0, 4).contains("absurdly"));
    QVERIFY(errorOf({1ULL << 61U}, 0, 4).contains("before tensor x"));
    QVERIFY(errorOf({1000}, 0, 4).contains("before tensor x"));
    QVERIFY(errorOf({33}, 2, 18).contains("whole blocks"));
    QVERIFY(errorOf({4}, 99, 16).contains("unknown type number 99"));
    QVERIFY(errorOf({4}, 4, 16).contains("unknown type number 4"));
    GgufBytes file = testing::llamaGguf();
    file.tensor("blk.0.attn_q.weight", {8, 8}, 0, 256);
    QVERIFY(openError(file.bytes()).contains("blk.0.attn_q.weight twice"));
    // The list's entries are equally long: the offset of one becomes that of another.
    std::string bytes = testing::llamaGguf().bytes();
    const auto offsetOf = [&](const std::string& name) {
        return bytes.find(name) + name.size() + 4 + 2 * 8 + 4;
    };
    bytes.replace(offsetOf("blk.0.ffn_up.weight"), 8,
                  bytes.substr(offsetOf("blk.0.ffn_gate.weight"), 8));
    QVERIFY(openError(bytes).contains("overlaps"));
    bytes.replace(offsetOf("blk.0.ffn_up.weight"), 8, littleEndian(4, 8));
    QVERIFY(openError(bytes).contains("multiple of 32"));
}

void GgufTest::refusesTypesByName()
{
    std::string bytes = testing::llamaGguf().bytes();
    const std::string name = "blk.0.ffn_up.weight";
    bytes.replace(bytes.find(name) + name.size() + 4 + 2 * 8, 4, littleEndian(20, 4));
    const QString message = openError(bytes);
    QVERIFY2(message.contains("IQ4_NL"), qPrintable(message));
    QVERIFY(message.contains("F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K"));
}

void GgufTest::refusesBadModels_data()
{
    QTest::addColumn<std::string>("from");
    QTest::addColumn<std::string>("to");
    QTest::addColumn<QString>("word");
    // Same length, so that every offset stays right.
    const auto row = [](const char* name, const char* from, const char* to, const char* word) {
        QTest::newRow(name) << std::string(from) << std::string(to) << QString(word);
    };
    row("architecture", "\x05\0\0\0\0\0\0\0llama", "\x05\0\0\0\0\0\0\0mamba", "");
    for (const char* key : {"block_count", "context_length", "embedding_length",
                            "feed_forward_length", "head_count", "layer_norm_rms_epsilon"})
        QTest::newRow(key) << std::string(key) << std::string(std::string_view(key).size(), 'x')
                           << QString("no metadata llama.");
    row("no architecture", "general.architecture", "general.architectura",
        "no metadata general.architecture");
    row("tensor", "blk.0.ffn_up.weight", "blk.0.ffn_ux.weight",
        "no tensor model.layers.0.mlp.up_proj.weight");
    row("embedding", "token_embd.weight", "token_embx.weight",
        "no tensor model.embed_tokens.weight");
}

void GgufTest::refusesBadModels()
{
    QFETCH(std::string, from);
    QFETCH(std::string, to);
    QFETCH(QString, word);
    std::string bytes = testing::llamaGguf().bytes();
    if (word.isEmpty()) {
        from = "llama";
        to = "mamba";
        word = "the architecture mamba is not supported";
    }
    const std::size_t place = bytes.find(from);
    QVERIFY(place != std::string::npos);
    bytes.replace(place, from.size(), to);
    const QString message = openError(bytes);
    QVERIFY2(message.contains(word), qPrintable(message));
}

void GgufTest::tokenizerMayBeMissing()
{
    GgufBytes file = testing::llamaGguf();
    m_file.write(file.bytes());
    auto opened = openCheckpoint(m_file.path());
    QVERIFY(opened);
    QVERIFY(!opened->tokenizer);
    QCOMPARE(opened->tokenizerError.code, Errc::NotFound);
    file.value("tokenizer.ggml.model", std::string("bert"));
    m_file.write(file.bytes());
    opened = openCheckpoint(m_file.path());
    QVERIFY(opened);
    QCOMPARE(opened->tokenizerError.code, Errc::Unsupported);
    QVERIFY(opened->tokenizerError.text().find("byte-level BPE") != std::string::npos);
}

QTEST_APPLESS_MAIN(GgufTest)
#include "gguf_test.moc"
