// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/trace/run_builder.h"

#include "core/trace/block_rows.h"

#include <utility>

namespace moire::trace {

/// The builder's own state, copied for every snapshot; blocks are shared.
class RunBuilder::Snapshot : public Run
{
public:
    RunHeader m_header;
    std::string m_source;
    std::uint64_t m_generation = 0;
    bool m_complete = false;
    std::vector<Sample> m_samples;
    std::vector<std::vector<Token>> m_tokens;
    std::vector<Event> m_events;
    BlockRows m_rows;

    const RunHeader& header() const override { return m_header; }
    std::string source() const override { return m_source; }
    std::uint64_t generation() const override { return m_generation; }
    bool complete() const override { return m_complete; }
    std::optional<std::uint64_t> missingRows() const override
    {
        return m_complete ? std::optional<std::uint64_t>(0) : std::nullopt;
    }
    std::span<const Sample> samples() const override { return m_samples; }
    std::span<const Token> tokens(SampleIndex sample) const override
    {
        return m_tokens.at(indexOf(sample));
    }
    std::span<const Event> events() const override { return m_events; }
    RowIndex rowCount() const override { return m_rows.count(); }

    Row row(RowIndex r) const override { return m_rows.row(r); }
    std::span<const std::uint64_t> digests(RowIndex r) const override
    {
        return m_rows.digests(r, m_header.taps.size());
    }
    std::span<const Counts> counts(RowIndex r) const override
    {
        return m_rows.counts(r, m_header.taps.size());
    }
    std::span<const Statistics> statistics(RowIndex r) const override
    {
        return m_rows.statistics(r, m_header.taps.size());
    }

    Result<ValueView> values(TapIndex tap, RowIndex rowBegin, RowIndex rowEnd) const override
    {
        if (m_header.level != Level::Full)
            return Error{Errc::NotFound,
                         "values were not recorded at level " + std::string(nameOf(m_header.level)),
                         m_source, "Record with --level full"};
        if (rowBegin >= rowEnd || rowEnd > rowCount() || indexOf(tap) >= m_header.taps.size())
            return Error{Errc::Invalid, "no such rows or tap", m_source, {}};
        return m_rows.values(m_header.taps[indexOf(tap)], tap, rowBegin, rowEnd);
    }

    Result<TopKView> topK(RowIndex r) const override
    {
        if (m_header.logits.vocabulary == 0 || r >= rowCount())
            return Error{Errc::NotFound, "logits were not recorded", m_source, {}};
        return m_rows.topK(m_header.logits, r);
    }

    Result<RoutingView> routing(std::size_t router, RowIndex r) const override
    {
        if (router >= m_header.routers.size() || r >= rowCount())
            return Error{Errc::NotFound, "no such router or row", m_source, {}};
        return m_rows.routing(m_header.routers[router], router, r);
    }
};

RunBuilder::RunBuilder(RunHeader header, std::string source)
    : m_state(std::make_unique<Snapshot>())
{
    m_state->m_header = std::move(header);
    m_state->m_source = std::move(source);
}

RunBuilder::~RunBuilder() = default;

Result<SampleIndex> RunBuilder::beginSample(const Sample& sample,
                                            const std::vector<Token>& promptTokens)
{
    m_state->m_samples.push_back(sample);
    m_state->m_tokens.push_back(promptTokens);
    return static_cast<SampleIndex>(m_state->m_samples.size() - 1);
}

Result<void> RunBuilder::addTokens(SampleIndex sample, const std::vector<Token>& tokens)
{
    if (indexOf(sample) >= m_state->m_tokens.size())
        return Error{Errc::Invalid, "no such sample", m_state->m_source, {}};
    auto& all = m_state->m_tokens[indexOf(sample)];
    all.insert(all.end(), tokens.begin(), tokens.end());
    return {};
}

Result<void> RunBuilder::append(RowBlock block)
{
    if (auto checked = checkBlock(m_state->m_header, block); !checked)
        return checked.error();
    for (const Row& row : block.rows)
        if (indexOf(row.sample) >= m_state->m_samples.size())
            return Error{
                Errc::Invalid, "a row names a sample that was not begun", m_state->m_source, {}};
    if (block.rows.empty())
        return {};
    m_state->m_rows.add(std::make_shared<const RowBlock>(std::move(block)));
    ++m_state->m_generation;
    return {};
}

Result<void> RunBuilder::addEvent(const Event& event)
{
    m_state->m_events.push_back(event);
    return {};
}

Result<void> RunBuilder::endSample(SampleIndex sample, const std::string& stopReason,
                                   const std::string& prediction)
{
    if (indexOf(sample) >= m_state->m_samples.size())
        return Error{Errc::Invalid, "no such sample", m_state->m_source, {}};
    m_state->m_samples[indexOf(sample)].stopReason = stopReason;
    m_state->m_samples[indexOf(sample)].prediction = prediction;
    return {};
}

Result<void> RunBuilder::finish(const Environment& closing)
{
    for (const auto& [key, value] : closing.fields())
        m_state->m_header.environment.set(key, value);
    m_state->m_complete = true;
    ++m_state->m_generation;
    return {};
}

RunPointer RunBuilder::snapshot() const
{
    return std::make_shared<Snapshot>(*m_state);
}

} // namespace moire::trace
