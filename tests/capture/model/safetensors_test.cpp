// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/aligned_bytes.h"
#include "capture/model/weights.h"
#include "tests/capture/model/small_checkpoint.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace moire;
using namespace moire::capture;
using nlohmann::json;
namespace fs = std::filesystem;

class SafetensorsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void readsValues();
    void shardsGiveTheSameDigest();
    void digestFollowsTheSpecification();
    void splitsFusedExperts();
    void refusesBadHeaders_data();
    void refusesBadHeaders();
    void refusesTruncationAtEveryByte();
    void refusesBadLengths();
    void namesTheMissingShard();
    void refusesBadIndexes_data();
    void refusesBadIndexes();
    void namesAnUnreadableType();
    void saysWhenThereIsNothing();
    void noticesThatTheFileShrank();

private:
    Result<std::shared_ptr<const Weights>> openBytes(const std::string& bytes) const
    {
        testing::writeFile(path() / "model.safetensors", bytes);
        return openSafetensors(path());
    }
    fs::path path() const { return m_folder->path().toStdString(); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

namespace {

template <class T>
QString messageOf(const Result<T>& result)
{
    return result ? QString() : QString::fromStdString(result.error().text());
}

std::string bytesOf(const Weight& weight)
{
    return {reinterpret_cast<const char*>(weight.bytes.data()), weight.bytes.size()};
}

const std::string pairHeader = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                               R"("b":{"dtype":"BF16","shape":[1,3],"data_offsets":[8,14]}})";

} // namespace

void SafetensorsTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
}

void SafetensorsTest::readsValues()
{
    const std::string data = "12345678abcdef";
    const auto weights = openBytes(testing::safetensorsBytes(
        R"({"__metadata__":{"format":"pt"},)" + pairHeader.substr(1), data));
    QVERIFY2(weights, qPrintable(messageOf(weights)));
    QCOMPARE((*weights)->entries().size(), std::size_t{2});
    const auto a = (*weights)->load("a");
    const auto b = (*weights)->load("b");
    QVERIFY(a && b);
    QCOMPARE(bytesOf(*a), data.substr(0, 8));
    QCOMPARE(bytesOf(*b), data.substr(8));
    QCOMPARE(b->dtype, numeric::DType::BF16);
    QCOMPARE(b->shape, (std::vector<std::int64_t>{1, 3}));
    QVERIFY(isAligned(a->bytes.data()) && isAligned(b->bytes.data()));
    const auto missing = (*weights)->load("c");
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, Errc::NotFound);
    QVERIFY(messageOf(missing).contains("tensor c"));
}

void SafetensorsTest::shardsGiveTheSameDigest()
{
    const auto whole = openBytes(testing::safetensorsBytes(pairHeader, "12345678abcdef"));
    QVERIFY(whole);
    const auto expected = weightDigest(**whole);
    fs::remove(path() / "model.safetensors");
    testing::writeFile(
        path() / "one.safetensors",
        testing::safetensorsBytes(R"({"b":{"dtype":"BF16","shape":[1,3],"data_offsets":[0,6]}})",
                                  "abcdef"));
    testing::writeFile(
        path() / "two.safetensors",
        testing::safetensorsBytes(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                                  "12345678"));
    testing::writeFile(path() / "model.safetensors.index.json",
                       R"({"metadata":{},"weight_map":{"a":"two.safetensors",)"
                       R"("b":"one.safetensors"}})");
    const auto sharded = openSafetensors(path());
    QVERIFY2(sharded, qPrintable(messageOf(sharded)));
    QVERIFY(expected);
    QCOMPARE(*weightDigest(**sharded), *expected);
}

void SafetensorsTest::digestFollowsTheSpecification()
{
    // The test vectors of core/store/FORMAT.md, section 1: fp32 1, −2 and bf16 1.
    const std::string data = std::string("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8) + "\x80\x3f";
    const auto weights = openBytes(testing::safetensorsBytes(
        R"({"a.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
        R"("b.bias":{"dtype":"BF16","shape":[1],"data_offsets":[8,10]}})",
        data));
    QVERIFY2(weights, qPrintable(messageOf(weights)));
    QCOMPARE(*weightDigest(**weights), std::uint64_t{0x501a7362a82148b8ULL});
}

void SafetensorsTest::splitsFusedExperts()
{
    // [2 experts, 2 · 1 rows, 2 columns]: gate row, then up row, of each expert.
    const auto weights = openBytes(testing::safetensorsBytes(
        R"({"l.mlp.experts.gate_up_proj":{"dtype":"U8","shape":[2,2,2],"data_offsets":[0,8]},)"
        R"("l.mlp.experts.down_proj":{"dtype":"U8","shape":[2,2,1],"data_offsets":[8,12]}})",
        "ggUUhhVVddee"));
    QVERIFY2(weights, qPrintable(messageOf(weights)));
    QCOMPARE((*weights)->entries().size(), std::size_t{6});
    const auto valueOf = [&](const char* name) { return bytesOf(*(*weights)->load(name)); };
    QCOMPARE(valueOf("l.mlp.experts.0.gate_proj.weight"), std::string("gg"));
    QCOMPARE(valueOf("l.mlp.experts.0.up_proj.weight"), std::string("UU"));
    QCOMPARE(valueOf("l.mlp.experts.1.gate_proj.weight"), std::string("hh"));
    QCOMPARE(valueOf("l.mlp.experts.1.up_proj.weight"), std::string("VV"));
    QCOMPARE(valueOf("l.mlp.experts.1.down_proj.weight"), std::string("ee"));
    QCOMPARE((*weights)->load("l.mlp.experts.0.gate_proj.weight")->shape,
             (std::vector<std::int64_t>{1, 2}));
}

void SafetensorsTest::refusesBadHeaders_data()
{
    QTest::addColumn<std::string>("header");
    QTest::addColumn<int>("dataBytes");
    QTest::addColumn<QString>("word");
    const auto row = [](const char* name, std::string header, int dataBytes, const char* word) {
        QTest::newRow(name) << std::move(header) << dataBytes << QString(word);
    };
    const auto one = [](const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
        return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)"
               + offsets + "}}";
    };
    const auto two = [](const std::string& first, const std::string& second) {
        return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + first
               + R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second + "}}";
    };
    row("overlap", two("[0,8]", "[4,12]"), 12, "overlaps");
    row("same range", two("[0,8]", "[0,8]"), 8, "overlaps");
    row("gap", two("[0,8]", "[12,20]"), 20, "gap");
    row("gap in front", one("\"F32\"", "[2]", "[4,12]"), 12, "gap");
    row("bytes behind", one("\"F32\"", "[2]", "[0,8]"), 9, "behind");
    row("no tensor, but bytes", "{}", 4, "behind");
    row("beyond the end", one("\"F32\"", "[2]", "[0,8]"), 7, "only 7");
    row("far beyond", one("\"U8\"", "[18446744073709551615]", "[0,18446744073709551615]"), 8,
        "beyond 64 bits");
    row("ends first", one("\"F32\"", "[2]", "[8,0]"), 8, "ends before");
    row("wrong size", one("\"F32\"", "[3]", "[0,8]"), 8, "not what its shape");
    row("overflow", one("\"F32\"", "[4294967296,4294967296,4]", "[0,0]"), 0, "not what its shape");
    row("zero size, wrong range", one("\"F32\"", "[0]", "[0,8]"), 8, "not what its shape");
    row("unknown dtype", one("\"F128\"", "[1]", "[0,16]"), 16, "F128");
    row("dtype number", one("4", "[1]", "[0,4]"), 4, "number");
    row("shape no list", one("\"F32\"", "2", "[0,8]"), 8, "number");
    row("negative extent", one("\"F32\"", "[-2]", "[0,8]"), 8, "negative");
    row("fraction", one("\"F32\"", "[2.0]", "[0,8]"), 8, "no integer");
    row("null", one("null", "[2]", "[0,8]"), 8, "null");
    row("truth value", one("true", "[2]", "[0,8]"), 8, "truth");
    row("one offset", one("\"F32\"", "[2]", "[8]"), 8, "data_offsets");
    row("three offsets", one("\"F32\"", "[2]", "[0,8,9]"), 8, "number");
    row("nested shape", one("\"F32\"", "[[2]]", "[0,8]"), 8, "list");
    row("deep", R"({"a":)" + std::string(100000, '['), 0, "list");
    row("many extents", one("\"U8\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"), 1,
        "extents");
    row("no dtype", R"({"a":{"shape":[2],"data_offsets":[0,8]}})", 8, "lacks");
    row("no shape", R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8, "lacks");
    row("no offsets", R"({"a":{"dtype":"F32","shape":[2]}})", 8, "lacks");
    row("unknown key", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", 8,
        "unknown key");
    row("key twice", R"({"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8,
        "twice");
    row("name twice",
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
        R"("a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
        16, "twice");
    row("tensor no object", R"({"a":[1]})", 0, "list");
    row("metadata no strings", R"({"__metadata__":{"a":{}}})", 0, "object");
    row("not JSON", R"({"a":)", 0, "not JSON");
    row("list", "[]", 0, "not JSON");
    row("space in front", " {}", 0, "not JSON");
    row("rubbish behind", "{}x", 0, "not JSON");
    row("not UTF-8", "{\"\xff\":{}}", 0, "not JSON");
}

void SafetensorsTest::refusesBadHeaders()
{
    QFETCH(std::string, header);
    QFETCH(int, dataBytes);
    QFETCH(QString, word);
    const auto weights = openBytes(
        testing::safetensorsBytes(header, std::string(static_cast<std::size_t>(dataBytes), 'x')));
    QVERIFY(!weights);
    QVERIFY2(messageOf(weights).contains(word), qPrintable(messageOf(weights)));
}

void SafetensorsTest::refusesTruncationAtEveryByte()
{
    const std::string whole = testing::safetensorsBytes(pairHeader, "12345678abcdef");
    for (std::size_t size = 0; size < whole.size(); ++size)
        QVERIFY2(!openBytes(whole.substr(0, size)), qPrintable(QString::number(size)));
    QVERIFY(openBytes(whole));
}

void SafetensorsTest::refusesBadLengths()
{
    const auto longer = openBytes(testing::littleEndian(1000, 8) + "{}");
    QVERIFY(messageOf(longer).contains("only 10"));
    const auto huge = openBytes(testing::littleEndian(~0ULL, 8) + "{}");
    QVERIFY(messageOf(huge).contains("100 MB"));
    QVERIFY(messageOf(openBytes(testing::littleEndian(0, 8))).contains("not JSON"));
    QVERIFY(openBytes(testing::safetensorsBytes("{}", {})));
}

void SafetensorsTest::namesTheMissingShard()
{
    testing::writeFile(path() / "model.safetensors.index.json",
                       R"({"weight_map":{"a":"model-00001-of-00002.safetensors"}})");
    const auto weights = openSafetensors(path());
    QVERIFY(!weights);
    QCOMPARE(weights.error().code, Errc::NotFound);
    QVERIFY(messageOf(weights).contains("model-00001-of-00002.safetensors is missing"));
}

void SafetensorsTest::refusesBadIndexes_data()
{
    QTest::addColumn<std::string>("text");
    QTest::addColumn<QString>("word");
    QTest::newRow("not JSON") << std::string("{") << "not JSON";
    QTest::newRow("list") << std::string("[]") << "weight_map";
    QTest::newRow("no map") << std::string("{}") << "weight_map";
    QTest::newRow("empty map") << std::string(R"({"weight_map":{}})") << "weight_map";
    QTest::newRow("number") << std::string(R"({"weight_map":{"a":1}})") << "tensor a";
    QTest::newRow("way out") << std::string(R"({"weight_map":{"a":"../x"}})") << "tensor a";
    QTest::newRow("absolute") << std::string(R"({"weight_map":{"a":"/etc/passwd"}})") << "tensor a";
    QTest::newRow("zero") << std::string(R"({"weight_map":{"a":"x\u0000y"}})") << "tensor a";
    QTest::newRow("not there") << std::string(R"({"weight_map":{"c":"s.safetensors"}})")
                               << "no tensor c";
    QTest::newRow("deep") << std::string(100, '[') << "nested";
}

void SafetensorsTest::refusesBadIndexes()
{
    QFETCH(std::string, text);
    QFETCH(QString, word);
    testing::writeFile(path() / "s.safetensors",
                       testing::safetensorsBytes(pairHeader, "12345678abcdef"));
    testing::writeFile(path() / "model.safetensors.index.json", text);
    const auto weights = openSafetensors(path());
    QVERIFY(!weights);
    QVERIFY2(messageOf(weights).contains(word), qPrintable(messageOf(weights)));
}

void SafetensorsTest::namesAnUnreadableType()
{
    const auto weights = openBytes(testing::safetensorsBytes(
        R"({"a":{"dtype":"U32","shape":[2],"data_offsets":[0,8]}})", "12345678"));
    QVERIFY2(weights, qPrintable(messageOf(weights)));
    QVERIFY((*weights)->entries().empty());
    const auto loaded = (*weights)->load("a");
    QVERIFY(!loaded);
    QCOMPARE(loaded.error().code, Errc::Unsupported);
    QVERIFY(messageOf(loaded).contains("U32"));
}

void SafetensorsTest::saysWhenThereIsNothing()
{
    const auto weights = openSafetensors(path());
    QVERIFY(!weights);
    QCOMPARE(weights.error().code, Errc::NotFound);
    QVERIFY(messageOf(weights).contains("neither model.safetensors"));
}

void SafetensorsTest::noticesThatTheFileShrank()
{
    const auto weights = openBytes(testing::safetensorsBytes(pairHeader, "12345678abcdef"));
    QVERIFY(weights);
    fs::resize_file(path() / "model.safetensors", 10);
    const auto loaded = (*weights)->load("a");
    QVERIFY(!loaded);
    QVERIFY(messageOf(loaded).contains("shorter"));
}

QTEST_APPLESS_MAIN(SafetensorsTest)
#include "safetensors_test.moc"
