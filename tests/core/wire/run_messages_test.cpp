// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/protocol.h"
#include "core/wire/run_messages.h"
#include "tests/core/wire/made_up_run.h"

#include <QtTest/QtTest>

#include <cstring>

using namespace moire;
using namespace moire::wire;

namespace {

const MessagePlace place{"r1", 9};

/// As it arrives: nothing of the sender's memory.
Message received(const Packed& packed)
{
    Packed copy{Frame::of({packed.header.bytes.begin(), packed.header.bytes.end()}), {}};
    for (const Frame& frame : packed.frames)
        copy.frames.push_back(Frame::of({frame.bytes.begin(), frame.bytes.end()}));
    auto message = unpack(copy, clientLimits);
    return message ? std::move(*message) : Message{};
}

template <class Kind>
Kind readAs(const Packed& packed, const trace::RunHeader& header)
{
    auto message = readRunMessage(received(packed), &header);
    if (!message)
        qFatal("%s", message.error().text().c_str());
    return std::get<Kind>(std::move(*message));
}

std::shared_ptr<const trace::RowBlock> shared(trace::RowBlock block)
{
    return std::make_shared<const trace::RowBlock>(std::move(block));
}

} // namespace

class RunMessagesTest : public QObject
{
    Q_OBJECT

private slots:
    void headersComeBackWhole()
    {
        const trace::RunHeader header = madeup::header();
        const auto begin = readAs<Begin>(packBegin(place, header, {12, true}), header);
        QVERIFY(begin.header == header);
        QCOMPARE(begin.planned.rows, 12U);
        QVERIFY(begin.planned.exact);
        trace::RunHeader plain;
        plain.level = trace::Level::Digest;
        QVERIFY(readAs<Begin>(packBegin(place, plain, {}), plain).header == plain);
    }

    void samplesAndTokensComeBackWhole()
    {
        const trace::RunHeader header = madeup::header();
        const trace::Sample sample = madeup::sample(4);
        const auto prompt = madeup::tokens(5, 0, false);
        const auto begin =
            readAs<SampleBegin>(packSample(place, trace::SampleIndex{4}, sample, prompt), header);
        QVERIFY(begin.sample == sample);
        QVERIFY(begin.prompt == prompt);
        QCOMPARE(trace::indexOf(begin.index), 4U);
        const auto response = madeup::tokens(2, 5, true);
        const auto added =
            readAs<TokensAdded>(packTokens(place, trace::SampleIndex{4}, 5, response), header);
        QVERIFY(added.tokens == response);
        QCOMPARE(added.first, 5U);
    }

    void rowsComeBackBitForBit_data()
    {
        QTest::addColumn<int>("level");
        QTest::newRow("digest") << static_cast<int>(trace::Level::Digest);
        QTest::newRow("topk") << static_cast<int>(trace::Level::TopK);
        QTest::newRow("full") << static_cast<int>(trace::Level::Full);
    }
    void rowsComeBackBitForBit()
    {
        QFETCH(int, level);
        const trace::RunHeader header = madeup::header(static_cast<trace::Level>(level));
        const auto block = shared(madeup::block(header, trace::SampleIndex{2}, 3, 6));
        const auto rows = readAs<RowsAdded>(packRows(place, header, block, 0, 6, 40, {}), header);
        QCOMPARE(rows.first, 40U);
        QVERIFY(rows.block.rows == block->rows);
        QVERIFY(rows.block.values == block->values);
        QVERIFY(rows.block.digests == block->digests);
        QVERIFY(rows.block.counts == block->counts);
        QVERIFY(rows.block.statistics == block->statistics);
        QVERIFY(rows.block.topK.ids == block->topK.ids);
        QVERIFY(rows.block.topK.values == block->topK.values);
        QVERIFY(rows.block.topK.logSumExp == block->topK.logSumExp);
        QVERIFY(rows.block.topK.remainingMass == block->topK.remainingMass);
        QVERIFY(rows.block.topK.askedIds == block->topK.askedIds);
        QVERIFY(rows.block.topK.askedValues == block->topK.askedValues);
        QVERIFY(rows.block.routing[0].ids == block->routing[0].ids);
        QVERIFY(rows.block.routing[0].weights == block->routing[0].weights);
        QVERIFY(rows.block.routing[0].logits == block->routing[0].logits);
        QVERIFY(rows.block.routing[0].scores == block->routing[0].scores);
        QVERIFY(trace::checkBlock(header, rows.block));
    }

    void partsOfABlockAndOfTheTaps()
    {
        const trace::RunHeader header = madeup::header();
        const auto block = shared(madeup::block(header, trace::SampleIndex{0}, 0, 6));
        const Packed packed = packRows(place, header, block, 2, 5, 10, {false, {0, 2}});
        const auto rows = readAs<RowsAdded>(packed, header);
        QCOMPARE(rows.first, 12U);
        QCOMPARE(rows.block.rows.size(), 3U);
        QVERIFY(rows.block.rows[0] == block->rows[2]);
        const std::size_t rowBytes = header.taps[2].rowBytes();
        QCOMPARE(rows.block.values[2].size(), 3 * rowBytes);
        QCOMPARE(std::memcmp(rows.block.values[2].data(), block->values[2].data() + 2 * rowBytes,
                             3 * rowBytes),
                 0);
        QVERIFY(rows.block.values[1].empty());
        // The frames lie in the block.
        QVERIFY(packed.frames.back().bytes.data() == block->values[2].data() + 2 * rowBytes);
    }

    void theRestComesBack()
    {
        const trace::RunHeader header = madeup::header();
        const trace::Event event{7, "warning", "odd \xff"};
        QVERIFY(readAs<trace::Event>(packEvent(place, event), header) == event);
        const auto end =
            readAs<SampleEnd>(packSampleEnd(place, trace::SampleIndex{1}, "length", "B"), header);
        QCOMPARE(end.stopReason, std::string("length"));
        QCOMPARE(end.prediction, std::string("B"));
        QVERIFY(readAs<Finish>(packFinish(place, header.environment), header).closing
                == header.environment);
        const auto broken = readAs<Broken>(packBroken(place, state::failed, "no memory"), header);
        QCOMPARE(broken.state, std::string("failed"));
        const auto gap = readAs<Gap>(packGap("r1", {9, 12, 100, 30, "full"}), header);
        QCOMPARE(gap.to, 12U);
        QCOMPARE(gap.firstRow, 100U);
        const auto where = placeOf(received(packGap("r1", {9, 12, 100, 30, "full"})));
        QVERIFY(where);
        QCOMPARE(where->sequence, 9U);
        QCOMPARE(where->run, std::string("r1"));
    }

    void everyMissingFieldIsNamed()
    {
        const trace::RunHeader header = madeup::header();
        const auto block = shared(madeup::block(header, trace::SampleIndex{0}, 0, 1));
        const auto tokens = madeup::tokens(2, 0, false);
        const std::vector<Packed> messages{
            packBegin(place, header, {}),
            packSample(place, trace::SampleIndex{0}, madeup::sample(0), tokens),
            packTokens(place, trace::SampleIndex{0}, 0, tokens),
            packRows(place, header, block, 0, 1, 0, {}),
            packEvent(place, {}),
            packSampleEnd(place, trace::SampleIndex{0}, "", ""),
            packFinish(place, {}),
            packBroken(place, state::lost, ""),
            packGap("r1", {0, 1, 0, 1, ""})};
        for (const Packed& packed : messages) {
            const Message whole = received(packed);
            for (const auto& [name, value] : whole.fields.items()) {
                if (name == "t" || name == "run" || name == "seq")
                    continue;
                Message less = whole;
                less.fields.erase(name);
                const auto read = readRunMessage(less, &header);
                QVERIFY2(!read && read.error().code == Errc::Damaged, name.c_str());
                less.fields[name] = {{"no", "sense"}};
                QVERIFY2(!readRunMessage(less, &header), name.c_str());
            }
        }
    }

    void framesOfTheWrongSizeAreRefused()
    {
        const trace::RunHeader header = madeup::header();
        const auto block = shared(madeup::block(header, trace::SampleIndex{0}, 0, 2));
        const Message whole = received(packRows(place, header, block, 0, 2, 0, {}));
        for (std::size_t i = 0; i < whole.frames.size(); ++i) {
            Message less = whole;
            less.frames[i].bytes = less.frames[i].bytes.first(less.frames[i].size() - 1);
            const auto read = readRunMessage(less, &header);
            QVERIFY(!read);
            QVERIFY(read.error().sentence.find("wrong size") != std::string::npos);
        }
        Message fewer = whole;
        fewer.frames.pop_back();
        QVERIFY(!readRunMessage(fewer, &header));
        Message many = whole;
        many.fields["count"] = 1'000'000'000;
        QVERIFY(!readRunMessage(many, &header));
        Message twice = whole;
        twice.fields["frames"].push_back({"digests", 0, 1});
        twice.frames.push_back(whole.frames[1]);
        QVERIFY(!readRunMessage(twice, &header));
        Message enormous = whole;
        enormous.fields["frames"][0][2] = std::uint64_t{1} << 60U;
        QVERIFY(!readRunMessage(enormous, &header));
    }

    void framesOfNoElementsMayBeLeftOut()
    {
        trace::RunHeader header = madeup::header();
        header.logits.asked = 0;
        trace::RowBlock block = madeup::block(header, trace::SampleIndex{0}, 0, 2);
        block.topK.askedIds.clear();
        block.topK.askedValues.clear();
        const Message whole =
            received(packRows(place, header, shared(std::move(block)), 0, 2, 0, {}));
        Message less = whole;
        std::erase_if(less.frames, [](const Frame& frame) { return frame.size() == 0; });
        auto& list = less.fields["frames"];
        for (std::size_t i = list.size(); i-- > 0;)
            if (list[i][0] == frame::askedIds || list[i][0] == frame::askedValues)
                list.erase(i);
        QCOMPARE(less.frames.size() + 2, whole.frames.size());
        const auto read = readRunMessage(less, &header);
        QVERIFY2(read, read ? "" : read.error().text().c_str());
    }

    void aDigestThatDoesNotHoldIsFound()
    {
        const trace::RunHeader header = madeup::header();
        trace::RowBlock block = madeup::block(header, trace::SampleIndex{0}, 0, 2);
        ++block.digests[4];
        const auto read = readRunMessage(
            received(packRows(place, header, shared(std::move(block)), 0, 2, 5, {})), &header);
        QVERIFY(!read);
        QVERIFY(read.error().sentence.starts_with("row 6 "));
    }

    void messagesTravelTogether()
    {
        const trace::RunHeader header = madeup::header();
        const std::vector<Packed> messages{packBegin(place, header, {}), packFinish(place, {})};
        const Frame together = packTogether(messages);
        const auto back = unpackTogether(together, daemonLimits);
        QVERIFY(back);
        QCOMPARE(back->size(), 2U);
        QVERIFY(readAs<Begin>(back->front(), header).header == header);
        for (const std::size_t size : {std::size_t{1}, std::size_t{3}, together.size() - 1})
            QVERIFY(!unpackTogether({together.owner, together.bytes.first(size)}, daemonLimits));
    }

    void rowsFillAMessage()
    {
        trace::RunHeader header;
        header.taps = {
            {.name = "x", .dtype = numeric::DType::FP32, .width = 1U << 18U, .inputs = {}}};
        // A row: 1 MiB of values, its record, a digest, counts, statistics.
        QCOMPARE(rowsPerMessage(header, {}), 3U);
        header.taps[0].width = 1U << 24U;
        QCOMPARE(rowsPerMessage(header, {}), 1U);
        QVERIFY(rowsPerMessage(header, {false, {}}) > 1000);
    }
};

QTEST_APPLESS_MAIN(RunMessagesTest)
#include "run_messages_test.moc"
