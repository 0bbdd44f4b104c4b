// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/token_offsets.h"

#include <cassert>
#include <utility>

namespace moire::capture {

namespace {

std::vector<trace::Token> placed(std::vector<trace::Token> tokens, std::int64_t& length)
{
    for (trace::Token& token : tokens) {
        token.textOffset = length;
        length += static_cast<std::int64_t>(token.bytes.size());
    }
    return tokens;
}

} // namespace

Result<trace::SampleIndex> TokenOffsets::beginSample(const trace::Sample& sample,
                                                     const std::vector<trace::Token>& promptTokens)
{
    std::int64_t length = 0;
    auto begun = m_sink.beginSample(sample, placed(promptTokens, length));
    if (begun) {
        m_textLength.resize(trace::indexOf(*begun) + 1);
        m_textLength[trace::indexOf(*begun)] = length;
    }
    return begun;
}

Result<void> TokenOffsets::addTokens(trace::SampleIndex sample,
                                     const std::vector<trace::Token>& tokens)
{
    assert(trace::indexOf(sample) < m_textLength.size());
    return m_sink.addTokens(sample, placed(tokens, m_textLength[trace::indexOf(sample)]));
}

Result<void> TokenOffsets::append(trace::RowBlock block)
{
    const std::size_t rows = block.rows.size();
    auto done = m_sink.append(std::move(block));
    if (done)
        m_rows += rows;
    return done;
}

Result<void> TokenOffsets::endSample(trace::SampleIndex sample, const std::string& stopReason,
                                     const std::string& prediction)
{
    return m_sink.endSample(sample, stopReason, prediction);
}

Result<void> TokenOffsets::finish(const trace::Environment& closing)
{
    return m_sink.finish(closing);
}

} // namespace moire::capture
