// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/trace/run_builder.h"
#include "core/wire/joined_frames.h"
#include "core/wire/run_receiver.h"
#include "core/wire/stream_intake.h"
#include "tests/core/wire/hub_bench.h"
#include "tests/core/wire/made_up_messages.h"
#include "tests/fuzz/bits.h"
#include "tests/fuzz/wire/counted_memory.h"

#include <QTest>

#include <array>

using namespace moire;
using moire::fuzz::Bits;
using namespace moire::wire;

namespace {

/// Of input: a header is read into a tree, whose smallest entries take two bytes on the wire and a
/// node of a hundred in memory.
constexpr std::size_t mostTimes = 128;
constexpr std::size_t mostBytes = std::size_t{256} << 10U;

int rounds()
{
    constexpr int some = 20'000;
    constexpr int many = 1'000'000;
    const int asked = qEnvironmentVariableIntValue("MOIRE_FUZZ_COUNT");
    return asked > 0 ? asked : qgetenv("MOIRE_FULL") == "1" ? many : some;
}

std::vector<std::byte> noise(Bits& bits, std::size_t most)
{
    std::vector<std::byte> made(bits.below(most));
    for (std::byte& byte : made)
        byte = static_cast<std::byte>(bits.next());
    return made;
}

Fields awkward(Bits& bits)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    switch (bits.below(12)) {
    case 0:
        return -1;
    case 1:
        return most;
    case 2:
        return std::numeric_limits<std::int64_t>::min();
    case 3:
        return std::numeric_limits<std::uint64_t>::max();
    case 4:
        return std::int64_t{1} << bits.below(63);
    case 5:
        return std::numeric_limits<double>::quiet_NaN();
    case 6:
        return Fields::array();
    case 7:
        return Fields::object();
    case 8:
        return std::string(bits.below(300), 'x');
    case 9:
        return Fields::array({{"rows", 0, most}, {"values", most, 1}});
    case 10:
        return nullptr;
    default:
        return static_cast<std::int64_t>(bits.below(5));
    }
}

/// Another value somewhere in the tree, or one that is missing.
void changeField(Fields& fields, Bits& bits)
{
    Fields* at = &fields;
    while (at->is_structured() && !at->empty() && (at == &fields || bits.below(3) != 0)) {
        auto entry = at->begin();
        std::advance(entry, bits.below(at->size()));
        if (bits.below(16) == 0) {
            at->erase(entry);
            return;
        }
        at = &*entry;
    }
    *at = awkward(bits);
}

std::vector<std::byte> changeBytes(std::span<const std::byte> from, Bits& bits)
{
    std::vector<std::byte> made(from.begin(), from.end());
    for (std::uint64_t times = bits.below(4); times > 0 && !made.empty(); --times)
        made[bits.below(made.size())] = static_cast<std::byte>(bits.next());
    if (bits.below(4) == 0)
        made.resize(bits.below(made.size() + 8));
    return made;
}

/// Real messages of all kinds, and what is made of them.
class Mutator
{
public:
    Mutator()
        : m_real(madeup::messages(3, 2))
    {
        const auto add = [&](const Fields& fields) { m_real.push_back(pack({fields, {}})); };
        add({{"t", "hello"}, {"id", 1}, {"versions", {1}}, {"program", "p"}, {"client", "c"}});
        RunRequest run{"model", {{"text", "a"}, {"prompts", FilePlace{0}}}, {}, "ticket"};
        run.files.push_back({"p", Frame::of(std::vector<std::byte>(10))});
        m_real.push_back(pack(toMessage(run, type::run)));
        add(toFields(Feed{"r1", trace::SampleIndex{0}, 0, {1, 2}, true, "length"}));
        add(toFields(RunState{}));
        add(toFields(DaemonStatus{}));
        add(toFields(Welcome{}));
        for (const char* kind : {"models", "taps", "runs", "cancel", "status", "goodbye", "forget"})
            add({{"t", kind}, {"id", 2}, {"run", "r1"}, {"model", "m"}, {"options", Fields{}}});
        add(test::HubBench::openOf("session", 1000));
        add({{"t", "credit"}, {"stream", 5}, {"bytes", 100}, {"next", 3}});
        add({{"t", "close"}, {"stream", 5}});
        add({{"t", "ping"}, {"session", "session"}});
        m_real.push_back(packGap("r1", {1, 3, 0, 2, "gone"}));
        m_real.push_back(packBroken({"r1", 3}, "lost", "it ended"));
    }
    Packed make(Bits& bits, const std::string& session = {}) const
    {
        const Packed& real = m_real[bits.below(m_real.size())];
        Packed made;
        const std::uint64_t how = bits.below(4);
        if (how == 0) {
            made.header = Frame::of(noise(bits, 200));
        } else {
            auto fields = decodeFields(real.header.bytes, clientLimits);
            if (fields->contains("session") && !session.empty())
                (*fields)["session"] = session;
            if (how == 1 || how == 2)
                changeField(*fields, bits);
            made.header = Frame::of(how == 2 ? encodeFields(*fields)
                                             : changeBytes(encodeFields(*fields), bits));
        }
        for (const Frame& frame : real.frames)
            if (bits.below(16) != 0)
                made.frames.push_back(bits.below(4) == 0 ? Frame::of(changeBytes(frame.bytes, bits))
                                                         : frame);
        return made;
    }
    const std::vector<Packed>& real() const { return m_real; }

private:
    std::vector<Packed> m_real;
};

class NoSink : public trace::RunSink
{
public:
    Result<trace::SampleIndex> beginSample(const trace::Sample& /*sample*/,
                                           const std::vector<trace::Token>& /*prompt*/) override
    {
        return trace::SampleIndex{m_samples++};
    }
    Result<void> addTokens(trace::SampleIndex /*sample*/,
                           const std::vector<trace::Token>& /*tokens*/) override
    {
        return {};
    }
    Result<void> append(trace::RowBlock /*block*/) override { return {}; }
    Result<void> addEvent(const trace::Event& /*event*/) override { return {}; }
    Result<void> endSample(trace::SampleIndex /*sample*/, const std::string& /*stop*/,
                           const std::string& /*prediction*/) override
    {
        return {};
    }
    Result<void> finish(const trace::Environment& /*closing*/) override { return {}; }

private:
    std::uint32_t m_samples = 0;
};

/// All that reads a message; how many took it.
std::size_t readEverywhere(const Packed& packed, const trace::RunHeader& header)
{
    std::size_t taken = 0;
    for (const MessageLimits& limits : {clientLimits, daemonLimits}) {
        const auto message = unpack(packed, limits);
        if (!message)
            continue;
        const Fields& fields = message->fields;
        const auto count = [&](const auto& read) { taken += read ? 1 : 0; };
        count(placeOf(*message));
        count(readRunMessage(*message, &header));
        count(readRunMessage(*message, nullptr));
        count(toRunRequest(*message));
        count(toModelEntry(fields));
        count(toTapEntry(fields));
        count(toEstimate(fields));
        count(toQueued(fields));
        count(toRunState(fields));
        count(toFeed(fields));
        count(toDaemonStatus(fields));
        count(toWelcome(fields));
        if (const auto sizes = fields.find("frames"); sizes != fields.end())
            count(splitFrames(*sizes, packed.frames));
        RunReceiver receiver(
            [](const trace::RunHeader&, PlannedRows) -> Result<std::unique_ptr<trace::RunSink>> {
                return std::unique_ptr<trace::RunSink>(std::make_unique<NoSink>());
            });
        count(receiver.take(*message));
    }
    return taken;
}

} // namespace

/// What a peer may send: nothing crashes, and memory is a small multiple of what came.
class WireFuzz : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void messages();
    void packedTogether();
    void aRunInOrder();
    void aDaemonsPeers();
};

void WireFuzz::messages()
{
    const Mutator mutator;
    const trace::RunHeader header = madeup::header();
    std::size_t taken = 0;
    for (int number = 0; number < rounds(); ++number) {
        Bits bits(static_cast<std::uint64_t>(number));
        const Packed packed = mutator.make(bits);
        const std::size_t before = counted::memoryInUse();
        counted::resetPeak();
        taken += readEverywhere(packed, header);
        const std::size_t used = counted::memoryPeak() - before;
        QVERIFY2(
            used <= mostBytes + mostTimes * packed.bytes(),
            qPrintable(QString("%1: %2 bytes for %3").arg(number).arg(used).arg(packed.bytes())));
        QVERIFY2(counted::memoryInUse() == before, qPrintable(QString::number(number)));
    }
    QVERIFY(taken > 0);
}

void WireFuzz::packedTogether()
{
    const Mutator mutator;
    const Frame whole = packTogether(mutator.real());
    for (int number = 0; number < rounds(); ++number) {
        Bits bits(static_cast<std::uint64_t>(number));
        const Frame frame =
            Frame::of(bits.below(4) == 0 ? noise(bits, 400) : changeBytes(whole.bytes, bits));
        const std::size_t before = counted::memoryInUse();
        counted::resetPeak();
        (void)unpackTogether(frame, daemonLimits);
        QVERIFY2(counted::memoryPeak() - before <= mostBytes + mostTimes * frame.size(),
                 qPrintable(QString::number(number)));
    }
}

/// A client that receives a run of which some messages are damaged.
void WireFuzz::aRunInOrder()
{
    const Mutator mutator;
    const auto real = madeup::messages(3, 2);
    const auto now = StreamIntake::Time{} + std::chrono::hours(1);
    for (int number = 0; number < rounds() / 10; ++number) {
        Bits bits(static_cast<std::uint64_t>(number));
        StreamIntake intake("r1", {});
        std::int64_t numbers = 0;
        intake.linkReady(now);
        (void)intake.due(now, "session", numbers);
        for (std::size_t i = 0; i < real.size(); ++i) {
            const bool damaged = bits.below(8) == 0;
            const Packed packed = damaged ? mutator.make(bits) : real[i];
            intake.message(bits.below(16) == 0 ? bits.next() : i,
                           bits.below(16) == 0 ? bits.next() : packed.bytes(), packed, now);
            (void)intake.due(now, "session", numbers);
            if (bits.below(2) == 0)
                (void)intake.take();
        }
        QVERIFY(intake.count().waiting <= std::size_t{1} << 20U);
    }
}

/// A daemon whose peers send anything, and one that is good.
void WireFuzz::aDaemonsPeers()
{
    const Mutator mutator;
    test::HubBench bench;
    bench.service.answers = true;
    bench.run(20);
    const std::string session = bench.session("good", "good");
    std::size_t before = 0;
    for (int number = 0; number < rounds(); ++number) {
        Bits bits(static_cast<std::uint64_t>(number));
        const std::string peer = std::string("p") + std::to_string(bits.below(4));
        const Packed packed = mutator.make(bits, bits.below(2) == 0 ? session : std::string());
        std::vector<Frame> frames{packed.header};
        frames.insert(frames.end(), packed.frames.begin(), packed.frames.end());
        if (bits.below(2) == 0)
            bench.hub->control({peer, {}}, std::move(frames), bench.now);
        else
            bench.hub->stream({peer, {}}, std::move(frames), bench.now);
        bench.wait(std::chrono::milliseconds(1));
        bench.outbox.sent.clear();
        bench.lines.clear();
        bench.service.requests.clear();
        if (number == 1000)
            before = counted::memoryInUse();
    }
    QVERIFY2(counted::memoryInUse() <= before + mostBytes,
             qPrintable(QString("%1 grew to %2").arg(before).arg(counted::memoryInUse())));
    bench.wait(std::chrono::minutes(10)); // sessions that nobody uses make room
    QVERIFY(!bench.session("good again", "good").empty());
}

QTEST_APPLESS_MAIN(WireFuzz)
#include "wire_fuzz.moc"
