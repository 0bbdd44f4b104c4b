// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/row_block.h"
#include "core/trace/run.h"

#include <memory>
#include <string>

namespace moire::trace {

/// Where rows of one run go: a file's writer, a builder in memory, a publisher. One thread.
/// Order of calls: beginSample (any time before its rows), append, addTokens, endSample, finish.
class RunSink
{
public:
    virtual ~RunSink() = default;
    virtual Result<SampleIndex> beginSample(const Sample& sample,
                                            const std::vector<Token>& promptTokens) = 0;
    /// Response tokens as they come.
    virtual Result<void> addTokens(SampleIndex sample, const std::vector<Token>& tokens) = 0;
    virtual Result<void> append(RowBlock block) = 0;
    virtual Result<void> addEvent(const Event& event) = 0;
    virtual Result<void> endSample(SampleIndex sample, const std::string& stopReason,
                                   const std::string& prediction) = 0;
    /// No more rows. `closing` holds the fields known only now (end time, wall seconds, …).
    virtual Result<void> finish(const Environment& closing) = 0;
};

/// A run in memory, for importers, live views and tests. snapshot() costs O(1) in values: pieces
/// are shared between snapshots and never change.
class RunBuilder : public RunSink
{
public:
    RunBuilder(RunHeader header, std::string source);
    ~RunBuilder() override;

    Result<SampleIndex> beginSample(const Sample& sample,
                                    const std::vector<Token>& promptTokens) override;
    Result<void> addTokens(SampleIndex sample, const std::vector<Token>& tokens) override;
    Result<void> append(RowBlock block) override;
    Result<void> addEvent(const Event& event) override;
    Result<void> endSample(SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override;
    Result<void> finish(const Environment& closing) override;

    /// What has come so far; complete() once finish() was called.
    RunPointer snapshot() const;

private:
    class Snapshot;
    std::unique_ptr<Snapshot> m_state;
};

} // namespace moire::trace
