// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/prompts.h"
#include "capture/task/tap_patterns.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace moire;
using namespace moire::capture;

using Ids = std::vector<std::int32_t>;

class PromptsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void textIsOneSample();
    void linesBecomeSamples();
    void conversationsBecomeText();
    void idListsBecomeSamples();
    void badLinesAreRefused_data();
    void badLinesAreRefused();
    void badIdFilesAreRefused_data();
    void badIdFilesAreRefused();
    void textWithoutTokenizerIsRefused();
    void missingFilesAreRefused();
    void patternFilesAreRead();

private:
    std::filesystem::path write(const QByteArray& text);
    TextEncoding encoding() const { return {m_tokenizer.get(), {}, {}}; }
    QTemporaryDir m_folder;
    std::shared_ptr<const Tokenizer> m_tokenizer;
};

void PromptsTest::initTestCase()
{
    BpeDefinition definition;
    definition.vocabulary = {"a", "b", "ab", "<s>"};
    definition.merges = {"a b"};
    definition.added = {{3, "<s>"}};
    definition.prefixIds = {3};
    auto tokenizer = makeBpe(definition);
    QVERIFY(tokenizer);
    m_tokenizer = *tokenizer;
}

std::filesystem::path PromptsTest::write(const QByteArray& text)
{
    QFile file(m_folder.filePath("input"));
    if (file.open(QIODevice::WriteOnly))
        file.write(text);
    return m_folder.filePath("input").toStdString();
}

void PromptsTest::textIsOneSample()
{
    const auto prompts = promptsFromText("aba", encoding());
    QVERIFY(prompts);
    QCOMPARE(prompts->size(), std::size_t{1});
    QCOMPARE(prompts->front().ids, (Ids{3, 2, 0}));
    QCOMPARE(prompts->front().promptLength, 3U);
    QCOMPARE(prompts->front().sample.id, std::string("0"));
    QCOMPARE(prompts->front().sample.text, std::string("aba"));
    const auto bad = promptsFromText("a\xff", encoding());
    QVERIFY(bad);
    QCOMPARE(bad->front().sample.text, std::string("a\xEF\xBF\xBD"));
}

void PromptsTest::linesBecomeSamples()
{
    const auto path = write("{\"id\": \"q\", \"text\": \"ab\", \"category\": \"c\", \"choices\": "
                            "[\"x\", \"y\"], \"label\": \"B\", \"source\": 1}\r\n"
                            "\n  \n"
                            "{\"ids\": [2, 1], \"label\": 7, \"category\": null}\n"
                            "{\"id\": 12, \"text\": \"\"}");
    const auto prompts = promptsFromFile(path, encoding());
    QVERIFY2(prompts, prompts ? "" : prompts.error().text().c_str());
    QCOMPARE(prompts->size(), std::size_t{3});
    const Prompt& first = (*prompts)[0];
    QCOMPARE(first.sample.id, std::string("q"));
    QCOMPARE(first.sample.category, std::string("c"));
    QCOMPARE(first.sample.choices, (std::vector<std::string>{"x", "y"}));
    QCOMPARE(first.sample.label, std::string("B"));
    QCOMPARE(first.ids, (Ids{3, 2}));
    const Prompt& second = (*prompts)[1];
    QCOMPARE(second.sample.id, std::string("1"));
    QCOMPARE(second.sample.label, std::string("7"));
    QCOMPARE(second.sample.text, std::string());
    QCOMPARE(second.ids, (Ids{2, 1}));
    QCOMPARE(second.promptLength, 2U);
    QCOMPARE((*prompts)[2].sample.id, std::string("12"));
}

void PromptsTest::conversationsBecomeText()
{
    TextEncoding withChat = encoding();
    auto chat =
        ChatTemplate::parse("<s>{% for m in messages %}{{ m.content }}{% endfor %}b", "here", {});
    QVERIFY(chat);
    withChat.chat = *chat;
    const auto text = promptsFromText("a", withChat);
    QVERIFY(text);
    QCOMPARE(text->front().ids, (Ids{3, 2})); // the template's own <s>, none of the tokenizer's
    QCOMPARE(text->front().sample.text, std::string("<s>ab"));
    const QByteArray line = "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"},"
                            " {\"role\": \"assistant\", \"content\": \"a\"}]}";
    const auto lines = promptsFromFile(write(line), withChat);
    QVERIFY(lines);
    QCOMPARE(lines->front().ids, (Ids{3, 0, 2}));
    const auto raw = promptsFromFile(write(line), encoding());
    QVERIFY(!raw);
    QVERIFY(raw.error().hint.find("--chat") != std::string::npos);
    for (const char* bad : {"{\"messages\": []}", "{\"messages\": [1]}", "{\"messages\": \"a\"}",
                            "{\"messages\": [{\"role\": \"user\"}]}"})
        QVERIFY2(!promptsFromFile(write(bad), withChat), bad);
}

void PromptsTest::idListsBecomeSamples()
{
    const auto one = promptsFromIds(write("[5, 6]"));
    QVERIFY(one);
    QCOMPARE(one->size(), std::size_t{1});
    QCOMPARE(one->front().ids, (Ids{5, 6}));
    const auto two = promptsFromIds(write("[[5, 6], [7]]"));
    QVERIFY(two);
    QCOMPARE(two->size(), std::size_t{2});
    QCOMPARE((*two)[1].ids, (Ids{7}));
    QCOMPARE((*two)[1].sample.id, std::string("1"));
}

void PromptsTest::badLinesAreRefused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("named");
    QTest::newRow("no line") << QByteArray("\n \n") << QByteArray("no prompt");
    QTest::newRow("not JSON") << QByteArray("{\"text\": \"a\"}\n{text}") << QByteArray("line 2");
    QTest::newRow("two values") << QByteArray("{\"text\": \"a\"} {}") << QByteArray("line 1");
    QTest::newRow("not an object") << QByteArray("[1]") << QByteArray("not an object");
    QTest::newRow("neither") << QByteArray("{\"id\": \"x\"}") << QByteArray("neither");
    QTest::newRow("both") << QByteArray("{\"text\": \"a\", \"ids\": [1]}")
                          << QByteArray("more than one");
    QTest::newRow("text a number") << QByteArray("{\"text\": 1}") << QByteArray("text");
    QTest::newRow("ids a number") << QByteArray("{\"ids\": 1}") << QByteArray("ids");
    QTest::newRow("id half") << QByteArray("{\"ids\": [1.5]}") << QByteArray("whole number");
    QTest::newRow("id text") << QByteArray("{\"ids\": [\"1\"]}") << QByteArray("whole number");
    QTest::newRow("id negative") << QByteArray("{\"ids\": [-1]}") << QByteArray("-1");
    QTest::newRow("id huge") << QByteArray("{\"ids\": [4294967297]}") << QByteArray("4294967297");
    QTest::newRow("id beyond 64 bits")
        << QByteArray("{\"ids\": [18446744073709551615]}") << QByteArray("18446744073709551615");
    QTest::newRow("choices a text")
        << QByteArray("{\"ids\": [1], \"choices\": \"x\"}") << QByteArray("choices");
    QTest::newRow("label a list") << QByteArray("{\"ids\": [1], \"label\": []}")
                                  << QByteArray("label");
    QTest::newRow("id twice") << QByteArray("{\"id\": \"x\", \"ids\": [1]}\n"
                                            "{\"id\": \"x\", \"ids\": [2]}")
                              << QByteArray("\"x\" is there twice");
    QTest::newRow("id taken by a number")
        << QByteArray("{\"id\": \"1\", \"ids\": [1]}\n{\"ids\": [2]}") << QByteArray("\"1\"");
}

void PromptsTest::badLinesAreRefused()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, named);
    const auto prompts = promptsFromFile(write(text), encoding());
    QVERIFY(!prompts);
    QCOMPARE(prompts.error().code, Errc::Invalid);
    const std::string said = prompts.error().text();
    QVERIFY2(said.find(named.toStdString()) != std::string::npos, said.c_str());
    QVERIFY(!prompts.error().hint.empty());
}

void PromptsTest::badIdFilesAreRefused_data()
{
    QTest::addColumn<QByteArray>("text");
    for (const char* text : {"", "{}", "[]", "12", "[1, [2]]", "[1.0]", "[[1], [null]]", "[1,]",
                             "[-5]", "[99999999999]", "[[[1]]]"})
        QTest::newRow(*text ? text : "empty") << QByteArray(text);
}

void PromptsTest::badIdFilesAreRefused()
{
    QFETCH(QByteArray, text);
    const auto prompts = promptsFromIds(write(text));
    QVERIFY(!prompts);
    QVERIFY(!prompts.error().sentence.empty());
}

void PromptsTest::textWithoutTokenizerIsRefused()
{
    const Error whyNot{Errc::NotFound, "the model folder has no tokenizer.json", "", ""};
    const auto text = promptsFromFile(write("{\"text\": \"a\"}"), {nullptr, whyNot, {}});
    QVERIFY(!text);
    QCOMPARE(text.error().sentence, whyNot.sentence);
    QVERIFY(promptsFromFile(write("{\"ids\": [1]}"), {nullptr, whyNot, {}}));
}

void PromptsTest::missingFilesAreRefused()
{
    const std::filesystem::path nowhere = m_folder.filePath("nowhere").toStdString();
    QVERIFY(!promptsFromFile(nowhere, encoding()));
    QVERIFY(!promptsFromIds(nowhere));
    QVERIFY(!promptsFromIds(m_folder.path().toStdString()));
    QVERIFY(!expandTapPatterns({"@" + nowhere.string()}));
}

void PromptsTest::patternFilesAreRead()
{
    const auto path = write("# taps\n\n  model.*.out \r\nlm_head.out");
    const auto patterns = expandTapPatterns({"a.*", "@" + path.string(), "b"});
    QVERIFY(patterns);
    QCOMPARE(*patterns, (std::vector<std::string>{"a.*", "model.*.out", "lm_head.out", "b"}));
    QVERIFY(!expandTapPatterns({"@" + write("# nothing\n").string()}));
}

QTEST_APPLESS_MAIN(PromptsTest)
#include "prompts_test.moc"
