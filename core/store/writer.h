// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace moire::store {

struct WriterOptions
{
    /// Rows that the run will have, 0 when unknown. Sizes the chunks: a small capture stays small,
    /// a large one keeps few chunks. More or fewer rows may come.
    std::uint64_t expectedRows = 0;
    /// Exactly so many rows belong to the run; else it is an upper bound (a sample may end early).
    bool expectedRowsExact = false;
    /// A commit follows the first append after this time or this many gathered bytes.
    std::chrono::milliseconds flushInterval{250};
    std::size_t flushBytes = std::size_t{16} << 20U;
};

/// Writes a run to a capture file (FORMAT.md). Until finish() it is PATH.part, which opens as an
/// incomplete capture at any time, also after kill -9; finish() renames it to PATH and replaces
/// what was there. One thread. After an error every call gives that error again; what was
/// committed before stays in PATH.part. Destroyed without finish() it commits what it has.
class Writer : public trace::RunSink
{
public:
    /// Errors: NotFound (no such folder), Io (read-only), NoSpace, Invalid (a header that the
    /// format cannot hold; PATH is a folder, a device or a file that is no capture; another process
    /// is recording into it).
    static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& path,
                                                  const trace::RunHeader& header,
                                                  const WriterOptions& options = {});
    ~Writer() override;

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& promptTokens) override;
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override;
    Result<void> append(trace::RowBlock block) override;
    /// The same of a block that somebody else keeps too; nothing is copied.
    Result<void> append(std::shared_ptr<const trace::RowBlock> block);
    Result<void> addEvent(const trace::Event& event) override;
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override;
    Result<void> finish(const trace::Environment& closing) override;

    /// Writes and commits everything gathered, now.
    Result<void> flush();
    /// Rows that a reader who opens the file now would find.
    std::uint64_t committedRows() const;
    /// The partial file, where the rows are until finish().
    std::filesystem::path partialPath() const;

private:
    class State;
    explicit Writer(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

/// PATH.part, the name under which a run is recorded.
std::filesystem::path partialPathOf(const std::filesystem::path& path);

} // namespace moire::store
