// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/spool_index.h"
#include "capture/server/spooled_rows.h"
#include "core/store/writer.h"
#include "core/wire/run_messages.h"

#include <filesystem>
#include <memory>
#include <string>

namespace moire::capture {

/// Where the files of a spooled run lie.
struct SpoolPaths
{
    std::filesystem::path capture; ///< RUN.moire; RUN.moire.part until it is complete
    std::filesystem::path index;   ///< RUN.log
    static SpoolPaths of(const std::filesystem::path& folder, const std::string& run);
    /// On the disk, what a file reaches beyond its content not counted.
    std::uint64_t bytes() const;
    void remove() const;
};

/// A run on its way into the spool: its capture, and the index of its messages. One thread. After
/// an error nothing more is written; what was committed stays readable.
class SpoolWriter
{
public:
    struct Run
    {
        std::string name;
        std::string model;
        wire::PlannedRows planned;
        std::size_t flushBytes = 0; ///< rows are committed when so many bytes have been gathered
    };
    static Result<std::unique_ptr<SpoolWriter>>
    create(const std::filesystem::path& folder, const Run& run, const trace::RunHeader& header);

    Result<void> beginSample(trace::SampleIndex index, const trace::Sample& sample,
                             const std::vector<trace::Token>& prompt);
    Result<void> addTokens(trace::SampleIndex sample, std::uint32_t first,
                           const std::vector<trace::Token>& tokens);
    Result<void> append(std::shared_ptr<const trace::RowBlock> block);
    Result<void> addEvent(const trace::Event& event);
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction);
    /// The capture is complete.
    Result<void> finish(const trace::Environment& closing);
    /// The run ended early; the capture stays as one that is incomplete.
    Result<void> breakOff(std::string_view state, const std::string& sentence);
    /// After finish() or breakOff(): what else is to be known of it when a daemon starts again.
    Result<void> close(double seconds, double waited, std::uint64_t messages);

    trace::RowIndex committedRows() const { return m_writer->committedRows(); }
    /// Rows that no file holds yet.
    trace::RowIndex waitingRows() const { return m_rows - committedRows(); }
    std::shared_ptr<wire::RowSource> source() const { return m_source; }
    std::uint64_t bytes() const { return m_paths.bytes(); }

private:
    SpoolWriter(SpoolPaths paths, std::string run, SpoolIndex index);
    wire::MessagePlace place() const { return {m_run, 0}; }

    SpoolPaths m_paths;
    std::string m_run;
    SpoolIndex m_index;
    std::unique_ptr<store::Writer> m_writer;
    std::shared_ptr<SpooledRows> m_source;
    trace::RowIndex m_rows = 0;
};

// The records of an index that are no messages of the run.
namespace spool {
inline constexpr std::string_view about = "about"; ///< the first: `run`, `model`
inline constexpr std::string_view ended = "ended"; ///< the last: `seconds`, `waited`, `messages`
wire::Packed packRows(trace::RowIndex first, std::size_t count); ///< `first`, `count`, no frames
wire::Packed packEnded(double seconds, double waited, std::uint64_t messages);
} // namespace spool

} // namespace moire::capture
