// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"

#include <cstdint>
#include <vector>

namespace moire::capture {

/// Hands everything on to another sink, and gives every token the byte offset of its bytes in the
/// sample's decoded text. One thread, as the sink behind it; that sink must outlive this one.
class TokenOffsets : public trace::RunSink
{
public:
    explicit TokenOffsets(trace::RunSink& sink)
        : m_sink(sink)
    {}

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& promptTokens) override;
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override;
    Result<void> append(trace::RowBlock block) override;
    Result<void> addEvent(const trace::Event& event) override { return m_sink.addEvent(event); }
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override;
    Result<void> finish(const trace::Environment& closing) override;

    std::uint64_t rowsHandedOn() const { return m_rows; }

private:
    trace::RunSink& m_sink;
    std::vector<std::int64_t> m_textLength; ///< by sample
    std::uint64_t m_rows = 0;
};

} // namespace moire::capture
