// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/block_rows.h"
#include "core/trace/run.h"

#include <memory>
#include <string>
#include <vector>

namespace moire::live {

/// What a growing run has at one moment: its first rows in the capture file, its last ones in
/// memory. Everything is shared with the snapshots before and after, and never changes.
struct GrowingParts
{
    std::shared_ptr<const trace::RunHeader> header;
    std::string source;
    std::uint64_t generation = 0;
    std::uint64_t expectedRows = 0; ///< 0: not exactly known
    bool complete = false;
    std::vector<trace::Sample> samples;
    std::vector<std::shared_ptr<const std::vector<trace::Token>>> tokens; ///< by sample
    std::vector<trace::Event> events;
    trace::RunPointer stored; ///< null: none yet
    trace::RowIndex storedRows = 0;
    trace::BlockRows held; ///< from row storedRows on
};

class GrowingRun final : public trace::Run
{
public:
    explicit GrowingRun(GrowingParts parts)
        : m_parts(std::move(parts))
    {}

    const trace::RunHeader& header() const override { return *m_parts.header; }
    std::string source() const override { return m_parts.source; }
    std::uint64_t generation() const override { return m_parts.generation; }
    bool complete() const override { return m_parts.complete; }
    std::optional<std::uint64_t> missingRows() const override;
    std::span<const trace::Sample> samples() const override { return m_parts.samples; }
    std::span<const trace::Token> tokens(trace::SampleIndex sample) const override;
    std::span<const trace::Event> events() const override { return m_parts.events; }
    trace::RowIndex rowCount() const override { return m_parts.storedRows + m_parts.held.count(); }
    trace::Row row(trace::RowIndex r) const override;
    std::span<const std::uint64_t> digests(trace::RowIndex r) const override;
    std::span<const trace::Counts> counts(trace::RowIndex r) const override;
    std::span<const trace::Statistics> statistics(trace::RowIndex r) const override;
    Result<trace::ValueView> values(trace::TapIndex tap, trace::RowIndex rowBegin,
                                    trace::RowIndex rowEnd) const override;
    Result<trace::TopKView> topK(trace::RowIndex r) const override;
    Result<trace::RoutingView> routing(std::size_t router, trace::RowIndex r) const override;
    Result<void> stillSound() const override;

private:
    bool inFile(trace::RowIndex r) const { return r < m_parts.storedRows; }
    trace::RowIndex inMemory(trace::RowIndex r) const { return r - m_parts.storedRows; }

    GrowingParts m_parts;
};

} // namespace moire::live
