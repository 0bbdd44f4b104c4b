// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/live_run.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace moire::live {

struct CaptureStoreOptions
{
    /// The capture to make, which then stays. Empty: a temporary one, removed with the store.
    std::filesystem::path file;
    std::filesystem::path folder; ///< of the temporary one; empty: the system's
    std::string source;           ///< what snapshots call themselves: an address and a run
    /// Rows in memory beyond this are read from the file instead.
    std::size_t heldBytes = std::size_t{64} << 20U;
};

/// A run that is received, in a growing capture file: snapshots show its last rows from memory and
/// those before from the mapped file, so that one costs no more than the rows since the last.
/// One thread, but for the runs that snapshot() gave.
class CaptureStore : public wire::LiveStore
{
public:
    /// Errors: those of store::Writer::create().
    static Result<std::unique_ptr<CaptureStore>> create(const trace::RunHeader& header,
                                                        wire::PlannedRows planned,
                                                        const CaptureStoreOptions& options);
    ~CaptureStore() override;

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& promptTokens) override;
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override;
    Result<void> append(trace::RowBlock block) override;
    Result<void> addEvent(const trace::Event& event) override;
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override;
    Result<void> finish(const trace::Environment& closing) override;

    /// What has come so far; the same object as before when nothing has come since. After finish()
    /// the finished capture.
    Result<trace::RunPointer> snapshot() override;

    /// Where the rows are: PATH.part until finish().
    std::filesystem::path path() const;
    /// Copies what there is to another file, which takes its place whole or not at all; an
    /// unfinished run becomes an incomplete capture. Goes on recording to where it did. Errors: Io,
    /// NoSpace, Invalid (the file that is being recorded).
    Result<void> saveAs(const std::filesystem::path& path);

private:
    class State;
    explicit CaptureStore(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

} // namespace moire::live
