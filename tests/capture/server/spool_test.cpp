// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/spool.h"
#include "core/store/mapped_run.h"
#include "core/wire/protocol.h"
#include "tests/capture/server/served.h"

#include <QTest>

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace moire;
using namespace moire::capture;
namespace fs = std::filesystem;
namespace state = moire::wire::state;
namespace type = moire::wire::type;

/// Runs that outlive the daemon.
class SpoolTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();

    void aFinishedRunIsThereAgain();
    void aCancelledRunIsThereAgain();
    void rowsComeFromTheSpoolWhenMemoryIsShort();
    void aKilledDaemonLosesNoCommittedRow_data();
    void aKilledDaemonLosesNoCommittedRow();
    void everyTornIndexIsRead();
    void forgottenFilesAreGone();
    void theOldestGoesAtTheLimit();
    void whoIsReadStays();
    void aFullSpoolIsLeft();
    void aFullDiskIsLeft_data();
    void aFullDiskIsLeft();
    void oneDaemonASpool();
    void foreignFilesStay();
    void theFolderIsPrivate();

private:
    /// In the spool, of the run that the tests of limits make.
    std::uint64_t bytesOfARun()
    {
        const fs::path own = std::exchange(m_spool, m_folder / "measured");
        const auto measured = daemon();
        const std::string run = served::begin(*measured, served::runRequest("5 6 7", 50));
        served::ends(*measured, run);
        m_spool = own;
        return SpoolPaths::of(m_folder / "measured", run).bytes();
    }
    int withFullDisk(unsigned rows);
    static constexpr int longRun = 300; ///< tokens
    std::unique_ptr<Daemon> daemon(std::uint64_t limit = 0,
                                   std::size_t hold = std::size_t{1} << 28U)
    {
        DaemonOptions options;
        options.models = m_folder / "models";
        options.spool = m_spool;
        options.spoolLimit = limit;
        options.holdLimit = hold;
        auto made = Daemon::create(options, m_interpreter);
        if (!made)
            return nullptr;
        (*made)->start({[] {}, [](const auto&) {}});
        return *std::move(made);
    }
    /// The messages' bytes, one string each.
    static std::vector<std::string> bytesOf(const wire::RunLog& log)
    {
        std::vector<std::string> all;
        for (const wire::Packed& packed : served::messagesOf(log)) {
            const wire::Frame frame = wire::packTogether(std::span(&packed, 1));
            all.emplace_back(reinterpret_cast<const char*>(frame.bytes.data()), frame.size());
        }
        return all;
    }

    served::Folder m_folder;
    served::Interpreter m_interpreter;
    fs::path m_spool;
};

void SpoolTest::initTestCase()
{
    served::makeModels(m_folder / "models");
}

void SpoolTest::init()
{
    static int number = 0;
    m_spool = m_folder / ("spool" + std::to_string(number++));
}

void SpoolTest::aFinishedRunIsThereAgain()
{
    const auto asked = served::runRequest("5 6 7,9 10", 6);
    std::vector<std::string> before;
    std::string run;
    wire::RunState ended;
    {
        const auto first = daemon();
        run = served::begin(*first, asked);
        QVERIFY(served::ends(*first, run));
        ended = served::stateOf(*first, run);
        QVERIFY(ended.spooled);
        before = bytesOf(*first->log(run));
    }
    const auto capture = store::MappedRun::open(m_spool / (run + ".moire"));
    QVERIFY(capture);
    QCOMPARE(served::difference(**capture, *served::expectedRun(m_folder / "models/small", asked)),
             std::string());
    const auto second = daemon();
    const auto again = served::stateOf(*second, run);
    QCOMPARE(again.state, std::string(state::finished));
    QCOMPARE(again.rows, ended.rows);
    QCOMPARE(again.messages, ended.messages);
    QCOMPARE(again.planned, ended.planned);
    QCOMPARE(again.model, std::string("small"));
    QVERIFY(again.spooled);
    const auto log = second->log(run);
    QVERIFY(log && log->closed());
    QVERIFY(bytesOf(*log) == before);
    const auto prompts = served::ask(*second, served::request(type::prompts, {{"run", run}}));
    QCOMPARE(prompts.fields.at("samples").size(), std::size_t{2});
}

void SpoolTest::aCancelledRunIsThereAgain()
{
    std::vector<std::string> before;
    std::string run;
    {
        const auto first = daemon();
        run = served::begin(*first, served::runRequest("5 6 7", 400));
        QVERIFY(served::soon([&] { return served::stateOf(*first, run).rows > 5; }));
        served::ask(*first, served::request(type::cancel, {{"run", run}}));
        QVERIFY(served::ends(*first, run));
        before = bytesOf(*first->log(run));
    }
    const auto second = daemon();
    QCOMPARE(served::stateOf(*second, run).state, std::string(state::cancelled));
    QVERIFY(bytesOf(*second->log(run)) == before);
}

/// A daemon that may hold next to nothing gives every row again.
void SpoolTest::rowsComeFromTheSpoolWhenMemoryIsShort()
{
    constexpr std::size_t hold = 100'000;
    const auto asked = served::runRequest("5 6 7,9 10", 60);
    const auto small = daemon(0, hold);
    const std::string run = served::begin(*small, asked);
    QVERIFY(served::ends(*small, run));
    const auto state = served::stateOf(*small, run);
    QCOMPARE(state.state, std::string(state::finished));
    QVERIFY(state.bytes > 10 * hold);
    const auto status = served::ask(*small, served::request(type::status));
    QVERIFY(status.fields.at("held").get<std::size_t>() <= hold);
    const auto received = served::runOf(*small->log(run));
    QVERIFY(received);
    QCOMPARE(served::difference(*received, *served::expectedRun(m_folder / "models/small", asked)),
             std::string());
}

void SpoolTest::aKilledDaemonLosesNoCommittedRow_data()
{
    QTest::addColumn<int>("rows");
    for (const int rows : {1, 20, 80})
        QTest::addRow("after %d rows", rows) << rows;
}

void SpoolTest::aKilledDaemonLosesNoCommittedRow()
{
    QFETCH(int, rows);
    int ready[2] = {};
    QCOMPARE(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        // A daemon of its own; it is killed while it runs.
        const auto first = daemon();
        const std::string run = served::begin(*first, served::runRequest("5 6 7", 400));
        served::soon([&] { return served::stateOf(*first, run).rows > unsigned(rows); });
        static_cast<void>(::write(ready[1], run.data(), run.size()));
        for (;;)
            ::pause();
    }
    char name[64] = {};
    QVERIFY(::read(ready[0], name, sizeof name - 1) > 0);
    ::close(ready[0]);
    ::close(ready[1]);
    QTest::qWait(100); // somewhere in its work
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);

    std::vector<std::string> before;
    {
        const auto second = daemon();
        QVERIFY(second);
        const auto found = served::stateOf(*second, name);
        QCOMPARE(found.state, std::string(state::lost));
        const auto part = store::MappedRun::open(m_spool / (std::string(name) + ".moire.part"));
        QVERIFY(part);
        QVERIFY(found.rows <= (*part)->rowCount());
        QVERIFY(found.rows + 1 >= (*part)->rowCount());
        const auto received = served::runOf(*second->log(name));
        QVERIFY(received);
        QCOMPARE(received->rowCount(), found.rows);
        for (trace::RowIndex r = 0; r < found.rows; ++r)
            QVERIFY(std::ranges::equal(received->digests(r), (*part)->digests(r)));
        before = bytesOf(*second->log(name));
        QCOMPARE(before.size(), found.messages);
    }
    const auto third = daemon(); // and it stays so
    QVERIFY(bytesOf(*third->log(name)) == before);
}

/// Whatever a kill leaves of the index: what is whole counts.
void SpoolTest::everyTornIndexIsRead()
{
    std::string run;
    std::vector<std::string> whole;
    {
        const auto first = daemon();
        run = served::begin(*first, served::runRequest("5 6", 3));
        QVERIFY(served::ends(*first, run));
        whole = bytesOf(*first->log(run));
    }
    const SpoolPaths paths = SpoolPaths::of(m_spool, run);
    const auto size = fs::file_size(paths.index);
    fs::copy_file(paths.index, m_folder / "index");
    std::uintmax_t last = 0;
    for (std::uintmax_t cut = 0; cut < size; cut += 1 + size / 200) {
        fs::copy_file(m_folder / "index", paths.index, fs::copy_options::overwrite_existing);
        fs::resize_file(paths.index, cut);
        auto spool = Spool::open(m_spool, 0);
        QVERIFY(spool);
        const auto found = (*spool)->found();
        if (found.empty()) {
            // Without a beginning there is no run, and its files are gone.
            fs::copy_file(m_folder / "index", paths.index, fs::copy_options::overwrite_existing);
            QCOMPARE(last, std::uintmax_t{0});
            continue;
        }
        const auto log = (*spool)->read(run, std::make_shared<wire::HoldLimit>());
        QVERIFY(log && (*log)->closed());
        QVERIFY((*log)->size() >= last);
        last = (*log)->size();
        const auto now = bytesOf(**log);
        for (std::size_t i = 0; i + 1 < now.size(); ++i)
            QVERIFY(now[i].find("gap") != std::string::npos || now[i] == whole[i]);
    }
    QVERIFY(last >= whole.size() - 1);
}

void SpoolTest::forgottenFilesAreGone()
{
    const auto served = daemon();
    const std::string run = served::begin(*served, served::runRequest("5 6", 3));
    QVERIFY(served::ends(*served, run));
    QVERIFY(fs::exists(m_spool / (run + ".moire")));
    QCOMPARE(served::ask(*served, served::request(type::forget, {{"run", run}})).type(),
             type::forgotten);
    QVERIFY(!fs::exists(m_spool / (run + ".moire")));
    QVERIFY(!fs::exists(m_spool / (run + ".log")));
    const auto status = served::ask(*served, served::request(type::status));
    QCOMPARE(status.fields.at("spool").get<std::uint64_t>(), std::uint64_t{0});
}

namespace {

std::uint64_t spoolOf(Daemon& daemon)
{
    return served::ask(daemon, served::request(type::status)).fields.at("spool");
}

} // namespace

void SpoolTest::theOldestGoesAtTheLimit()
{
    const std::uint64_t limit = 3 * bytesOfARun();
    const auto served = daemon(limit);
    std::vector<std::string> runs;
    for (int i = 0; i < 6; ++i) {
        runs.push_back(served::begin(*served, served::runRequest("5 6 7", 50)));
        QVERIFY(served::ends(*served, runs.back()));
        QVERIFY(served::stateOf(*served, runs.back()).spooled);
        QVERIFY(spoolOf(*served) <= limit + limit / 10);
    }
    QCOMPARE(served::stateOf(*served, runs.front()).state, std::string("not-found"));
    QVERIFY(!fs::exists(m_spool / (runs.front() + ".log")));
    QCOMPARE(served::stateOf(*served, runs.back()).state, std::string(state::finished));
}

void SpoolTest::whoIsReadStays()
{
    const auto served = daemon(3 * bytesOfARun());
    const std::string first = served::begin(*served, served::runRequest("5 6 7", 50));
    QVERIFY(served::ends(*served, first));
    const auto reader = served->log(first);
    const auto before = bytesOf(*reader);
    for (int i = 0; i < 6; ++i)
        QVERIFY(served::ends(*served, served::begin(*served, served::runRequest("5 6", 50))));
    QCOMPARE(served::stateOf(*served, first).state, std::string(state::finished));
    QVERIFY(bytesOf(*reader) == before);
}

void SpoolTest::aFullSpoolIsLeft()
{
    const auto asked = served::runRequest("5 6 7", 50);
    const auto served = daemon(bytesOfARun() / 2);
    const std::string run = served::begin(*served, asked);
    QVERIFY(served::ends(*served, run));
    const auto ended = served::stateOf(*served, run);
    QCOMPARE(ended.state, std::string(state::finished));
    QVERIFY(!ended.spooled);
    const auto received = served::runOf(*served->log(run));
    QCOMPARE(served::difference(*received, *served::expectedRun(m_folder / "models/small", asked)),
             std::string());
}

void SpoolTest::aFullDiskIsLeft_data()
{
    QTest::addColumn<int>("rows");
    QTest::newRow("from the start") << 0;
    QTest::newRow("in the middle") << 10;
}

/// A limit on the size of files is a disk that is full, in a process of its own.
void SpoolTest::aFullDiskIsLeft()
{
    QFETCH(int, rows);
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(withFullDisk(unsigned(rows)));
    int status = 0;
    ::waitpid(child, &status, 0);
    QVERIFY(WIFEXITED(status));
    QCOMPARE(WEXITSTATUS(status), 0);
    // What was spooled is there at the next start, and says that it is not all.
    const auto next = daemon();
    const auto runs = served::ask(*next, served::request(type::runs)).fields.at("runs");
    QCOMPARE(runs.size(), std::size_t(rows > 0 ? 1 : 0));
    for (const wire::Fields& run : runs) {
        QCOMPARE(run.at("state").get<std::string>(), std::string(state::lost));
        QVERIFY(run.at("rows").get<int>() < longRun);
    }
}

/// 0, or where it went wrong.
int SpoolTest::withFullDisk(unsigned rows)
{
    std::signal(SIGXFSZ, SIG_IGN);
    const auto limit = [] {
        constexpr rlim_t bytes = 50'000;
        const rlimit both{bytes, bytes};
        ::setrlimit(RLIMIT_FSIZE, &both);
    };
    const auto asked = served::runRequest("5 6 7", longRun);
    const auto served = daemon();
    if (!served)
        return 10;
    if (rows == 0)
        limit();
    const std::string run = served::begin(*served, asked);
    if (rows > 0 && !served::soon([&] { return served::stateOf(*served, run).rows > rows; }))
        return 11;
    limit();
    if (!served::ends(*served, run))
        return 12;
    const auto ended = served::stateOf(*served, run);
    if (ended.state != state::finished)
        return 13;
    if (ended.spooled)
        return 14;
    const auto received = served::runOf(*served->log(run));
    const auto expected = served::expectedRun(m_folder / "models/small", asked);
    return received && served::difference(*received, *expected).empty() ? 0 : 15;
}

void SpoolTest::oneDaemonASpool()
{
    const auto first = daemon();
    QVERIFY(first);
    const auto second = Spool::open(m_spool, 0);
    QVERIFY(!second);
    QVERIFY(second.error().sentence.find("another daemon") != std::string::npos);
}

void SpoolTest::foreignFilesStay()
{
    fs::create_directories(m_spool);
    for (const char* name : {"notes.log", "mine.moire", "empty.log"})
        std::ofstream(m_spool / name) << (std::string(name) == "empty.log" ? "" : "something else");
    {
        const auto served = daemon();
        QCOMPARE(served::ask(*served, served::request(type::runs)).fields.at("runs").size(),
                 std::size_t{0});
    }
    for (const char* name : {"notes.log", "mine.moire", "empty.log"})
        QVERIFY(fs::exists(m_spool / name));
}

void SpoolTest::theFolderIsPrivate()
{
    const auto served = daemon();
    QCOMPARE(fs::status(m_spool).permissions(), fs::perms::owner_all);
    std::ofstream(m_folder / "file") << "x";
    QVERIFY(!Spool::open(m_folder / "file", 0));
}

QTEST_GUILESS_MAIN(SpoolTest)
#include "spool_test.moc"
