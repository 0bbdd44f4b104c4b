// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/protocol.h"
#include "core/wire/stream_intake.h"
#include "tests/core/wire/made_up_messages.h"

#include <QtTest/QtTest>

using namespace moire;
using namespace moire::wire;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Time = StreamIntake::Time;

/// What the daemon would hear of an intake, and answer.
class StreamIntakeTester
{
public:
    explicit StreamIntakeTester(StreamOptions options, std::uint32_t rows = 4)
        : messages(madeup::messages(rows))
        , intake("r1", options)
    {
        intake.linkReady(now);
    }

    /// The one message of this kind among those that are due; nothing when there is none.
    std::optional<Message> due(std::string_view kind)
    {
        std::optional<Message> found;
        for (Message& message : intake.due(now, "s", numbers))
            if (message.type() == kind)
                found = std::move(message);
        return found;
    }
    void deliver(std::uint64_t sequence)
    {
        intake.message(sequence, messages[sequence].bytes(), messages[sequence], now);
    }
    std::uint64_t size(std::uint64_t sequence) const { return messages[sequence].bytes(); }
    /// Sequence numbers of all that can be taken.
    std::vector<std::uint64_t> takeAll()
    {
        std::vector<std::uint64_t> taken;
        while (true) {
            const auto message = intake.take();
            if (!message || !*message)
                return taken;
            taken.push_back(placeOf(**message)->sequence);
        }
    }

    std::vector<Packed> messages;
    StreamIntake intake;
    Time now{seconds(1000)};
    std::int64_t numbers = 0;
};

StreamOptions latest(std::size_t window = 1U << 20U)
{
    StreamOptions options;
    options.lossless = false;
    options.window = window;
    return options;
}

StreamOptions lossless(std::size_t window = 1U << 20U)
{
    StreamOptions options;
    options.window = window;
    return options;
}

using Numbers = std::vector<std::uint64_t>;

} // namespace

class StreamIntakeTest : public QObject
{
    Q_OBJECT

private slots:
    void opensOnceAndTakesInOrder()
    {
        StreamIntakeTester t(lossless());
        const auto open = t.due(type::open);
        QVERIFY(open);
        QCOMPARE(open->fields["from"].get<int>(), 0);
        QCOMPARE(open->fields["to"].get<int>(), -1);
        QCOMPARE(open->fields["credit"].get<int>(), 1 << 20);
        QCOMPARE(open->fields["values"].get<bool>(), true);
        QVERIFY(!t.due(type::open));
        for (std::uint64_t i = 0; i < t.messages.size(); ++i)
            t.deliver(i);
        QVERIFY(!t.intake.ended());
        QCOMPARE(t.takeAll().size(), t.messages.size());
        QVERIFY(t.intake.ended());
        QVERIFY(t.intake.quiet());
        QCOMPARE(t.intake.count().messages, std::uint64_t{t.messages.size()});
        QCOMPARE(t.intake.count().waiting, 0U);
    }

    void creditIsReturnedAsMessagesAreTaken()
    {
        StreamIntakeTester t(lossless(2000));
        QVERIFY(t.due(type::open));
        std::uint64_t sent = 0;
        for (std::uint64_t i = 0; i < 2; ++i) {
            sent += t.size(i);
            t.deliver(i);
        }
        QVERIFY(!t.due(type::credit)); // nothing was taken
        QCOMPARE(t.takeAll(), (Numbers{0, 1}));
        QVERIFY(sent > 250); // an eighth of the window
        const auto credit = t.due(type::credit);
        QVERIFY(credit);
        QCOMPARE(credit->fields["bytes"].get<std::uint64_t>(), sent);
        QVERIFY(!t.due(type::credit));
    }

    void aMessageLargerThanTheWindowStillComes()
    {
        StreamIntakeTester t(lossless(100));
        QCOMPARE(t.due(type::open)->fields["credit"].get<int>(), 100);
        t.intake.starved(t.size(0));
        QCOMPARE(t.due(type::credit)->fields["bytes"].get<std::uint64_t>(), t.size(0) - 100);
        t.deliver(0);
        // Not before it is taken: two of them would be there at once.
        t.intake.starved(t.size(1));
        t.now += seconds(1);
        QVERIFY(!t.due(type::credit));
        QCOMPARE(t.takeAll(), Numbers{0});
        QCOMPARE(t.due(type::credit)->fields["bytes"].get<std::uint64_t>(), t.size(1));
    }

    void creditDoesNotStallBelowAPart()
    {
        StreamIntakeTester t(lossless(1U << 20U));
        QVERIFY(t.due(type::open));
        t.deliver(0);
        QCOMPARE(t.takeAll(), Numbers{0});
        QVERIFY(!t.due(type::credit)); // far less than an eighth
        QVERIFY(t.intake.wakeAt());
        t.now = *t.intake.wakeAt();
        QCOMPARE(t.due(type::credit)->fields["bytes"].get<std::uint64_t>(), t.size(0));
        QVERIFY(!t.intake.wakeAt());
    }

    void resumesWhereItWas()
    {
        StreamIntakeTester t(lossless());
        const auto first = t.due(type::open);
        t.deliver(0);
        t.deliver(1);
        t.intake.linkLost();
        QVERIFY(!t.due(type::open));
        t.deliver(2); // of a link that is gone
        t.intake.linkReady(t.now);
        const auto again = t.due(type::open);
        QVERIFY(again);
        QCOMPARE(again->fields["from"].get<int>(), 2);
        QVERIFY(again->fields["stream"] != first->fields["stream"]);
        // What waits takes its part of the window.
        QCOMPARE(again->fields["credit"].get<std::uint64_t>(), (1U << 20U) - t.size(0) - t.size(1));
        t.deliver(1); // twice: passed over
        t.deliver(2);
        QCOMPARE(t.takeAll(), (Numbers{0, 1, 2}));
        QCOMPARE(t.intake.count().resumed, 1U);
    }

    void aDaemonThatEndsIsAskedAgain()
    {
        StreamIntakeTester t(lossless());
        QVERIFY(t.due(type::open));
        t.deliver(0);
        t.intake.end("the daemon ends", t.now);
        QCOMPARE(t.due(type::open)->fields["from"].get<int>(), 1);
        for (int i = 0; i < 3; ++i) { // and now it never gives another one
            QVERIFY(!t.intake.finished());
            t.intake.end("that was all", t.now);
            t.now += seconds(2);
            if (i < 2)
                QVERIFY(t.due(type::open));
        }
        QCOMPARE(t.takeAll(), Numbers{0});
        const auto error = t.intake.take();
        QVERIFY(!error);
        QCOMPARE(error.error().code, Errc::NotFound);
        QVERIFY(error.error().sentence.find("before message 1: that was all") != std::string::npos);
        QVERIFY(t.intake.ended());
    }

    void refusals()
    {
        const Error why{Errc::NotFound, "no such run", {}, {}};
        StreamIntakeTester gone(lossless());
        QVERIFY(gone.due(type::open));
        gone.intake.refused(reason::notFound, why, gone.now);
        QCOMPARE(gone.intake.take().error().sentence, why.sentence);

        StreamIntakeTester stopping(lossless());
        QVERIFY(stopping.due(type::open));
        stopping.intake.refused(reason::stopping, why, stopping.now);
        QVERIFY(!stopping.due(type::open));
        QVERIFY(stopping.intake.wakeAt());
        stopping.now = *stopping.intake.wakeAt();
        QVERIFY(stopping.due(type::open));

        StreamIntakeTester busy(lossless());
        QVERIFY(busy.due(type::open));
        busy.intake.refused(reason::busy, why, busy.now);
        QVERIFY(busy.intake.finished()); // there is no room for a new one

        StreamIntakeTester cut(lossless());
        QVERIFY(cut.due(type::open));
        cut.intake.linkLost();
        cut.intake.linkReady(cut.now);
        QVERIFY(cut.due(type::open));
        for (int i = 0; i < 59; ++i) { // the daemon may still know the old one
            cut.intake.refused(reason::busy, why, cut.now);
            QVERIFY(!cut.intake.finished());
            cut.now += seconds(1);
            QVERIFY(cut.due(type::open));
        }
        cut.now += seconds(1);
        cut.intake.refused(reason::busy, why, cut.now);
        QVERIFY(cut.intake.finished());
    }

    void aDaemonThatBreaksTheProtocolIsNotBelieved_data()
    {
        QTest::addColumn<int>("fault");
        QTest::addColumn<QString>("says");
        QTest::newRow("hole") << 0 << "left out";
        QTest::newRow("more than credit") << 1 << "credit";
        QTest::newRow("wrong size") << 2 << "as large";
        QTest::newRow("two numbers") << 3 << "two numbers";
        QTest::newRow("another run") << 4 << "another run";
        QTest::newRow("begins later") << 5 << "asked for";
        QTest::newRow("garbage") << 6 << "header";
        QTest::newRow("needs too much") << 7 << "bytes";
        QTest::newRow("gap of nothing") << 8 << "ends before";
    }
    void aDaemonThatBreaksTheProtocolIsNotBelieved()
    {
        QFETCH(int, fault);
        QFETCH(QString, says);
        StreamIntakeTester t(lossless(fault == 1 ? 100 : 1U << 20U));
        QVERIFY(t.due(type::open));
        const Packed garbage{Frame::of(std::vector<std::byte>(40, std::byte{0xff})), {}};
        const Packed other = packEvent({"r2", 0}, {});
        const Packed gap = pack({Fields{{"t", "gap"}, {"run", "r1"}, {"seq", 0}, {"to", 0}}, {}});
        switch (fault) {
        case 0:
            t.deliver(1);
            break;
        case 1:
            t.deliver(0);
            break;
        case 2:
            t.intake.message(0, t.size(0) - 1, t.messages[0], t.now);
            break;
        case 3:
            t.intake.message(1, t.size(0), t.messages[0], t.now);
            break;
        case 4:
            t.intake.message(0, other.bytes(), other, t.now);
            break;
        case 5:
            t.intake.opened(7);
            break;
        case 6:
            t.intake.message(0, garbage.bytes(), garbage, t.now);
            break;
        case 7:
            t.intake.starved(std::uint64_t{1} << 40U);
            break;
        default:
            t.intake.message(0, gap.bytes(), gap, t.now);
            break;
        }
        const auto error = t.intake.take();
        QVERIFY(!error);
        QVERIFY2(error.error().sentence.find(says.toStdString()) != std::string::npos,
                 error.error().sentence.c_str());
        QVERIFY(t.due(type::close)); // the daemon is told, once
        QVERIFY(!t.due(type::close));
        QVERIFY(t.intake.quiet());
    }

    void aGapTakesTheWholePlace()
    {
        StreamIntakeTester t(lossless());
        QVERIFY(t.due(type::open));
        t.deliver(0);
        t.deliver(1);
        const Packed gap = packGap("r1", {2, 4, 0, 1, "the disk was full"});
        t.intake.message(2, gap.bytes(), gap, t.now);
        t.deliver(4);
        QCOMPARE(t.takeAll(), (Numbers{0, 1, 2, 4}));
        QCOMPARE(t.intake.count().gaps, 2U);
    }

    void publishedMessagesInOrderNeedNoStream()
    {
        StreamIntakeTester t(latest());
        QVERIFY(t.intake.wantsState(t.now));
        QVERIFY(!t.intake.wantsState(t.now));
        t.intake.known(0, t.now);
        for (const Packed& message : t.messages)
            t.intake.published(message, t.now);
        QVERIFY(!t.due(type::open));
        QCOMPARE(t.takeAll().size(), t.messages.size());
        QVERIFY(t.intake.ended());
        QCOMPARE(t.intake.count().repaired, 0U);
    }

    void aHoleIsAskedForOnce()
    {
        StreamIntakeTester t(latest());
        for (const std::uint64_t i : {0U, 1U, 5U, 6U})
            t.intake.published(t.messages[i], t.now);
        const auto open = t.due(type::open);
        QVERIFY(open);
        QCOMPARE(open->fields["from"].get<int>(), 2);
        QCOMPARE(open->fields["to"].get<int>(), 5);
        QCOMPARE(open->fields["policy"].get<std::string>(), std::string("latest"));
        QCOMPARE(t.takeAll(), (Numbers{0, 1}));
        t.intake.published(t.messages[7], t.now); // more comes meanwhile
        for (const std::uint64_t i : {2U, 3U, 4U})
            t.deliver(i);
        t.intake.end("", t.now);
        QCOMPARE(t.takeAll(), (Numbers{2, 3, 4, 5, 6, 7}));
        QCOMPARE(t.intake.count().repaired, 3U);
        QVERIFY(!t.due(type::open));
    }

    void theLastMessagesAreMissedByAsking()
    {
        StreamIntakeTester t(latest());
        QVERIFY(t.intake.wantsState(t.now));
        t.intake.published(t.messages[0], t.now);
        QVERIFY(!t.intake.wantsState(t.now));
        t.now += seconds(1);
        QVERIFY(t.intake.wantsState(t.now)); // all is silent
        t.intake.known(t.messages.size(), t.now);
        QCOMPARE(t.due(type::open)->fields["to"].get<std::uint64_t>(), t.messages.size());
        for (std::uint64_t i = 1; i < t.messages.size(); ++i)
            t.deliver(i);
        QCOMPARE(t.takeAll().size(), t.messages.size());
        QVERIFY(t.intake.ended());
    }

    void whatCannotBeHadIsAGapWithItsRows()
    {
        StreamIntakeTester t(latest());
        for (const std::uint64_t i : {0U, 1U, 6U})
            t.intake.published(t.messages[i], t.now); // 2 and 4 hold rows 0 and 1, 6 row 2
        for (int i = 0; i < 3; ++i) {
            QVERIFY(t.due(type::open));
            t.intake.end("forgotten", t.now);
            t.now += seconds(2);
        }
        QCOMPARE(t.intake.count().gaps, 4U);
        (void)t.intake.take();
        (void)t.intake.take();
        const auto message = t.intake.take();
        QVERIFY(message && *message);
        const trace::RunHeader header = madeup::header();
        const auto read = readRunMessage(**message, &header);
        QVERIFY(read);
        const auto gap = std::get<Gap>(*read);
        QCOMPARE(gap.from, 2U);
        QCOMPARE(gap.to, 6U);
        QCOMPARE(gap.firstRow, 0U);
        QCOMPARE(gap.rows, 2U);
        QVERIFY(gap.sentence.find("forgotten") != std::string::npos);
        QCOMPARE(t.takeAll(), Numbers{6});
    }

    void memoryIsBoundedAndNothingIsLost()
    {
        constexpr std::size_t window = 4000;
        StreamIntakeTester t(latest(window), 50);
        std::size_t largest = 0;
        for (const Packed& message : t.messages)
            largest = std::max(largest, message.bytes());
        for (const Packed& message : t.messages) // nobody takes
            t.intake.published(message, t.now);
        QVERIFY(t.intake.count().waiting <= window / 2 + largest);
        Numbers taken;
        std::uint64_t next = 0;
        for (int round = 0; !t.intake.ended(); ++round) {
            QVERIFY(round < 1000);
            for (const std::uint64_t sequence : t.takeAll())
                taken.push_back(sequence);
            t.now += milliseconds(100);
            if (const auto open = t.due(type::open)) {
                next = open->fields["from"].get<std::uint64_t>();
                const auto to = open->fields["to"].get<std::uint64_t>();
                for (; next < to; ++next) {
                    t.intake.starved(t.size(next));
                    (void)t.due(type::credit);
                    t.deliver(next);
                    QVERIFY(t.intake.count().waiting <= window + largest);
                    for (const std::uint64_t sequence : t.takeAll())
                        taken.push_back(sequence);
                }
                t.intake.end("", t.now);
            }
            QVERIFY(taken.size() <= t.messages.size());
        }
        QCOMPARE(taken.size(), t.messages.size());
        for (std::size_t i = 0; i < taken.size(); ++i)
            QCOMPARE(taken[i], std::uint64_t{i});
    }
};

QTEST_APPLESS_MAIN(StreamIntakeTest)
#include "stream_intake_test.moc"
