// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/prompts.h"
#include "capture/task/token_offsets.h"
#include "core/trace/run_builder.h"

#include <QTest>

using namespace moire;
using namespace moire::capture;

using Ids = std::vector<std::int32_t>;

/// Replaying another run's samples, and the tokens' places in the text.
class ReplayTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsAreThoseOfTheReference_data();
    void rowsAreThoseOfTheReference();
    void aKilledRunIsReplayedRowForRow();
    void aPromptCutShortStaysShort();
    void anIncompleteReferenceWithoutRowsSaysSo();
    void sampleFieldsAreKept();
    void askedIdsAreKept();
    void emptyReferenceIsRefused();
    void offsetsRunOnFromPromptToResponse();
};

namespace {

trace::RunHeader headerWith(std::uint32_t asked)
{
    trace::RunHeader header;
    trace::Tap tap;
    tap.name = "model.norm.out";
    tap.width = 1;
    header.taps = {tap};
    header.logits = {.vocabulary = 50, .topK = 1, .dtype = numeric::DType::FP32, .asked = asked};
    return header;
}

std::vector<trace::Token> tokensOf(const Ids& ids, bool response)
{
    std::vector<trace::Token> tokens;
    for (const std::int32_t id : ids)
        tokens.push_back({.id = id,
                          .response = response,
                          .bytes = std::string(static_cast<std::size_t>(id), 'x')});
    return tokens;
}

trace::RowBlock blockOf(const trace::RunHeader& header, trace::SampleIndex sample,
                        std::uint32_t rows)
{
    trace::RowBlock block;
    block.values.resize(1);
    block.values[0].resize(rows * sizeof(float));
    for (std::uint32_t r = 0; r < rows; ++r) {
        trace::Row row;
        row.sample = sample;
        row.position = r;
        block.rows.push_back(row);
        block.topK.ids.push_back(0);
        block.topK.values.push_back(0);
        block.topK.logSumExp.push_back(0);
        block.topK.remainingMass.push_back(0);
        for (std::uint32_t i = 0; i < header.logits.asked; ++i) {
            block.topK.askedIds.push_back(i == 0 ? 33 : -1);
            block.topK.askedValues.push_back(0);
        }
    }
    trace::summariseBlock(header, block);
    return block;
}

/// A run of one sample with `prompt` and `response` tokens and `rows` rows.
trace::RunPointer runOf(const Ids& prompt, const Ids& response, std::uint32_t rows,
                        std::uint32_t asked = 0)
{
    const trace::RunHeader header = headerWith(asked);
    trace::RunBuilder builder(header, "reference");
    trace::Sample sample;
    sample.id = std::string("q1");
    sample.category = std::string("c");
    sample.text = std::string("text");
    sample.choices = {"x", "y"};
    sample.label = std::string("A");
    const auto index = builder.beginSample(sample, tokensOf(prompt, false));
    if (!index || !builder.addTokens(*index, tokensOf(response, true)))
        return nullptr;
    if (rows > 0 && !builder.append(blockOf(header, *index, rows)))
        return nullptr;
    if (!builder.endSample(*index, "length", "B"))
        return nullptr;
    return builder.snapshot();
}

} // namespace

void ReplayTest::rowsAreThoseOfTheReference_data()
{
    QTest::addColumn<int>("response");
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("replayed"); ///< response tokens that are taken over
    QTest::newRow("scored only") << 0 << 3 << 0;
    QTest::newRow("complete, T + N - 1 rows") << 4 << 6 << 4;
    QTest::newRow("one generated") << 1 << 3 << 1;
    QTest::newRow("cut short") << 4 << 5 << 3;
    QTest::newRow("cut after the prompt") << 4 << 3 << 1;
}

void ReplayTest::rowsAreThoseOfTheReference()
{
    QFETCH(int, response);
    QFETCH(int, rows);
    QFETCH(int, replayed);
    Ids generated;
    for (int i = 0; i < response; ++i)
        generated.push_back(10 + i);
    const auto run = runOf({1, 2, 3}, generated, static_cast<std::uint32_t>(rows));
    QVERIFY(run);
    const auto prompts = promptsFromRun(*run, nullptr, std::nullopt);
    QVERIFY(prompts);
    QCOMPARE(prompts->size(), std::size_t{1});
    QCOMPARE(prompts->front().promptLength, 3U);
    QCOMPARE(prompts->front().ids.size(), static_cast<std::size_t>(3 + replayed));
    QCOMPARE(prompts->front().ids.front(), 1);
    if (replayed > 0)
        QCOMPARE(prompts->front().ids.back(), 9 + replayed);
}

/// A run that was killed after its last row, before the token that this row chose: the row has it.
void ReplayTest::aKilledRunIsReplayedRowForRow()
{
    const trace::RunHeader header = headerWith(0);
    trace::RunBuilder builder(header, "reference");
    trace::Sample sample;
    sample.id = std::string("q1");
    const auto index = builder.beginSample(sample, tokensOf({1, 2, 3}, false));
    QVERIFY(index && builder.addTokens(*index, tokensOf({10}, true)));
    trace::RowBlock block = blockOf(header, *index, 4);
    block.rows.back().score.id = 11;
    QVERIFY(builder.append(std::move(block)));
    const auto prompts = promptsFromRun(*builder.snapshot(), nullptr, std::nullopt);
    QVERIFY(prompts);
    QCOMPARE(prompts->front().ids, (Ids{1, 2, 3, 10, 11}));
    QCOMPARE(prompts->front().promptLength, 3U);
}

/// A prompt that was scored token by token, and killed on the way.
void ReplayTest::aPromptCutShortStaysShort()
{
    const trace::RunHeader header = headerWith(0);
    trace::RunBuilder builder(header, "reference");
    trace::Sample sample;
    sample.id = std::string("q1");
    const auto index = builder.beginSample(sample, tokensOf({1, 2, 3, 4, 5}, false));
    QVERIFY(index && builder.append(blockOf(header, *index, 2)));
    const auto prompts = promptsFromRun(*builder.snapshot(), nullptr, std::nullopt);
    QVERIFY(prompts);
    QCOMPARE(prompts->front().ids, (Ids{1, 2}));
    QCOMPARE(prompts->front().promptLength, 2U);
}

void ReplayTest::anIncompleteReferenceWithoutRowsSaysSo()
{
    trace::RunBuilder builder(headerWith(0), "reference");
    trace::Sample sample;
    sample.id = std::string("q1");
    QVERIFY(builder.beginSample(sample, tokensOf({1}, false)));
    const auto prompts = promptsFromRun(*builder.snapshot(), nullptr, std::nullopt);
    QVERIFY(!prompts);
    QVERIFY(prompts.error().sentence.find("incomplete") != std::string::npos);
}

void ReplayTest::sampleFieldsAreKept()
{
    const auto run = runOf({1}, {2}, 1);
    QVERIFY(run);
    const auto prompts = promptsFromRun(*run, nullptr, std::nullopt);
    QVERIFY(prompts);
    const trace::Sample& sample = prompts->front().sample;
    QCOMPARE(sample.id, std::string("q1"));
    QCOMPARE(sample.replaySource, std::string("q1"));
    QCOMPARE(sample.category, std::string("c"));
    QCOMPARE(sample.text, std::string("text"));
    QCOMPARE(sample.choices.size(), std::size_t{2});
    QCOMPARE(sample.label, std::string("A"));
    QCOMPARE(sample.prediction, std::string());
    QCOMPARE(sample.stopReason, std::string());
}

void ReplayTest::askedIdsAreKept()
{
    const auto run = runOf({1}, {2}, 1, 2);
    QVERIFY(run);
    const auto prompts = promptsFromRun(*run, nullptr, std::nullopt);
    QVERIFY(prompts);
    QCOMPARE(prompts->front().askedIds, (Ids{33}));
}

void ReplayTest::emptyReferenceIsRefused()
{
    const auto run = runOf({1}, {2}, 0);
    QVERIFY(run);
    const auto prompts = promptsFromRun(*run, nullptr, std::nullopt);
    QVERIFY(!prompts);
    QCOMPARE(prompts.error().code, Errc::Invalid);
    QCOMPARE(prompts.error().place, std::string("reference"));
}

void ReplayTest::offsetsRunOnFromPromptToResponse()
{
    const trace::RunHeader header = headerWith(0);
    trace::RunBuilder builder(header, "run");
    TokenOffsets sink(builder);
    // A token of id n has n bytes in this test.
    trace::Sample sample;
    sample.id = std::string("a");
    const auto first = sink.beginSample(sample, tokensOf({2, 3}, false));
    sample.id = std::string("b");
    const auto second = sink.beginSample(sample, tokensOf({5}, false));
    QVERIFY(first && second);
    QVERIFY(sink.addTokens(*first, tokensOf({4}, true)));
    QVERIFY(sink.addTokens(*second, tokensOf({1}, true)));
    QVERIFY(sink.addTokens(*first, tokensOf({1}, true)));
    QVERIFY(sink.append(blockOf(header, *first, 2)));
    QVERIFY(sink.endSample(*first, "length", ""));
    QVERIFY(sink.finish({}));
    QCOMPARE(sink.rowsHandedOn(), std::uint64_t{2});
    const auto run = builder.snapshot();
    QVERIFY(run->complete());
    std::vector<std::int64_t> offsets;
    for (const auto index : {*first, *second})
        for (const trace::Token& token : run->tokens(index))
            offsets.push_back(token.textOffset);
    QCOMPARE(offsets, (std::vector<std::int64_t>{0, 2, 5, 9, 0, 5}));
}

QTEST_APPLESS_MAIN(ReplayTest)
#include "replay_test.moc"
