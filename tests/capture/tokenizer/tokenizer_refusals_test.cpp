// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/tokenizer.h"

#include <QFile>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

using namespace moire;
using namespace moire::capture;

/// What is damaged or not supported is refused in a sentence that names it.
class TokenizerRefusalsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void soundFileIsTaken();
    void constructsAreRefusedByName_data();
    void constructsAreRefusedByName();
    void missingFileHasAHint();
    void truncationNeverCrashes();
    void brokenPiecesAreRefused();
    void badDefinitionsAreRefused_data();
    void badDefinitionsAreRefused();

private:
    Result<std::shared_ptr<const Tokenizer>> openText(const QByteArray& text);
    QTemporaryDir m_folder;
};

namespace {

const QByteArray sound = R"({
 "version": "1.0", "truncation": null, "padding": null,
 "added_tokens": [{"id": 4, "content": "<s>", "single_word": false, "lstrip": false,
                   "rstrip": false, "normalized": false, "special": true}],
 "normalizer": null,
 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
 "post_processor": null,
 "decoder": {"type": "ByteLevel"},
 "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
           "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
           "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3}, "merges": ["a b"]}
})";

} // namespace

Result<std::shared_ptr<const Tokenizer>> TokenizerRefusalsTest::openText(const QByteArray& text)
{
    QFile file(m_folder.filePath("tokenizer.json"));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        return Error{Errc::Io, "cannot write the test's file", "", ""};
    file.close();
    return openTokenizer(m_folder.path().toStdString());
}

void TokenizerRefusalsTest::soundFileIsTaken()
{
    const auto tokenizer = openText(sound);
    QVERIFY2(tokenizer, tokenizer ? "" : tokenizer.error().text().c_str());
    const auto ids = (*tokenizer)->encode("ab<s>cab");
    QVERIFY(ids);
    QCOMPARE(*ids, (std::vector<std::int32_t>{2, 4, 3, 2}));
}

void TokenizerRefusalsTest::constructsAreRefusedByName_data()
{
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<Errc>("code");
    QTest::addColumn<QByteArray>("named");
    const auto row = [](const char* name, const char* from, const char* to, Errc code,
                        const char* named) {
        QTest::newRow(name) << QByteArray(from) << QByteArray(to) << code << QByteArray(named);
    };
    const char* const pre =
        R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": true})";
    const auto u = Errc::Unsupported;
    const auto d = Errc::Damaged;
    row("model", R"("type": "BPE")", R"("type": "Unigram")", u, "Unigram");
    row("dropout", R"("dropout": null)", R"("dropout": 0.1)", u, "dropout");
    row("subword prefix", R"("continuing_subword_prefix": null)",
        R"("continuing_subword_prefix": "##")", u, "continuing_subword_prefix");
    row("word suffix", R"("end_of_word_suffix": null)", R"("end_of_word_suffix": "</w>")", u,
        "end_of_word_suffix");
    row("byte fallback", R"("byte_fallback": false)", R"("byte_fallback": true)", u,
        "byte_fallback");
    row("normalizer", R"("normalizer": null)", R"("normalizer": {"type": "Lowercase"})", u,
        "Lowercase");
    row("normalizers", R"("normalizer": null)",
        R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "NFKC"}]})",
        u, "NFKC");
    row("pre-tokenizer", pre, R"({"type": "BertPreTokenizer"})", u, "BertPreTokenizer");
    row("decoder of other spelling", pre, R"({"type": "Metaspace"})", u, "ByteLevel");
    row("another mark", pre, R"({"type": "Metaspace", "replacement": "_"})", u, "Metaspace");
    row("mark where", pre, R"({"type": "Metaspace", "prepend_scheme": "last"})", u, "last");
    row("two spellings", pre,
        R"({"type": "Sequence", "pretokenizers": [{"type": "Metaspace"}, {"type": "ByteLevel"}]})",
        u, "ByteLevel");
    row("no pre-tokenizer", pre, "null", u, "ByteLevel");
    row("split behavior", pre,
        R"({"type": "Split", "pattern": {"Regex": " "}, "behavior": "Removed", "invert": false})",
        u, "Removed");
    row("split inverted", pre,
        R"({"type": "Split", "pattern": {"Regex": " "}, "behavior": "Isolated", "invert": true})",
        u, "inverted");
    row("pattern", pre,
        R"({"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": "a(b"}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "use_regex": false}]})",
        u, "a(b");
    row("post-processor", R"("post_processor": null)",
        R"("post_processor": {"type": "BertProcessing"})", u, "BertProcessing");
    row("decoder", R"("decoder": {"type": "ByteLevel"})", R"("decoder": {"type": "WordPiece"})", u,
        "WordPiece");
    row("merge of unknown parts", R"("a b")", R"("a x")", d, "a x");
    row("merge into nothing known", R"("a b")", R"("b a")", d, "b a");
    row("merge of three", R"("a b")", R"("a b c")", d, "two parts");
    row("merge pair of one", R"("a b")", R"(["a"])", d, "1 parts");
    row("negative id", R"("c": 3)", R"("c": -3)", d, "-3");
    row("absurd id", R"("c": 3)", R"("c": 99999999999)", d, "99999999999");
    row("id twice", R"("c": 3)", R"("c": 2)", d, "one id");
    row("id of another type", R"("c": 3)", R"("c": "3")", d, "tokenizer description");
    row("added id against vocabulary", R"("content": "<s>")", R"("content": "ab")", d, "ab");
    row("no model", R"("model")", R"("mode")", d, "model");
    row("template without ids", R"("post_processor": null)",
        R"("post_processor": {"type": "TemplateProcessing", "single":
            [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}], "special_tokens": {}})",
        d, "<s>");
    row("template with an unknown id", R"("post_processor": null)",
        R"("post_processor": {"type": "TemplateProcessing", "single":
            [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
            "special_tokens": {"<s>": {"ids": [77]}}})",
        d, "77");
    row("not JSON", R"("version")", "version", d, "not JSON");
    row("a list", sound.constData(), "[1, 2]", d, "tokenizer description");
    row("empty", sound.constData(), "", d, "not JSON");
}

void TokenizerRefusalsTest::constructsAreRefusedByName()
{
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(Errc, code);
    QFETCH(QByteArray, named);
    QVERIFY(sound.contains(from));
    const auto tokenizer = openText(QByteArray(sound).replace(from, to));
    QVERIFY(!tokenizer);
    const std::string text = tokenizer.error().text();
    QCOMPARE(tokenizer.error().code, code);
    QVERIFY2(text.find(named.toStdString()) != std::string::npos, text.c_str());
    QVERIFY2(text.find("tokenizer.json") != std::string::npos, text.c_str());
    QVERIFY(!tokenizer.error().hint.empty());
}

void TokenizerRefusalsTest::missingFileHasAHint()
{
    const QTemporaryDir empty;
    const auto tokenizer = openTokenizer(empty.path().toStdString());
    QVERIFY(!tokenizer);
    QCOMPARE(tokenizer.error().code, Errc::NotFound);
    QVERIFY(tokenizer.error().hint.find("--ids") != std::string::npos);
}

void TokenizerRefusalsTest::truncationNeverCrashes()
{
    for (qsizetype size = 0; size < sound.trimmed().size(); ++size) {
        const auto tokenizer = openText(sound.left(size));
        QVERIFY(!tokenizer);
        QCOMPARE(tokenizer.error().code, Errc::Damaged);
    }
}

void TokenizerRefusalsTest::brokenPiecesAreRefused()
{
    const QString committed = QString::fromLocal8Bit(qgetenv("MOIRE_SOURCE"))
                              + "/tests/capture/tokenizer/data/sentencepiece/tokenizer.model";
    QFile file(committed);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray model = file.readAll();
    const QTemporaryDir folder;
    const auto opened = [&](const QByteArray& bytes) {
        QFile copy(folder.filePath("tokenizer.model"));
        if (copy.open(QIODevice::WriteOnly))
            copy.write(bytes);
        copy.close();
        return openTokenizer(folder.path().toStdString());
    };
    QVERIFY(opened(model));
    constexpr qsizetype step = 7; // every place of a field comes up
    for (qsizetype size = 0; size < model.size() / 2; size += step) {
        const auto cut = opened(model.left(size));
        QVERIFY(!cut); // what says that it is a BPE stands at the end
        QVERIFY(cut.error().text().find("tokenizer.model") != std::string::npos);
        QVERIFY(!cut.error().hint.empty());
    }
    QRandomGenerator random(3);
    for (int i = 0; i < 300; ++i) {
        QByteArray bytes = model;
        for (int change = 0; change < 3; ++change)
            bytes[random.bounded(static_cast<int>(bytes.size()))] =
                static_cast<char>(random.bounded(256));
        if (const auto changed = opened(bytes); !changed)
            QVERIFY(!changed.error().hint.empty());
    }
    // model_type (field 3 of field 2) 1: unigram.
    const auto unigram = opened(QByteArray("\x0a\x03\x0a\x01\x61\x12\x02\x18\x01", 9));
    QVERIFY(!unigram);
    QCOMPARE(unigram.error().code, Errc::Unsupported);
    QVERIFY(unigram.error().sentence.find("unigram") != std::string::npos);
}

void TokenizerRefusalsTest::badDefinitionsAreRefused_data()
{
    QTest::addColumn<int>("which");
    QTest::newRow("empty vocabulary") << 0;
    QTest::newRow("merge without a space") << 1;
    QTest::newRow("added token with a negative id") << 2;
    QTest::newRow("added token with an absurd id") << 3;
    QTest::newRow("prefix id nobody knows") << 4;
    QTest::newRow("normalizer") << 5;
    QTest::newRow("pattern") << 6;
}

void TokenizerRefusalsTest::badDefinitionsAreRefused()
{
    QFETCH(int, which);
    BpeDefinition definition;
    definition.vocabulary = {"a", "b", "ab"};
    definition.merges = {"a b"};
    QVERIFY(makeBpe(definition));
    switch (which) {
    case 0:
        definition.vocabulary = {"", ""};
        definition.merges.clear();
        break;
    case 1:
        definition.merges = {"ab"};
        break;
    case 2:
        definition.added = {{-2, "<x>"}};
        break;
    case 3:
        definition.added = {{2'000'000'000, "<x>"}};
        break;
    case 4:
        definition.prefixIds = {9};
        break;
    case 5:
        definition.normalizer = "NFKD";
        break;
    default:
        definition.splitPatterns = {R"([[a-z]&&[^b]])"};
    }
    QVERIFY(!makeBpe(definition));
}

QTEST_APPLESS_MAIN(TokenizerRefusalsTest)
#include "tokenizer_refusals_test.moc"
