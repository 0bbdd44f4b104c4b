// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/record_command.h"

#include "app/capture/commands.h"
#include "app/capture/recorded_file.h"
#include "app/capture/remote_commands.h"
#include "app/capture/run_material.h"
#include "app/terminal/duration.h"
#include "app/terminal/work_watch.h"
#include "core/base/freed_memory.h"
#include "core/base/text.h"
#include "core/store/writer.h"
#include "core/wire/run_receiver.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace moire::app {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds glance{100}; ///< how long a silent stream is waited for in one go
constexpr seconds shortLoss{2};     ///< a link that is lost for less is not worth a word
constexpr seconds cancelTime{15};   ///< for the daemon's last messages after a cancel
constexpr seconds planTime{3600};   ///< a daemon may have others to plan before
constexpr seconds courtesyTime{5};  ///< for what need not succeed

/// One run on its way into a file.
class Recording
{
public:
    Recording(const RecordArguments& arguments, wire::Connection& connection, std::string run,
              WorkWatch& watch)
        : m_arguments(arguments)
        , m_connection(connection)
        , m_run(std::move(run))
        , m_watch(watch)
        , m_path(*arguments.run.output)
        , m_receiver(std::make_unique<wire::RunReceiver>(
              [this](const trace::RunHeader& header, wire::PlannedRows planned) {
                  return makeWriter(header, planned);
              }))
    {}

    Result<std::string> record()
    {
        auto stream = m_connection.stream(m_run, {});
        if (!stream)
            return stream.error();
        std::optional<Error> trouble = follow(**stream);
        stream->reset();
        return conclude(std::move(trouble));
    }

private:
    Result<std::unique_ptr<trace::RunSink>> makeWriter(const trace::RunHeader& header,
                                                       wire::PlannedRows planned)
    {
        store::WriterOptions options;
        options.expectedRows = planned.rows;
        options.expectedRowsExact = planned.exact;
        m_planned = planned.rows;
        m_taps = header.taps.size();
        m_watch.progress().total = planned.rows;
        auto writer = store::Writer::create(m_path, header, options);
        if (!writer)
            return writer.error();
        m_part = (*writer)->partialPath();
        return std::unique_ptr<trace::RunSink>(*std::move(writer));
    }

    std::string again() const
    {
        return "moire-capture record --from " + m_arguments.remote.from + " --attach " + m_run;
    }

    /// Takes messages until the run has ended, or something keeps it from going on.
    std::optional<Error> follow(wire::RunStream& stream)
    {
        while (m_receiver->ending() == wire::RunReceiver::Ending::None) {
            if (m_watch.stopToken().stop_requested() && !m_cancelled)
                if (auto over = stop())
                    return over;
            if (m_cancelled && Clock::now() >= m_giveUp)
                return Error{Errc::Cancelled, {}, {}, {}};
            auto message = stream.next(glance);
            if (!message)
                return message.error();
            if (auto lost = checkLink())
                return lost;
            if (!*message)
                continue;
            if (auto taken = m_receiver->take(**message); !taken) {
                m_ownFault = true;
                return taken.error();
            }
            m_watch.progress().done = m_receiver->rows();
        }
        return std::nullopt;
    }

    /// Ctrl-C: a run of our own is cancelled, and what it had made until then still comes.
    std::optional<Error> stop()
    {
        if (m_arguments.attach)
            return Error{Errc::Cancelled, {}, {}, "The run goes on at the daemon"};
        m_cancelled = true;
        m_giveUp = Clock::now() + cancelTime;
        m_connection.setPatience(courtesyTime);
        const auto cancelled = m_connection.cancel(m_run);
        if (!cancelled && cancelled.error().code != Errc::NotFound)
            return Error{Errc::Cancelled,
                         {},
                         {},
                         "The daemon could not be told, and may go on with run " + m_run};
        return std::nullopt;
    }

    std::optional<Error> checkLink()
    {
        if (m_connection.link() == wire::LinkState::Connected) {
            if (m_told)
                remark("the link is back.");
            m_told = false;
            m_lostSince.reset();
            return std::nullopt;
        }
        const auto now = Clock::now();
        if (!m_lostSince)
            m_lostSince = now;
        const auto lost = now - *m_lostSince;
        const seconds wait(m_arguments.remote.wait);
        if (lost >= wait) {
            Error trouble = m_connection.trouble();
            trouble.sentence += ", for " + durationText(static_cast<double>(wait.count()));
            trouble.hint = "When the daemon is there again: " + again();
            return trouble;
        }
        if (lost >= shortLoss && !m_told) {
            m_told = true;
            remark(m_connection.trouble().text() + " It is waited for.");
        }
        return std::nullopt;
    }

    Result<std::string> conclude(std::optional<Error> trouble)
    {
        const std::uint64_t rows = m_receiver->rows();
        const bool whole = m_receiver->ending() == wire::RunReceiver::Ending::Finished;
        if (!trouble && !whole)
            trouble = brokenOff();
        if (const std::uint64_t came = m_receiver->rows() + m_receiver->lostRows();
            trouble && m_planned > came)
            trouble->sentence += "; rows from " + std::to_string(came) + " on (there would be "
                                 + std::to_string(m_planned) + " at most) are missing";
        if (trouble && m_ownFault)
            keepOrCancel(*trouble);
        const std::size_t samples = m_receiver->samples();
        m_receiver.reset(); // commits what a run that ended early still holds
        if (trouble)
            return leftBy(*std::move(trouble), m_part, rows, m_planned);
        std::error_code ignored;
        return base::visibleText(m_path.string()) + ": " + summaryOf(rows, samples, m_taps) + ", "
               + sizeText(fs::file_size(m_path, ignored)) + '\n';
    }

    /// The run's own end before its last row, or rows that are missing in it.
    Error brokenOff() const
    {
        if (m_cancelled)
            return {Errc::Cancelled, {}, {}, {}};
        const std::string missing = m_receiver->missing();
        if (m_receiver->brokenState().empty())
            return {Errc::Io, missing, m_path.string(), "While the daemon has the run: " + again()};
        const std::string also = missing.empty() ? std::string() : "; " + missing;
        return {Errc::Io,
                "run " + m_run + " ended early at the daemon: " + m_receiver->sentence() + also,
                {},
                "The daemon's log may say more"};
    }

    /// What fails here need not fail there: a run that the daemon keeps can be recorded again.
    void keepOrCancel(Error& trouble)
    {
        m_connection.setPatience(courtesyTime);
        const auto state = m_connection.runState(m_run);
        if (state && state->spooled) {
            trouble.hint += trouble.hint.empty() ? "" : ". ";
            trouble.hint += "The daemon keeps the run: " + again();
        } else if (state && !m_arguments.attach) {
            (void)m_connection.cancel(m_run);
        }
    }

    const RecordArguments& m_arguments;
    wire::Connection& m_connection;
    std::string m_run;
    WorkWatch& m_watch;
    fs::path m_path;
    fs::path m_part;
    std::uint64_t m_planned = 0;
    std::size_t m_taps = 0;
    std::unique_ptr<wire::RunReceiver> m_receiver;
    bool m_cancelled = false;
    bool m_ownFault = false;
    bool m_told = false; ///< that the link is lost
    Clock::time_point m_giveUp;
    std::optional<Clock::time_point> m_lostSince;
};

Result<std::string> dryRun(const RecordArguments& arguments, wire::Connection& connection)
{
    const auto taps = connection.taps(arguments.request);
    if (!taps)
        return taps.error();
    const auto estimate = connection.estimate(arguments.request);
    if (!estimate)
        return estimate.error();
    std::vector<std::vector<std::string>> lines;
    for (const wire::TapEntry& tap : *taps)
        lines.push_back({tap.name, tap.dtype, std::to_string(tap.width), tap.kind});
    return columnsOf(lines) + "at most "
           + summaryOf(estimate->rows, estimate->samples, estimate->taps) + ", "
           + sizeText(estimate->bytes) + " (" + std::to_string(estimate->bytes) + "), roughly "
           + durationText(estimate->seconds) + '\n';
}

} // namespace

Result<std::string> recordCommand(const RecordArguments& arguments)
{
    base::keepFreedMemory();
    if (auto checked = checkOutput(arguments.run); !checked)
        return checked.error();
    // Before any thread is started, so that all leave the signals to the watch.
    WorkWatch watch("recording", ProgressLine::Shown, "rows");
    auto connection = connectTo(arguments.remote);
    if (!connection)
        return connection.error();
    wire::Connection& daemon = **connection;
    daemon.setStop(watch.stopToken());
    RemoteArguments atFirst = arguments.remote;
    atFirst.wait = 0; // --wait is for a link that was there
    if (const auto welcome = awaitDaemon(daemon, atFirst); !welcome)
        return welcome.error();
    daemon.setPatience(planTime);
    if (arguments.run.dryRun)
        return dryRun(arguments, daemon);
    std::string run;
    if (arguments.attach) {
        run = *arguments.attach;
        if (const auto state = daemon.runState(run); !state)
            return state.error();
    } else {
        const auto queued = daemon.run(arguments.request);
        if (!queued)
            return queued.error();
        run = queued->run;
        remark(
            "run " + run
            + (queued->place == 0 ? std::string() : ", behind " + counted(queued->place, "other"))
            + "; should this end, record it with --attach " + run + '.');
    }
    daemon.setStop({}); // from here on the recording decides what a signal means
    return Recording(arguments, daemon, run, watch).record();
}

} // namespace moire::app
