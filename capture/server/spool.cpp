// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/spool.h"

#include "core/base/file.h"
#include "core/wire/field_reader.h"
#include "core/wire/protocol.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <numeric>
#include <optional>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace moire::capture {

namespace fs = std::filesystem;

namespace {

constexpr auto lostSentence =
    "the daemon ended before the run did; rows that it had not stored yet are lost";
/// A disk is left with so much, since others write to it too.
constexpr std::uint64_t leftOnDisk = std::uint64_t{64} << 20U;

std::string typeOf(const wire::Message& message)
{
    return std::string(message.type());
}

/// What an index says of its run. Rows beyond `mostRows` and what comes behind them do not count.
class IndexSummary
{
public:
    IndexSummary(std::string run, trace::RowIndex mostRows)
        : m_mostRows(mostRows)
    {
        summary.run = std::move(run);
    }

    bool take(const wire::Message& message)
    {
        const std::string type = typeOf(message);
        wire::FieldReader reader(message.fields);
        if (type == spool::about) {
            reader.read("model", summary.model);
        } else if (type == wire::type::begin) {
            begun = true;
            reader.read("planned", summary.planned);
        } else if (type == wire::type::rows) {
            std::uint64_t first = 0;
            std::uint64_t count = 0;
            reader.read("first", first).read("count", count);
            if (reader.sound() && (first != summary.rows || count > m_mostRows - summary.rows))
                return false;
            summary.rows += count;
        } else if (type == wire::type::finish) {
            summary.state = wire::state::finished;
        } else if (type == wire::type::broken) {
            reader.read("state", summary.state).read("sentence", summary.sentence);
        } else if (type == spool::ended) {
            reader.read("seconds", summary.seconds)
                .read("waited", summary.waited)
                .read("messages", summary.messages);
        }
        return reader.sound();
    }

    SpooledRun summary;
    bool begun = false;

private:
    trace::RowIndex m_mostRows;
};

/// Calls of a log's maker that gave the messages of an index.
class LogMaker
{
public:
    LogMaker(wire::RunLog& log, std::shared_ptr<wire::RowSource> source)
        : m_log(log)
        , m_source(std::move(source))
    {}

    bool take(const wire::Message& message)
    {
        const std::string type = typeOf(message);
        if (type == spool::about || type == spool::ended)
            return true;
        if (type == wire::type::rows)
            return takeRows(message.fields);
        auto read = wire::readRunMessage(message, m_header ? &*m_header : nullptr);
        if (!read)
            return false;
        std::visit([this](auto& content) { put(content); }, *read);
        return true;
    }

private:
    bool takeRows(const wire::Fields& fields)
    {
        const auto count =
            wire::integerField(fields, "count", 1, std::numeric_limits<std::int64_t>::max());
        if (!count || !m_header)
            return false;
        m_log.addStoredRows(static_cast<std::size_t>(*count));
        m_log.committed(m_log.rows(), m_source);
        return true;
    }
    void put(wire::Begin& begin)
    {
        m_log.begin(begin.header, begin.planned);
        m_header = std::move(begin.header);
    }
    void put(wire::SampleBegin& begin)
    {
        m_log.beginSample(begin.index, begin.sample, begin.prompt);
    }
    void put(wire::TokensAdded& added) { m_log.addTokens(added.sample, added.first, added.tokens); }
    void put(wire::RowsAdded&) {}
    void put(trace::Event& event) { m_log.addEvent(event); }
    void put(wire::SampleEnd& end) { m_log.endSample(end.sample, end.stopReason, end.prediction); }
    void put(wire::Finish& finish) { m_log.finish(finish.closing); }
    void put(wire::Broken& broken) { m_log.breakOff(broken.state, broken.sentence); }
    void put(wire::Gap&) {}

    wire::RunLog& m_log;
    std::shared_ptr<wire::RowSource> m_source;
    std::optional<trace::RunHeader> m_header;
};

Result<int> lockFolder(const fs::path& folder)
{
    constexpr mode_t ownerOnly = 0600;
    const fs::path path = folder / ".lock";
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, ownerOnly);
    if (descriptor < 0)
        return base::systemError(errno, "the spool cannot be used", path);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor;
    ::close(descriptor);
    return Error{Errc::Invalid, "another daemon uses this spool", folder.string(),
                 "Choose another folder with --spool, or stop the other daemon"};
}

} // namespace

Result<std::unique_ptr<Spool>> Spool::open(const fs::path& folder, std::uint64_t limit)
{
    std::error_code trouble;
    if (fs::create_directories(folder, trouble))
        fs::permissions(folder, fs::perms::owner_all, trouble); // prompts lie in it
    if (trouble || !fs::is_directory(folder, trouble)) {
        Error error = base::systemError(trouble ? trouble.value() : ENOTDIR,
                                        "the spool cannot be made", folder);
        if (error.hint.empty())
            error.hint = "Choose another folder with --spool";
        return error;
    }
    const auto lock = lockFolder(folder);
    if (!lock)
        return lock.error();
    std::unique_ptr<Spool> spool(new Spool(folder, limit, *lock));
    std::vector<std::string> runs;
    for (const auto& entry : fs::directory_iterator(folder, trouble))
        if (entry.path().extension() == ".log")
            runs.push_back(entry.path().stem().string());
    std::sort(runs.begin(), runs.end());
    for (const std::string& run : runs)
        spool->take(run);
    return spool;
}

Spool::~Spool()
{
    ::close(m_lock);
}

/// Reads a run that was found; one that nobody ended is ended here.
void Spool::take(const std::string& run)
{
    const SpoolPaths paths = SpoolPaths::of(m_folder, run);
    constexpr trace::RowIndex all = std::numeric_limits<trace::RowIndex>::max();
    IndexSummary whole(run, all);
    const auto end = SpoolIndex::read(
        paths.index, [&](const wire::Message& message) { return whole.take(message); });
    if (!end)
        return; // a file of somebody else's
    if (!whole.begun) {
        paths.remove();
        return;
    }
    SpooledRun summary = whole.summary;
    if (summary.state.empty()) {
        const auto capture = openSpooled(paths.capture);
        IndexSummary sound(run, capture ? (*capture)->rowCount() : 0);
        const auto soundEnd = SpoolIndex::read(
            paths.index, [&](const wire::Message& message) { return sound.take(message); });
        auto index = SpoolIndex::resume(paths.index, soundEnd ? *soundEnd : 0);
        if (!soundEnd || !index
            || !index->add(wire::packBroken({run, 0}, wire::state::lost, lostSentence)))
            return;
        summary = sound.summary;
        summary.state = wire::state::lost;
        summary.sentence = lostSentence;
    }
    if (summary.messages == 0) // and so it was not closed
        if (const auto log = read(run, std::make_shared<wire::HoldLimit>()))
            summary.messages = (*log)->size();
    measure(run);
    summary.bytes = m_sizes[run];
    m_found.push_back(std::move(summary));
}

Result<std::unique_ptr<SpoolWriter>> Spool::begin(const SpoolWriter::Run& run,
                                                  const trace::RunHeader& header)
{
    auto writer = SpoolWriter::create(m_folder, run, header);
    if (writer)
        measure(run.name);
    return writer;
}

Result<std::shared_ptr<wire::RunLog>> Spool::read(const std::string& run,
                                                  std::shared_ptr<wire::HoldLimit> hold) const
{
    const SpoolPaths paths = SpoolPaths::of(m_folder, run);
    auto log = std::make_shared<wire::RunLog>(run, std::move(hold));
    LogMaker maker(*log, std::make_shared<SpooledRows>(paths.capture));
    const auto end = SpoolIndex::read(
        paths.index, [&](const wire::Message& message) { return maker.take(message); });
    if (!end)
        return end.error();
    if (!log->closed())
        log->breakOff(wire::state::lost, "the spool's index of the run is damaged");
    return log;
}

Result<std::vector<wire::SampleBegin>> Spool::prompts(const std::string& run) const
{
    std::vector<wire::SampleBegin> prompts;
    const trace::RunHeader any; // samples do not depend on it
    const auto end =
        SpoolIndex::read(SpoolPaths::of(m_folder, run).index, [&](const wire::Message& message) {
            if (typeOf(message) != wire::type::sample)
                return true;
            auto read = wire::readRunMessage(message, &any);
            if (read)
                prompts.push_back(std::get<wire::SampleBegin>(*std::move(read)));
            return bool(read);
        });
    if (!end)
        return end.error();
    return prompts;
}

void Spool::remove(const std::string& run)
{
    SpoolPaths::of(m_folder, run).remove();
    const std::lock_guard lock(m_mutex);
    m_sizes.erase(run);
}

std::uint64_t Spool::bytes() const
{
    const std::lock_guard lock(m_mutex);
    return std::accumulate(m_sizes.begin(), m_sizes.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

void Spool::measure(const std::string& run)
{
    const std::uint64_t size = SpoolPaths::of(m_folder, run).bytes();
    const std::lock_guard lock(m_mutex);
    m_sizes[run] = size;
}

bool Spool::isShort(std::uint64_t more) const
{
    if (m_limit > 0 && bytes() + more > m_limit)
        return true;
    std::error_code trouble;
    const auto disk = fs::space(m_folder, trouble);
    return !trouble && disk.available < more + leftOnDisk;
}

} // namespace moire::capture
