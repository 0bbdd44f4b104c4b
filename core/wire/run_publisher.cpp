// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/run_log.h"

#include <utility>

namespace moire::wire {

RunPublisher::RunPublisher(std::shared_ptr<RunLog> log, const trace::RunHeader& header,
                           PlannedRows planned, std::stop_token stop)
    : m_log(std::move(log))
    , m_stop(std::move(stop))
{
    m_log->begin(header, planned);
}

Result<trace::SampleIndex> RunPublisher::beginSample(const trace::Sample& sample,
                                                     const std::vector<trace::Token>& promptTokens)
{
    const trace::SampleIndex index{static_cast<std::uint32_t>(m_tokens.size())};
    m_tokens.push_back(static_cast<std::uint32_t>(promptTokens.size()));
    m_log->beginSample(index, sample, promptTokens);
    return index;
}

Result<void> RunPublisher::addTokens(trace::SampleIndex sample,
                                     const std::vector<trace::Token>& tokens)
{
    const std::size_t index = indexOf(sample);
    if (index >= m_tokens.size())
        return Error{Errc::Invalid, "tokens of a sample that has not begun", m_log->run(), {}};
    m_log->addTokens(sample, m_tokens[index], tokens);
    m_tokens[index] += static_cast<std::uint32_t>(tokens.size());
    return {};
}

Result<void> RunPublisher::append(trace::RowBlock block)
{
    return append(std::make_shared<const trace::RowBlock>(std::move(block)));
}

Result<void> RunPublisher::append(std::shared_ptr<const trace::RowBlock> block)
{
    return m_log->addRows(std::move(block), m_stop);
}

Result<void> RunPublisher::addEvent(const trace::Event& event)
{
    m_log->addEvent(event);
    return {};
}

Result<void> RunPublisher::endSample(trace::SampleIndex sample, const std::string& stopReason,
                                     const std::string& prediction)
{
    m_log->endSample(sample, stopReason, prediction);
    return {};
}

Result<void> RunPublisher::finish(const trace::Environment& closing)
{
    m_log->finish(closing);
    return {};
}

} // namespace moire::wire
