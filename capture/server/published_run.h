// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/spool_writer.h"
#include "core/trace/run_builder.h"
#include "core/wire/run_log.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace moire::capture {

/// Where the records of a run go while it is made: into the spool, as long as that takes them, and
/// then into its log, where clients find them. One thread.
class PublishedRun : public trace::RunSink
{
public:
    struct Places
    {
        std::shared_ptr<wire::RunLog> log;
        std::unique_ptr<SpoolWriter> spool; ///< null: not spooled
        /// Whether so many bytes more may go into the spool; asked before.
        std::function<bool(std::uint64_t)> hasRoom;
        /// Called once when it is not spooled any more.
        std::function<void(const Error&)> unspooled;
    };
    PublishedRun(Places places, const trace::RunHeader& header, wire::PlannedRows planned,
                 std::stop_token stop);

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& promptTokens) override;
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override;
    /// Errors: Cancelled, when it had to wait for a client until the stop.
    Result<void> append(trace::RowBlock block) override;
    Result<void> addEvent(const trace::Event& event) override;
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override;
    Result<void> finish(const trace::Environment& closing) override;

    /// The run ends here, unfinished.
    void breakOff(std::string_view state, const std::string& sentence);
    /// After the end; closes the spool's files.
    void close(double seconds);
    bool isSpooled() const { return m_places.spool != nullptr; }

private:
    /// Keeps it in the spool if that goes; else the spool is left as it is.
    template <class Work>
    void spool(Work&& work);
    void leaveSpool(const Error& reason);
    void tellCommitted();

    Places m_places;
    std::stop_token m_stop;
    std::vector<std::uint32_t> m_tokens; ///< of each sample so far
};

/// Bytes of everything in a block.
std::uint64_t bytesOf(const trace::RowBlock& block);

} // namespace moire::capture
