// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/tokenizer.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>

using namespace moire;
using namespace moire::capture;

/// Against ids that Hugging Face's `tokenizers` gave (data/expected.json names its version).
class TokenizerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void idsAreThoseOfTheLibrary_data() { everyTokenizer(); }
    void idsAreThoseOfTheLibrary();
    void badBytesAreReplaced_data() { everyTokenizer(); }
    void badBytesAreReplaced();
    void bytesOfGivesTheTextBack_data() { everyTokenizer(); }
    void bytesOfGivesTheTextBack();
    void charactersComeBack();
    void unknownIdsAreShown();
    void digestTellsVocabulariesApart();
    void digestIsFreeOfOrder();
    void veryLongWordsAreQuick();

private:
    void everyTokenizer();
    static std::filesystem::path dataFolder();
    static std::shared_ptr<const Tokenizer> open(const QString& name);
    QJsonObject m_expected;
};

std::filesystem::path TokenizerTest::dataFolder()
{
    return std::filesystem::path(qgetenv("MOIRE_SOURCE").toStdString())
           / "tests/capture/tokenizer/data";
}

std::shared_ptr<const Tokenizer> TokenizerTest::open(const QString& name)
{
    auto tokenizer = openTokenizer(dataFolder() / name.toStdString());
    if (!tokenizer) {
        qWarning("%s", tokenizer.error().text().c_str());
        return nullptr;
    }
    return *tokenizer;
}

void TokenizerTest::initTestCase()
{
    QFile file(QString::fromStdString((dataFolder() / "expected.json").string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    m_expected = QJsonDocument::fromJson(file.readAll()).object();
    QVERIFY(m_expected.value("strings").toArray().size() >= 200);
}

void TokenizerTest::everyTokenizer()
{
    QTest::addColumn<QString>("name");
    for (const QString& name : m_expected.value("ids").toObject().keys())
        QTest::newRow(qPrintable(name)) << name;
}

void TokenizerTest::idsAreThoseOfTheLibrary()
{
    QFETCH(QString, name);
    const auto tokenizer = open(name);
    QVERIFY(tokenizer);
    const QJsonArray strings = m_expected.value("strings").toArray();
    const QJsonArray all = m_expected.value("ids").toObject().value(name).toArray();
    QCOMPARE(all.size(), strings.size());
    for (qsizetype i = 0; i < strings.size(); ++i) {
        const QByteArray text = strings.at(i).toString().toUtf8();
        if (name == "sentencepiece" && (text.contains("<s>") || text.contains("</s>")))
            continue; // the library alone takes them for text
        const auto ids = tokenizer->encode({text.data(), static_cast<std::size_t>(text.size())});
        QVERIFY(ids);
        QJsonArray found;
        for (const std::int32_t id : *ids)
            found.append(id);
        const QString shown = QString::number(i) + ": " + text.toPercentEncoding(" ");
        QVERIFY2(found == all.at(i).toArray(), qPrintable(shown));
    }
}

void TokenizerTest::badBytesAreReplaced()
{
    QFETCH(QString, name);
    const auto tokenizer = open(name);
    QVERIFY(tokenizer);
    const QJsonArray strings = m_expected.value("bytes").toArray();
    const QJsonArray all = m_expected.value("ids_of_bytes").toObject().value(name).toArray();
    QCOMPARE(all.size(), strings.size());
    for (qsizetype i = 0; i < strings.size(); ++i) {
        const QByteArray text = QByteArray::fromHex(strings.at(i).toString().toLatin1());
        const auto ids = tokenizer->encode({text.data(), static_cast<std::size_t>(text.size())});
        QVERIFY(ids);
        QJsonArray found;
        for (const std::int32_t id : *ids)
            found.append(id);
        QVERIFY2(found == all.at(i).toArray(), qPrintable(strings.at(i).toString()));
    }
}

void TokenizerTest::bytesOfGivesTheTextBack()
{
    QFETCH(QString, name);
    const auto tokenizer = open(name);
    QVERIFY(tokenizer);
    const QJsonArray all = m_expected.value("ids").toObject().value(name).toArray();
    const QJsonArray texts = m_expected.value("decoded").toObject().value(name).toArray();
    if (texts.isEmpty())
        return; // see charactersComeBack()
    for (qsizetype i = 0; i < all.size(); ++i) {
        std::string bytes;
        for (const auto id : all.at(i).toArray())
            bytes += tokenizer->bytesOf(id.toInt());
        // The library's own decoding replaces bytes that are not UTF-8, which few_bytes makes.
        const QString text = texts.at(i).toString();
        if (!text.contains(QChar::ReplacementCharacter))
            QCOMPARE(QByteArray::fromStdString(bytes), text.toUtf8());
    }
}

void TokenizerTest::charactersComeBack()
{
    const QJsonArray strings = m_expected.value("strings").toArray();
    for (const char* name : {"llama2", "mistral", "sentencepiece"}) {
        const auto tokenizer = open(name);
        QVERIFY(tokenizer);
        for (const QJsonValue& string : strings) {
            const std::string text = string.toString().toStdString();
            if (text.find("<s>") != std::string::npos || text.find("</s>") != std::string::npos)
                continue; // the text behind such a token gets a space of its own
            if (text.find(spaceMark) != std::string::npos)
                continue; // which becomes a space
            const auto ids = tokenizer->encodeBare(text);
            QVERIFY(ids);
            std::string bytes;
            for (const std::int32_t id : *ids)
                bytes += tokenizer->bytesOf(id);
            const bool same = bytes == text || bytes == ' ' + text;
            QVERIFY2(same, qPrintable(string.toString()));
        }
    }
}

void TokenizerTest::unknownIdsAreShown()
{
    const auto tokenizer = open("gpt2");
    QVERIFY(tokenizer);
    QCOMPARE(tokenizer->size(), 420U);
    QVERIFY(tokenizer->knows(419));
    QVERIFY(!tokenizer->knows(420));
    QVERIFY(!tokenizer->knows(-1));
    QCOMPARE(tokenizer->bytesOf(509), std::string("<509>"));
    QCOMPARE(tokenizer->bytesOf(-1), std::string("<-1>"));
    QCOMPARE(tokenizer->bytesOf(1), std::string("<|endoftext|>"));
}

namespace {

BpeDefinition smallDefinition()
{
    BpeDefinition definition;
    definition.vocabulary = {"a", "b", "Ġ", "ab", "Ġab"};
    definition.merges = {"a b", "Ġ ab"};
    definition.added = {{5, "<x>"}, {6, "<y>"}};
    return definition;
}

std::uint64_t digestOf(BpeDefinition definition)
{
    const auto tokenizer = makeBpe(std::move(definition));
    return tokenizer ? (*tokenizer)->digest() : 0;
}

} // namespace

void TokenizerTest::digestTellsVocabulariesApart()
{
    const std::uint64_t digest = digestOf(smallDefinition());
    QVERIFY(digest != 0);
    auto other = smallDefinition();
    std::swap(other.vocabulary[0], other.vocabulary[1]);
    QVERIFY(digestOf(other) != digest);
    other = smallDefinition();
    std::swap(other.merges[0], other.merges[1]);
    QVERIFY(digestOf(other) != digest);
    other = smallDefinition();
    other.digitsAlone = true;
    QVERIFY(digestOf(other) != digest);
    other = smallDefinition();
    other.prefixIds = {5};
    QVERIFY(digestOf(other) != digest);
}

void TokenizerTest::digestIsFreeOfOrder()
{
    auto other = smallDefinition();
    std::reverse(other.added.begin(), other.added.end());
    other.name = "another name for the same";
    QCOMPARE(digestOf(other), digestOf(smallDefinition()));
    // Digits alone is the pattern \p{N}, however it is said.
    auto flag = smallDefinition();
    flag.digitsAlone = true;
    auto pattern = smallDefinition();
    pattern.splitPatterns = {R"(\p{N})"};
    QCOMPARE(digestOf(flag), digestOf(pattern));
}

void TokenizerTest::veryLongWordsAreQuick()
{
    const auto tokenizer = open("llama3");
    QVERIFY(tokenizer);
    QElapsedTimer timer;
    timer.start();
    for (const char c : {'a', ' ', '1', '\n', '!'}) {
        const auto ids = tokenizer->encode(std::string(200'000, c));
        QVERIFY(ids);
        QVERIFY(ids->size() > 1000);
    }
    // A quadratic form takes minutes; seconds leave room for sanitizers.
    QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
}

QTEST_APPLESS_MAIN(TokenizerTest)
#include "tokenizer_test.moc"
