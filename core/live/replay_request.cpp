// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/replay_request.h"

#include "core/wire/protocol.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace moire::live {

namespace {

constexpr std::size_t rowsAMessage = 4096;

/// Nothing but the environment: no tap is replayed, and the vocabulary is the model's own.
trace::RunHeader bareHeader(const trace::Environment& environment)
{
    trace::RunHeader header;
    header.environment = environment;
    header.level = trace::Level::Digest;
    return header;
}

class Packing
{
public:
    explicit Packing(trace::RunHeader header)
        : m_header(std::move(header))
    {
        m_messages.push_back(wire::packBegin(next(), m_header, {}));
    }
    void addSample(trace::SampleIndex index, const trace::Sample& sample,
                   std::span<const trace::Token> prompt)
    {
        m_messages.push_back(wire::packSample(next(), index, sample, prompt));
    }
    void addTokens(trace::SampleIndex sample, std::size_t first,
                   std::span<const trace::Token> tokens)
    {
        m_messages.push_back(
            wire::packTokens(next(), sample, static_cast<std::uint32_t>(first), tokens));
    }
    void addRows(std::vector<trace::Row> rows, trace::RowIndex first)
    {
        auto block = std::make_shared<trace::RowBlock>();
        block->rows = std::move(rows);
        trace::rollUpBlock(m_header, *block); // of no digests
        const std::size_t count = block->rows.size();
        m_messages.push_back(
            wire::packRows(next(), m_header, std::move(block), 0, count, first, {}));
    }
    wire::NamedFile file() const { return {"the reference", wire::packTogether(m_messages)}; }

private:
    wire::MessagePlace next() const { return {"replay", m_messages.size()}; }

    trace::RunHeader m_header;
    std::vector<wire::Packed> m_messages;
};

void attach(const Packing& packing, wire::RunRequest& request)
{
    request.options["replay-from"] =
        wire::FilePlace{static_cast<std::uint32_t>(request.files.size())};
    request.files.push_back(packing.file());
}

} // namespace

std::uint32_t longestResponse(std::uint64_t rows, const std::vector<wire::SampleBegin>& prompts)
{
    std::uint64_t ofPrompts = 0;
    for (const wire::SampleBegin& prompt : prompts)
        ofPrompts += prompt.prompt.size();
    if (prompts.empty() || rows <= ofPrompts)
        return 1;
    const std::uint64_t more = (rows - ofPrompts + prompts.size() - 1) / prompts.size();
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::uint32_t>(std::min(more + 1, most));
}

void replayLive(const trace::Environment& reference, const std::vector<wire::SampleBegin>& prompts,
                std::uint32_t tokens, wire::RunRequest& request)
{
    Packing packing(bareHeader(reference));
    for (const wire::SampleBegin& prompt : prompts)
        packing.addSample(prompt.index, prompt.sample, prompt.prompt);
    attach(packing, request);
    request.options["replay-live"] = true;
    request.options["max-new"] = std::int64_t{tokens};
}

void replayRun(const trace::Run& reference, wire::RunRequest& request)
{
    Packing packing(bareHeader(reference.header().environment));
    for (std::size_t i = 0; i < reference.samples().size(); ++i) {
        const auto index = static_cast<trace::SampleIndex>(i);
        const auto tokens = reference.tokens(index);
        const auto response = std::find_if(tokens.begin(), tokens.end(),
                                           [](const trace::Token& t) { return t.response; });
        const auto length = static_cast<std::size_t>(response - tokens.begin());
        packing.addSample(index, reference.samples()[i], tokens.first(length));
        if (response != tokens.end())
            packing.addTokens(index, length, tokens.subspan(length));
    }
    for (trace::RowIndex first = 0; first < reference.rowCount(); first += rowsAMessage) {
        std::vector<trace::Row> rows;
        const trace::RowIndex end =
            std::min<trace::RowIndex>(reference.rowCount(), first + rowsAMessage);
        for (trace::RowIndex r = first; r < end; ++r)
            rows.push_back(reference.row(r));
        packing.addRows(std::move(rows), first);
    }
    attach(packing, request);
}

} // namespace moire::live
