// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/message_run.h"

#include "core/trace/run_builder.h"
#include "core/wire/run_receiver.h"

#include <memory>
#include <utility>

namespace moire::capture {

namespace {

constexpr auto howToReplay = "Send the begin, sample, tokens and rows messages of a run";

/// Keeps of a run what says how it is replayed.
class ReplayedRows : public trace::RunSink
{
public:
    explicit ReplayedRows(std::shared_ptr<trace::RunBuilder> builder)
        : m_builder(std::move(builder))
    {}

    static trace::RunHeader headerOf(const trace::RunHeader& whole)
    {
        trace::RunHeader header;
        header.environment = whole.environment;
        header.level = trace::Level::Digest;
        header.logits = whole.logits;
        return header;
    }

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& prompt) override
    {
        return m_builder->beginSample(sample, prompt);
    }
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override
    {
        return m_builder->addTokens(sample, tokens);
    }
    Result<void> append(trace::RowBlock block) override
    {
        trace::RowBlock kept;
        kept.rows = std::move(block.rows);
        kept.topK = std::move(block.topK);
        return m_builder->append(std::move(kept));
    }
    Result<void> addEvent(const trace::Event&) override { return {}; }
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override
    {
        return m_builder->endSample(sample, stopReason, prediction);
    }
    Result<void> finish(const trace::Environment& closing) override
    {
        return m_builder->finish(closing);
    }

private:
    std::shared_ptr<trace::RunBuilder> m_builder;
};

Error invalid(Error error, const std::string& source)
{
    error.code = Errc::Invalid;
    error.place = source;
    if (error.hint.empty())
        error.hint = howToReplay;
    return error;
}

} // namespace

Result<trace::RunPointer> runFromMessages(const wire::Frame& frame, const std::string& source)
{
    const auto packed = wire::unpackTogether(frame, wire::daemonLimits);
    if (!packed)
        return invalid(packed.error(), source);
    std::shared_ptr<trace::RunBuilder> builder;
    wire::RunReceiver receiver([&](const trace::RunHeader& header, wire::PlannedRows) {
        builder = std::make_shared<trace::RunBuilder>(ReplayedRows::headerOf(header), source);
        return Result<std::unique_ptr<trace::RunSink>>(std::make_unique<ReplayedRows>(builder));
    });
    std::uint64_t place = 0;
    for (const wire::Packed& entry : *packed) {
        auto message = wire::unpack(entry, wire::clientLimits);
        if (!message)
            return invalid(message.error(), source);
        // Messages were left out: these are numbered by their places.
        message->fields["seq"] = place++;
        if (auto taken = receiver.take(*message); !taken)
            return invalid(taken.error(), source);
    }
    if (!builder)
        return invalid({Errc::Invalid, "holds no message of a run", {}, {}}, source);
    return builder->snapshot();
}

Result<std::vector<Prompt>> promptsToFeed(const trace::Run& reference)
{
    std::vector<Prompt> prompts;
    for (std::size_t s = 0; s < reference.samples().size(); ++s) {
        Prompt prompt;
        prompt.sample = reference.samples()[s];
        prompt.sample.replaySource = prompt.sample.id;
        prompt.sample.stopReason.clear();
        prompt.sample.prediction.clear();
        for (const trace::Token& token : reference.tokens(static_cast<trace::SampleIndex>(s)))
            if (!token.response)
                prompt.ids.push_back(token.id);
        prompt.promptLength = static_cast<std::uint32_t>(prompt.ids.size());
        prompts.push_back(std::move(prompt));
    }
    if (prompts.empty())
        return Error{Errc::Invalid, "the reference has no samples, so there is nothing to score",
                     reference.source(), howToReplay};
    return prompts;
}

} // namespace moire::capture
