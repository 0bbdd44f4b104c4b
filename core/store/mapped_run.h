// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/run.h"

#include <cstddef>
#include <filesystem>
#include <memory>

namespace moire::store {

/// A capture file as a Run: values, digests, counts and top-K tables lie in the mapped file, in
/// place; samples and tokens are read at opening. Immutable: an incomplete file shows what was
/// committed when it was opened. Any thread may call any function. A file that shrinks while open:
/// values(), topK() and routing() say so from then on, and stillSound() too; what was mapped reads
/// as zeros (FORMAT.md, section 6). A row's digests, counts, statistics, top-K table and routing
/// are held against its roll-up and side digest when they are first asked for; once a row does not
/// hold, the same functions say so.
class MappedRun final : public trace::Run
{
public:
    /// Errors: NotFound, Io (unreadable), Invalid (a folder), Unsupported (another format version;
    /// not a capture), Damaged (truncated; a digest or number that does not hold).
    static Result<std::shared_ptr<const MappedRun>> open(const std::filesystem::path& path);
    /// The same for a process that records into the file itself: the first `soundRows` rows, which
    /// it wrote and which have been committed, are not held against their digests again.
    static Result<std::shared_ptr<const MappedRun>> openOwn(const std::filesystem::path& path,
                                                            trace::RowIndex soundRows);
    ~MappedRun() override;

    const trace::RunHeader& header() const override;
    std::string source() const override;
    std::uint64_t generation() const override;
    bool complete() const override;
    std::optional<std::uint64_t> missingRows() const override;
    std::span<const trace::Sample> samples() const override;
    std::span<const trace::Token> tokens(trace::SampleIndex sample) const override;
    std::span<const trace::Event> events() const override;
    trace::RowIndex rowCount() const override;
    trace::Row row(trace::RowIndex r) const override;
    std::span<const std::uint64_t> digests(trace::RowIndex r) const override;
    std::span<const trace::Counts> counts(trace::RowIndex r) const override;
    std::span<const trace::Statistics> statistics(trace::RowIndex r) const override;
    Result<trace::ValueView> values(trace::TapIndex tap, trace::RowIndex rowBegin,
                                    trace::RowIndex rowEnd) const override;
    Result<trace::TopKView> topK(trace::RowIndex r) const override;
    Result<trace::RoutingView> routing(std::size_t router, trace::RowIndex r) const override;
    Result<void> stillSound() const override;

    /// The writer of an incomplete file was alive when it was opened.
    bool beingWritten() const;

private:
    class State;
    explicit MappedRun(std::unique_ptr<const State> state);
    std::unique_ptr<const State> m_state;
};

} // namespace moire::store
