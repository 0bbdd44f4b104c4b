// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/pre_tokenizer.h"

#include <QTest>

using namespace moire;
using namespace moire::capture;

/// The splitting alone. Expected pieces by hand from the patterns' meaning.
class PreTokenizerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void namedStyles_data();
    void namedStyles();
    void unknownNameIsRefused();
    void mongolianSeparatorIsNoSpace();
    void gapsAndEmptyMatchesAreHandled();
    void syntaxThatMeansSomethingElseIsRefused();
};

namespace {

QStringList piecesOf(const std::vector<std::string>& patterns, const QString& text)
{
    const auto preTokenizer = PreTokenizer::compile(patterns);
    if (!preTokenizer)
        return {QString::fromStdString(preTokenizer.error().text())};
    const std::string bytes = text.toStdString();
    const auto pieces = preTokenizer->split(bytes);
    QStringList list;
    if (pieces)
        for (const std::string_view piece : *pieces)
            list << QString::fromUtf8(piece.data(), static_cast<qsizetype>(piece.size()));
    return list;
}

} // namespace

void PreTokenizerTest::namedStyles_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("pieces"); ///< joined by |
    const QString text = "It's 1234  IT'S\n\n x";
    QTest::newRow("gpt-2") << text << "It|'s| 1234| | IT|'|S|\n\n| x";
    QTest::newRow("smollm") << text << "It|'s| |1|2|3|4| | IT|'|S|\n\n| x";
    QTest::newRow("llama-bpe") << text << "It|'s| |123|4| | IT|'S|\n\n| x";
    QTest::newRow("dbrx") << text << "It|'s| |123|4| | IT|'S|\n\n| x";
    QTest::newRow("qwen2") << text << "It|'s| |1|2|3|4| | IT|'S|\n\n| x";
    QTest::newRow("default") << text << "It|'|s| |123|4| | IT|'|S|\n\n| x";
    QTest::newRow("gpt-4o") << "CamelCase's"
                            << "Camel|Case's";
    QTest::newRow("tekken") << "CamelCase12"
                            << "Camel|Case|1|2";
    QTest::newRow("jais-2") << "a" + QString(7, ' ') + "b"
                            << "a|    |  | b";
}

void PreTokenizerTest::namedStyles()
{
    QFETCH(QString, text);
    QFETCH(QString, pieces);
    BpeDefinition definition;
    QVERIFY(applyPreTokenizer(QTest::currentDataTag(), definition));
    QCOMPARE(definition.name, std::string(QTest::currentDataTag()));
    QCOMPARE(piecesOf(effectivePatterns(definition), text).join('|'), pieces);
}

void PreTokenizerTest::unknownNameIsRefused()
{
    BpeDefinition definition;
    const auto done = applyPreTokenizer("klingon", definition);
    QVERIFY(!done);
    QCOMPARE(done.error().code, Errc::Unsupported);
    QVERIFY(done.error().sentence.find("klingon") != std::string::npos);
    QVERIFY(!done.error().hint.empty());
}

void PreTokenizerTest::mongolianSeparatorIsNoSpace()
{
    // U+180E left White_Space with Unicode 6.3; PCRE2's own \s still has it.
    const QString text = QString("a") + QChar(0x180E) + "b";
    QCOMPARE(piecesOf({R"(\s)"}, text), QStringList{text});
    QCOMPARE(piecesOf({R"([^\S])"}, text), QStringList{text});
    const QString spaced = QString("a") + QChar(0x2003) + "b";
    QCOMPARE(piecesOf({R"([\s])"}, spaced).size(), 3);
}

void PreTokenizerTest::gapsAndEmptyMatchesAreHandled()
{
    QCOMPARE(piecesOf({"b+"}, "abbcb"), (QStringList{"a", "bb", "c", "b"}));
    QCOMPARE(piecesOf({"b*"}, "äbb"), (QStringList{"ä", "bb"}));
    QCOMPARE(piecesOf({"x"}, ""), QStringList{});
    QCOMPARE(piecesOf({}, "ab"), QStringList{"ab"});
    // Each piece is matched for itself: the second pattern sees no neighbours.
    QCOMPARE(piecesOf({"b", R"(a(?=b)|a(?!b))"}, "ab"), (QStringList{"a", "b"}));
}

void PreTokenizerTest::syntaxThatMeansSomethingElseIsRefused()
{
    for (const char* pattern : {R"(\w+)", R"(\bx)", R"([a[b]])", R"(\p{N}{1,3}+)", "(", "[a"})
        QVERIFY2(!PreTokenizer::compile({pattern}), pattern);
    QVERIFY(PreTokenizer::compile({R"([]a]|[^]a]|[\]\[]|\p{N}{1,3})"}));
}

QTEST_APPLESS_MAIN(PreTokenizerTest)
#include "pre_tokenizer_test.moc"
