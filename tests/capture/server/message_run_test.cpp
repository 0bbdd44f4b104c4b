// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/message_run.h"
#include "capture/task/prompts.h"
#include "core/wire/protocol.h"
#include "tests/capture/server/served.h"

#include <QTest>

using namespace moire;
using namespace moire::capture;

/// Another run's messages as what is replayed.
class MessageRunTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aReplayIsThatOfTheRun_data();
    void aReplayIsThatOfTheRun();
    void promptsAloneAreFed();
    void damageIsRefused_data();
    void damageIsRefused();

private:
    served::Folder m_folder;
    served::Interpreter m_interpreter;
    std::vector<wire::Packed> m_messages;
    trace::RunPointer m_run;
};

namespace {

/// The messages that a replay needs, without values.
std::vector<wire::Packed> needed(const std::vector<wire::Packed>& all, bool withRows)
{
    std::vector<wire::Packed> chosen;
    for (const wire::Packed& packed : all) {
        const auto message = wire::unpack(packed, wire::clientLimits);
        const std::string_view type = message->type();
        if (type == wire::type::begin || type == wire::type::sample
            || (withRows && (type == wire::type::tokens || type == wire::type::rows)))
            chosen.push_back(packed);
    }
    return chosen;
}

} // namespace

void MessageRunTest::initTestCase()
{
    served::makeModels(m_folder / "models");
    DaemonOptions options;
    options.models = m_folder / "models";
    const auto daemon = Daemon::create(options, m_interpreter);
    (*daemon)->start({[] {}, [](const auto&) {}});
    const std::string run = served::begin(**daemon, served::runRequest("5 6 7,9 10,11", 4));
    QVERIFY(served::ends(**daemon, run));
    const auto log = (*daemon)->log(run);
    for (std::uint64_t i = 0; i < log->size(); ++i)
        m_messages.push_back(*log->read(i, {.all = false, .taps = {}}));
    m_run = served::runOf(*log);
    QVERIFY(m_run);
}

void MessageRunTest::aReplayIsThatOfTheRun_data()
{
    QTest::addColumn<int>("prefix");
    QTest::newRow("all") << -1;
    QTest::newRow("two tokens") << 2;
}

void MessageRunTest::aReplayIsThatOfTheRun()
{
    QFETCH(int, prefix);
    std::optional<std::uint32_t> taken;
    if (prefix >= 0)
        taken = static_cast<std::uint32_t>(prefix);
    const auto run = runFromMessages(wire::packTogether(needed(m_messages, true)), "ref.moire");
    QVERIFY2(run, run ? "" : run.error().text().c_str());
    const auto got = promptsFromRun(**run, nullptr, taken);
    const auto expected = promptsFromRun(*m_run, nullptr, taken);
    QVERIFY(got && expected);
    QCOMPARE(got->size(), expected->size());
    for (std::size_t i = 0; i < got->size(); ++i) {
        QCOMPARE((*got)[i].ids, (*expected)[i].ids);
        QCOMPARE((*got)[i].promptLength, (*expected)[i].promptLength);
        QVERIFY((*got)[i].sample == (*expected)[i].sample);
        QCOMPARE((*got)[i].askedIds, (*expected)[i].askedIds);
    }
}

void MessageRunTest::promptsAloneAreFed()
{
    const auto run = runFromMessages(wire::packTogether(needed(m_messages, false)), "ref");
    QVERIFY(run);
    const auto prompts = promptsToFeed(**run);
    QVERIFY(prompts);
    QCOMPARE(prompts->size(), std::size_t{3});
    QCOMPARE((*prompts)[0].ids, (std::vector<std::int32_t>{5, 6, 7}));
    QCOMPARE((*prompts)[2].promptLength, 1U);
    QCOMPARE((*prompts)[1].sample.replaySource, std::string("1"));
    QVERIFY(!promptsFromRun(**run, nullptr, {})); // there is no row to score
}

void MessageRunTest::damageIsRefused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const wire::Frame whole = wire::packTogether(needed(m_messages, true));
    const QByteArray bytes(reinterpret_cast<const char*>(whole.bytes.data()),
                           static_cast<qsizetype>(whole.size()));
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("cut short") << bytes.left(bytes.size() - 1);
    QTest::newRow("one byte") << bytes.left(1);
    QTest::newRow("noise") << QByteArray(1000, '\xff');
    QTest::newRow("no beginning") << bytes.mid(bytes.size() / 2);
    const auto second = wire::packTogether(std::span(m_messages).subspan(1, 1));
    QTest::newRow("a sample first") << QByteArray(
        reinterpret_cast<const char*>(second.bytes.data()), static_cast<qsizetype>(second.size()));
}

void MessageRunTest::damageIsRefused()
{
    QFETCH(QByteArray, bytes);
    std::vector<std::byte> copy(static_cast<std::size_t>(bytes.size()));
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), copy.begin());
    const auto run = runFromMessages(wire::Frame::of(std::move(copy)), "ref.moire");
    QVERIFY(!run);
    QCOMPARE(run.error().code, Errc::Invalid);
    QCOMPARE(run.error().place, std::string("ref.moire"));
    QVERIFY(!run.error().hint.empty());
}

QTEST_APPLESS_MAIN(MessageRunTest)
#include "message_run_test.moc"
