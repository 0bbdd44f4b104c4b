// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/protocol.h"
#include "core/wire/row_frames.h"
#include "core/wire/run_log.h"
#include "tests/core/wire/made_up_run.h"

#include <QTest>

#include <cstring>
#include <thread>

using namespace moire;
using namespace moire::wire;
using namespace std::chrono_literals;

namespace {

constexpr trace::SampleIndex first{0};

std::size_t rowBytes()
{
    std::size_t bytes = 0;
    for (const RowFrame& frame : rowFramesOf(madeup::header(), {}))
        bytes += frame.rowBytes;
    return bytes;
}

std::shared_ptr<const trace::RowBlock> block(std::uint32_t position, std::uint32_t count = 1)
{
    return std::make_shared<const trace::RowBlock>(
        madeup::block(madeup::header(), first, position, count));
}

/// A spool that holds the made-up rows, numbered by their position.
class MadeUpRows : public RowSource
{
public:
    Result<trace::RowBlock> rows(trace::RowIndex row, std::size_t count) override
    {
        ++asked;
        if (broken)
            return Error{Errc::Io, "the disk is gone", {}, {}};
        return madeup::block(madeup::header(), first, static_cast<std::uint32_t>(row),
                             static_cast<std::uint32_t>(count));
    }
    std::atomic<int> asked{0};
    bool broken = false;
};

std::shared_ptr<HoldLimit> limitOf(std::size_t rows)
{
    auto limit = std::make_shared<HoldLimit>();
    limit->bytes = rows * rowBytes();
    return limit;
}

std::shared_ptr<RunLog> begun(const std::shared_ptr<HoldLimit>& limit,
                              const std::string& name = "r1")
{
    auto log = std::make_shared<RunLog>(name, limit);
    log->begin(madeup::header(), {10, true});
    log->beginSample(first, madeup::sample(0), madeup::tokens(2, 0, false));
    return log;
}

std::vector<std::byte> bytesOf(const Packed& packed)
{
    std::vector<std::byte> bytes(packed.header.bytes.begin(), packed.header.bytes.end());
    for (const Frame& frame : packed.frames)
        bytes.insert(bytes.end(), frame.bytes.begin(), frame.bytes.end());
    return bytes;
}

Message messageAt(const RunLog& log, std::uint64_t sequence)
{
    const auto packed = log.read(sequence, {});
    return packed ? *unpack(*packed, clientLimits) : Message{};
}

template <class Reached>
bool soon(Reached reached)
{
    for (int i = 0; i < 5000 && !reached(); ++i)
        std::this_thread::sleep_for(1ms);
    return reached();
}

} // namespace

class RunLogTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void numbersEverythingInOrder();
    void publishesWhatASinkIsGiven();
    void readsTheSameTwiceFromMemoryAndSpool();
    void sharesValuesAndCutsLargeBlocks();
    void givesUpTheOldestBeyondTheLimit();
    void givesUpWhatIsCommittedFirst();
    void saysWhyTheSpoolFailed();
    void givesUpRunsThatEndedBeforeItsOwn();
    void waitsForALosslessReader();
    void waitsNoLongerForAReaderThatLeft();
    void stopsWaiting();
    void takesASilentReaderThatWasHandedAllForServed();
    void takesABlockLargerThanTheLimit();
    void refusesABlockOfOtherSizes();
    void givesBackItsMemory();
};

void RunLogTest::numbersEverythingInOrder()
{
    const auto log = begun(limitOf(100));
    int told = 0;
    log->onGrowth([&] { ++told; });
    QVERIFY(log->addRows(block(0, 2), {}));
    log->addTokens(first, 2, madeup::tokens(1, 2, true));
    log->addEvent({0, "note", "text"});
    log->endSample(first, "length", "B");
    QVERIFY(!log->closed());
    log->finish({});
    QVERIFY(log->closed());
    QCOMPARE(told, 5);
    QCOMPARE(log->size(), std::uint64_t{7});
    QCOMPARE(log->rows(), trace::RowIndex{2});
    const std::vector<std::string_view> kinds{type::begin,  type::sample, type::rows,
                                              type::tokens, type::event,  type::sampleEnd,
                                              type::finish};
    for (std::uint64_t i = 0; i < kinds.size(); ++i) {
        const Message message = messageAt(*log, i);
        QCOMPARE(message.type(), kinds[i]);
        QCOMPARE(message.fields["seq"].get<std::uint64_t>(), i);
        QCOMPARE(message.fields["run"].get<std::string>(), std::string("r1"));
    }
    QVERIFY(!log->read(7, {}));
}

void RunLogTest::publishesWhatASinkIsGiven()
{
    const auto log = std::make_shared<RunLog>("r1", limitOf(100));
    RunPublisher publisher(log, madeup::header(), {2, true}, {});
    QCOMPARE(indexOf(*publisher.beginSample(madeup::sample(0), madeup::tokens(2, 0, false))), 0U);
    QCOMPARE(indexOf(*publisher.beginSample(madeup::sample(1), madeup::tokens(3, 0, false))), 1U);
    QVERIFY(publisher.append(madeup::block(madeup::header(), first, 0, 1)));
    QVERIFY(publisher.addTokens(trace::SampleIndex{1}, madeup::tokens(1, 3, true)));
    QVERIFY(publisher.addTokens(trace::SampleIndex{1}, madeup::tokens(1, 4, true)));
    QVERIFY(!publisher.addTokens(trace::SampleIndex{2}, madeup::tokens(1, 4, true)));
    QVERIFY(publisher.finish({}));
    QCOMPARE(messageAt(*log, 4).fields["first"].get<int>(), 3);
    QCOMPARE(messageAt(*log, 5).fields["first"].get<int>(), 4);
    QCOMPARE(log->size(), std::uint64_t{7});
}

void RunLogTest::readsTheSameTwiceFromMemoryAndSpool()
{
    const auto limit = limitOf(3);
    const auto log = begun(limit);
    const auto source = std::make_shared<MadeUpRows>();
    QVERIFY(log->addRows(block(0, 2), {}));
    const auto fromMemory = bytesOf(*log->read(2, {}));
    const auto some = bytesOf(*log->read(2, {false, {1}}));
    QVERIFY(some.size() < fromMemory.size());
    QCOMPARE(bytesOf(*log->read(2, {})), fromMemory);
    QCOMPARE(source->asked, 0);
    log->committed(2, source);
    QVERIFY(log->addRows(block(2, 3), {})); // the first two rows have to go
    QVERIFY(!log->isHeld(2));
    QVERIFY(log->isHeld(3));
    QCOMPARE(bytesOf(*log->read(2, {})), fromMemory);
    QCOMPARE(bytesOf(*log->read(2, {false, {1}})), some);
    QCOMPARE(source->asked, 2);

    // A log made anew from what the spool holds.
    const auto again = begun(limit);
    again->addStoredRows(2);
    again->committed(2, source);
    QCOMPARE(bytesOf(*again->read(2, {})), fromMemory);
}

void RunLogTest::sharesValuesAndCutsLargeBlocks()
{
    auto header = madeup::header();
    header.taps[0].width = 300'000; // 1.2 MB: three rows fill a message
    const auto log = std::make_shared<RunLog>("r1", std::make_shared<HoldLimit>());
    log->begin(header, {});
    const auto small = std::make_shared<const trace::RowBlock>(madeup::block(header, first, 0, 4));
    const auto large = std::make_shared<const trace::RowBlock>(madeup::block(header, first, 4, 8));
    QVERIFY(log->addRows(small, {}));
    QVERIFY(log->addRows(large, {}));
    QCOMPARE(log->size(), std::uint64_t{1 + 2 + 3});
    const auto message = log->read(2, {});
    QCOMPARE(message->frames.back().owner.get(), static_cast<const void*>(small.get()));
    const auto piece = log->read(4, {});
    QVERIFY(piece->frames.back().owner.get() != static_cast<const void*>(large.get()));
    // Message 4: rows 7, 8, 9, which are 3, 4, 5 of the large block.
    QCOMPARE(messageAt(*log, 4).fields["first"].get<int>(), 7);
    const Message whole = messageAt(*log, 4);
    const auto values = rowFramesOf(header, {});
    for (std::size_t f = 1; f < values.size(); ++f) {
        const auto bytes = bytesOf(*large, values[f]).subspan(3 * values[f].rowBytes);
        QCOMPARE(whole.frames[f].size(), std::size_t{3 * values[f].rowBytes});
        QVERIFY(std::memcmp(whole.frames[f].bytes.data(), bytes.data(), whole.frames[f].size())
                == 0);
    }
}

void RunLogTest::givesUpTheOldestBeyondTheLimit()
{
    const auto limit = limitOf(2);
    const auto log = begun(limit);
    for (std::uint32_t i = 0; i < 5; ++i)
        QVERIFY(log->addRows(block(i), {}));
    log->addTokens(first, 2, madeup::tokens(1, 2, true));
    QVERIFY(limit->held <= limit->bytes);
    QCOMPARE(messageAt(*log, 5).type(), type::rows);
    const Message gap = messageAt(*log, 2);
    QCOMPARE(gap.type(), type::gap);
    QCOMPARE(gap.fields["from"].get<int>(), 2);
    QCOMPARE(gap.fields["to"].get<int>(), 5);
    QCOMPARE(gap.fields["first"].get<int>(), 0);
    QCOMPARE(gap.fields["count"].get<int>(), 3);
    QCOMPARE(log->take(2, {})->next, std::uint64_t{5});
    // In the middle of it: what is left of it.
    QCOMPARE(messageAt(*log, 4).fields["from"].get<int>(), 4);
    QCOMPARE(messageAt(*log, 4).fields["first"].get<int>(), 2);
    QCOMPARE(log->secondsWaited(), 0.0);
}

void RunLogTest::givesUpWhatIsCommittedFirst()
{
    const auto limit = limitOf(3);
    const auto log = begun(limit);
    log->keepFor(1, 0, 0);
    for (std::uint32_t i = 0; i < 3; ++i)
        QVERIFY(log->addRows(block(i), {}));
    log->committed(2, std::make_shared<MadeUpRows>());
    // A lossless reader needs all of them, and the spool has two: nobody has to wait.
    QVERIFY(log->addRows(block(3), {}));
    QVERIFY(log->addRows(block(4), {}));
    QCOMPARE(log->secondsWaited(), 0.0);
    for (std::uint64_t i = 2; i < 7; ++i)
        QCOMPARE(messageAt(*log, i).type(), type::rows);
}

void RunLogTest::saysWhyTheSpoolFailed()
{
    const auto log = begun(limitOf(1));
    const auto source = std::make_shared<MadeUpRows>();
    QVERIFY(log->addRows(block(0), {}));
    log->committed(1, source);
    QVERIFY(log->addRows(block(1), {}));
    source->broken = true;
    const Message gap = messageAt(*log, 2);
    QCOMPARE(gap.type(), type::gap);
    QCOMPARE(gap.fields["to"].get<int>(), 3);
    QCOMPARE(gap.fields["sentence"].get<std::string>(), std::string("the disk is gone"));
    source->broken = false;
    QCOMPARE(messageAt(*log, 2).type(), type::rows);
}

void RunLogTest::givesUpRunsThatEndedBeforeItsOwn()
{
    const auto limit = limitOf(3);
    const auto old = begun(limit, "old");
    QVERIFY(old->addRows(block(0), {}));
    QVERIFY(old->addRows(block(1), {}));
    old->finish({});
    const auto log = begun(limit);
    for (std::uint32_t i = 0; i < 3; ++i)
        QVERIFY(log->addRows(block(i), {}));
    QCOMPARE(messageAt(*old, 2).type(), type::gap);
    QCOMPARE(messageAt(*old, 2).fields["count"].get<int>(), 2);
    QCOMPARE(messageAt(*log, 2).type(), type::rows);
}

void RunLogTest::waitsForALosslessReader()
{
    const auto limit = limitOf(2);
    const auto log = begun(limit);
    log->keepFor(7, 0, 0);
    std::jthread maker([&](const std::stop_token& stop) {
        for (std::uint32_t i = 0; i < 6; ++i)
            if (!log->addRows(block(i), stop))
                return;
    });
    for (std::uint64_t i = 2; i < 8; ++i) {
        QVERIFY(soon([&] { return log->size() > i; }));
        QCOMPARE(messageAt(*log, i).type(), type::rows);
        if (i == 3) {
            QVERIFY(soon([&] { return log->waiting(); }));
            std::this_thread::sleep_for(20ms);
            QVERIFY(log->secondsWaited() >= 0.02);
            QCOMPARE(log->size(), std::uint64_t{4});
        }
        if (i >= 3)
            log->keepFor(7, i, i);
    }
    maker.join();
    QVERIFY(!log->waiting());
    QVERIFY(log->secondsWaited() >= 0.02);
    QVERIFY(limit->held <= limit->bytes);
}

void RunLogTest::waitsNoLongerForAReaderThatLeft()
{
    const auto log = begun(limitOf(1));
    log->keepFor(7, 0, 0);
    QVERIFY(log->addRows(block(0), {}));
    std::jthread maker([&](const std::stop_token& stop) { (void)!log->addRows(block(1), stop); });
    QVERIFY(soon([&] { return log->waiting(); }));
    log->release(7);
    maker.join();
    QCOMPARE(messageAt(*log, 2).type(), type::gap);
    QCOMPARE(messageAt(*log, 3).type(), type::rows);
}

void RunLogTest::stopsWaiting()
{
    const auto log = begun(limitOf(1));
    log->keepFor(7, 0, 0);
    QVERIFY(log->addRows(block(0), {}));
    Errc code = Errc::Internal;
    std::jthread maker([&](const std::stop_token& stop) {
        if (const auto added = log->addRows(block(1), stop); !added)
            code = added.error().code;
    });
    QVERIFY(soon([&] { return log->waiting(); }));
    maker.request_stop();
    maker.join();
    QCOMPARE(code, Errc::Cancelled);
    QCOMPARE(log->size(), std::uint64_t{3});
}

void RunLogTest::takesASilentReaderThatWasHandedAllForServed()
{
    const auto limit = limitOf(1);
    limit->patience = 30ms;
    const auto log = begun(limit);
    log->keepFor(7, 0, 3);
    QVERIFY(log->addRows(block(0), {}));
    QVERIFY(log->addRows(block(1), {}));
    QVERIFY(log->secondsWaited() >= 0.03);
    // Message 3 has not been handed over.
    std::jthread maker([&](const std::stop_token& stop) { (void)!log->addRows(block(2), stop); });
    QVERIFY(soon([&] { return log->waiting(); }));
    std::this_thread::sleep_for(60ms);
    QVERIFY(log->waiting());
    maker.request_stop();
}

void RunLogTest::takesABlockLargerThanTheLimit()
{
    const auto limit = limitOf(2);
    const auto log = begun(limit);
    QVERIFY(log->addRows(block(0), {}));
    QVERIFY(log->addRows(block(1, 5), {}));
    QCOMPARE(messageAt(*log, 2).type(), type::gap);
    QCOMPARE(messageAt(*log, 3).type(), type::rows);
    QVERIFY(log->addRows(block(6), {}));
    QCOMPARE(messageAt(*log, 3).fields["count"].get<int>(), 5);
    QCOMPARE(messageAt(*log, 3).type(), type::gap);
    QCOMPARE(messageAt(*log, 4).type(), type::rows);
}

void RunLogTest::refusesABlockOfOtherSizes()
{
    const auto log = begun(limitOf(2));
    auto wrong = madeup::block(madeup::header(), first, 0, 2);
    wrong.digests.pop_back();
    QVERIFY(!log->addRows(std::make_shared<const trace::RowBlock>(std::move(wrong)), {}));
    QCOMPARE(log->size(), std::uint64_t{2});
}

void RunLogTest::givesBackItsMemory()
{
    const auto limit = limitOf(4);
    {
        const auto log = begun(limit);
        QVERIFY(log->addRows(block(0, 3), {}));
        QCOMPARE(limit->held.load(), 3 * rowBytes());
    }
    QCOMPARE(limit->held.load(), std::size_t{0});
}

QTEST_APPLESS_MAIN(RunLogTest)
#include "run_log_test.moc"
