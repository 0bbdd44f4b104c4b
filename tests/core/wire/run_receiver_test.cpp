// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/protocol.h"
#include "core/wire/run_receiver.h"
#include "tests/core/wire/made_up_messages.h"

#include <QtTest/QtTest>

using namespace moire;
using namespace moire::wire;

namespace {

/// Hands on to a builder that the test keeps.
class SinkOfTest : public trace::RunSink
{
public:
    explicit SinkOfTest(trace::RunBuilder& builder)
        : m_builder(builder)
    {}
    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& prompt) override
    {
        return m_builder.beginSample(sample, prompt);
    }
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override
    {
        return m_builder.addTokens(sample, tokens);
    }
    Result<void> append(trace::RowBlock block) override
    {
        return m_builder.append(std::move(block));
    }
    Result<void> addEvent(const trace::Event& event) override { return m_builder.addEvent(event); }
    Result<void> endSample(trace::SampleIndex sample, const std::string& stop,
                           const std::string& prediction) override
    {
        return m_builder.endSample(sample, stop, prediction);
    }
    Result<void> finish(const trace::Environment& closing) override
    {
        return m_builder.finish(closing);
    }

private:
    trace::RunBuilder& m_builder;
};

class ReceiverTester
{
public:
    RunReceiver receiver{[this](const trace::RunHeader& header,
                                PlannedRows) -> Result<std::unique_ptr<trace::RunSink>> {
        builder = std::make_unique<trace::RunBuilder>(header, "test");
        return std::unique_ptr<trace::RunSink>(std::make_unique<SinkOfTest>(*builder));
    }};
    std::unique_ptr<trace::RunBuilder> builder;

    Result<void> take(const Packed& packed)
    {
        const auto message = unpack(packed, clientLimits);
        return message ? receiver.take(*message) : Result<void>(message.error());
    }
    bool takes(const Packed& packed) { return static_cast<bool>(take(packed)); }
    QString refusal(const Packed& packed)
    {
        const auto taken = take(packed);
        return taken ? QString() : QString::fromStdString(taken.error().sentence);
    }
};

const MessagePlace nextPlace(std::uint64_t sequence)
{
    return {"r1", sequence};
}

} // namespace

class RunReceiverTest : public QObject
{
    Q_OBJECT

private slots:
    void aRunArrivesAsItWasMade()
    {
        const auto messages = madeup::messages(5, 3);
        ReceiverTester t;
        for (const Packed& message : messages)
            QVERIFY(t.takes(message));
        QCOMPARE(t.receiver.ending(), RunReceiver::Ending::Finished);
        QCOMPARE(t.receiver.rows(), 15U);
        QCOMPARE(t.receiver.nextSequence(), std::uint64_t{messages.size()});
        QVERIFY(t.receiver.missing().empty());

        // The same calls, made by hand.
        const trace::RunHeader header = madeup::header();
        trace::RunBuilder byHand(header, "test");
        QVERIFY(byHand.beginSample(madeup::sample(0), madeup::tokens(2, 0, false)));
        const trace::RunPointer got = t.builder->snapshot();
        trace::RunHeader finished = header;
        finished.environment.set(trace::env::endTime, std::string("2026-01-01T00:00:00Z"));
        QVERIFY(got->header() == finished);
        QVERIFY(got->complete());
        QCOMPARE(got->rowCount(), 15U);
        QCOMPARE(got->tokens(trace::SampleIndex{0}).size(), std::size_t{7});
        for (std::uint32_t i = 0; i < 5; ++i)
            QVERIFY(byHand.append(madeup::block(header, trace::SampleIndex{0}, i * 3, 3)));
        const trace::RunPointer want = byHand.snapshot();
        for (trace::RowIndex r = 0; r < 15; ++r) {
            QVERIFY(got->row(r) == want->row(r));
            QVERIFY(std::ranges::equal(got->digests(r), want->digests(r)));
            QVERIFY(std::ranges::equal(got->counts(r), want->counts(r)));
            for (std::uint32_t tap = 0; tap < header.taps.size(); ++tap) {
                const auto a = got->values(trace::TapIndex{tap}, r, r + 1);
                const auto b = want->values(trace::TapIndex{tap}, r, r + 1);
                QVERIFY(a && b);
                QVERIFY(std::equal(a->row(r), a->row(r) + header.taps[tap].rowBytes(), b->row(r)));
            }
        }
    }

    void whatDoesNotFollowIsRefused()
    {
        const auto messages = madeup::messages(3);
        ReceiverTester t;
        QVERIFY(t.refusal(messages[1]).contains("number 1 came instead of 0"));
        QVERIFY(!t.takes(packEvent(nextPlace(0), {}))); // without a begin
        QVERIFY(t.takes(messages[0]));
        QVERIFY(t.refusal(messages[0]).contains("number 0 came instead of 1"));
        const trace::RunHeader header = madeup::header();
        QVERIFY(t.refusal(packBegin(nextPlace(1), header, {})).contains("began twice"));
        QVERIFY(t.refusal(packEvent({"r2", 2}, {})).contains("another run"));
    }

    void contentThatDoesNotFollowIsRefused_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<QString>("says");
        QTest::newRow("sample left out") << 0 << "sample 2 began instead of 1";
        QTest::newRow("row left out") << 1 << "row 1 came instead of 0";
        QTest::newRow("rows of no sample") << 2 << "sample 3 has not begun";
        QTest::newRow("token left out") << 3 << "position 3 came instead of 2";
        QTest::newRow("tokens of no sample") << 4 << "sample 9 has not begun";
        QTest::newRow("end of no sample") << 5 << "sample 9 has not begun";
        QTest::newRow("gap elsewhere") << 6 << "a gap does not lie where it says";
    }
    void contentThatDoesNotFollowIsRefused()
    {
        QFETCH(int, fault);
        QFETCH(QString, says);
        const auto messages = madeup::messages(1);
        ReceiverTester t;
        QVERIFY(t.takes(messages[0]));
        QVERIFY(t.takes(messages[1]));
        const trace::RunHeader header = madeup::header();
        const trace::SampleIndex other{fault == 2 ? 3U : 0U};
        const auto block =
            std::make_shared<const trace::RowBlock>(madeup::block(header, other, 0, 1));
        const std::vector<Packed> faults{
            packSample(nextPlace(2), trace::SampleIndex{2}, madeup::sample(2), {}),
            packRows(nextPlace(2), header, block, 0, 1, 1, {true, {}}),
            packRows(nextPlace(2), header, block, 0, 1, 0, {true, {}}),
            packTokens(nextPlace(2), trace::SampleIndex{0}, 3, madeup::tokens(1, 3, true)),
            packTokens(nextPlace(2), trace::SampleIndex{9}, 0, madeup::tokens(1, 0, true)),
            packSampleEnd(nextPlace(2), trace::SampleIndex{9}, "end", ""),
            packGap("r1", {2, 4, 7, 1, "why"})};
        const QString refusal = t.refusal(faults[static_cast<std::size_t>(fault)]);
        QVERIFY2(refusal.contains(says), qPrintable(refusal));
    }

    void aGapIsAnEventAndTheRunIsNotWhole()
    {
        const auto messages = madeup::messages(6);
        ReceiverTester t;
        for (std::uint64_t i : {0U, 1U, 2U, 3U})
            QVERIFY(t.takes(messages[i]));
        // Rows 1 to 3 (messages 4, 6, 8) are lost, the tokens between come.
        QVERIFY(t.takes(packGap("r1", {4, 5, 1, 1, "the disk was full"})));
        QVERIFY(t.takes(messages[5]));
        QVERIFY(t.takes(packGap("r1", {6, 7, 2, 2, "the disk was full"})));
        const trace::RunHeader header = madeup::header();
        const auto block = std::make_shared<const trace::RowBlock>(
            madeup::block(header, trace::SampleIndex{0}, 3, 1));
        QVERIFY(t.takes(packRows(nextPlace(7), header, block, 0, 1, 4, {true, {}})));
        QVERIFY(t.takes(packEvent(nextPlace(8), {5, "warning", "later"})));
        trace::Environment closing;
        QVERIFY(t.takes(packFinish(nextPlace(9), closing)));
        QCOMPARE(t.receiver.ending(), RunReceiver::Ending::Broken);
        QCOMPARE(t.receiver.rows(), 2U);
        QCOMPARE(t.receiver.lostRows(), 3U);
        QCOMPARE(t.receiver.sentence(),
                 std::string("row 1, rows 2 to 3 of the run are missing: the disk was full"));
        const trace::RunPointer run = t.builder->snapshot();
        QVERIFY(!run->complete());
        QCOMPARE(run->rowCount(), 2U);
        QCOMPARE(run->events().size(), std::size_t{3});
        QCOMPARE(run->events()[0].kind, std::string("gap"));
        QCOMPARE(run->events()[0].row, 1U);
        QCOMPARE(run->events()[1].text, std::string("rows 2 to 3 of the run: the disk was full"));
        QCOMPARE(run->events()[2].row, 2U); // row 5 of the run is the sink's row 2
        QVERIFY(t.refusal(messages[1]).contains("behind the last"));
    }

    void aGapOfUnknownRowsIsKnownByTheNextRow()
    {
        const auto messages = madeup::messages(4);
        ReceiverTester t;
        for (std::uint64_t i : {0U, 1U})
            QVERIFY(t.takes(messages[i]));
        QVERIFY(t.takes(packGap("r1", {2, 5, 0, 0, "lost on the way"})));
        QVERIFY(t.takes(packEvent(nextPlace(5), {0, "warning", "x"})));
        const trace::RunHeader header = madeup::header();
        const auto block = std::make_shared<const trace::RowBlock>(
            madeup::block(header, trace::SampleIndex{0}, 2, 1));
        QVERIFY(t.takes(packRows(nextPlace(6), header, block, 0, 1, 2, {true, {}})));
        QCOMPARE(t.receiver.lostRows(), 2U);
        QCOMPARE(t.receiver.missing(),
                 std::string("rows 0 to 1 of the run are missing: lost on the way"));
        // Without a gap before it, a jump is an error.
        QVERIFY(t.refusal(packRows(nextPlace(7), header, block, 0, 1, 5, {true, {}}))
                    .contains("row 5 came instead of 3"));
    }

    void aRunThatBreaksOffIsNotFinished()
    {
        const auto messages = madeup::messages(2);
        ReceiverTester t;
        QVERIFY(t.takes(messages[0]));
        QVERIFY(t.takes(packBroken(nextPlace(1), state::failed, "no memory")));
        QCOMPARE(t.receiver.ending(), RunReceiver::Ending::Broken);
        QCOMPARE(t.receiver.brokenState(), std::string(state::failed));
        QCOMPARE(t.receiver.sentence(), std::string("no memory"));
        QVERIFY(!t.builder->snapshot()->complete());
    }

    void errorsOfTheSinkAreHandedOn()
    {
        RunReceiver receiver(
            [](const trace::RunHeader&, PlannedRows) -> Result<std::unique_ptr<trace::RunSink>> {
                return Error{Errc::NoSpace, "the disk is full", {}, {}};
            });
        const auto message = unpack(madeup::messages(1)[0], clientLimits);
        QVERIFY(message);
        const auto taken = receiver.take(*message);
        QVERIFY(!taken);
        QCOMPARE(taken.error().code, Errc::NoSpace);
    }
};

QTEST_APPLESS_MAIN(RunReceiverTest)
#include "run_receiver_test.moc"
