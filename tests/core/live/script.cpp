// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/live/script.h"

#include <QtGlobal>

#include <algorithm>
#include <memory>

namespace moire::live::test {

namespace {

struct Part
{
    trace::Sample sample;
    std::vector<trace::Token> prompt;
    std::vector<trace::Token> response;
    std::vector<std::shared_ptr<const trace::RowBlock>> rows; ///< of one row
    std::string stopReason;
    std::string prediction;
};

/// Takes a run apart.
class Parts : public trace::RunSink
{
public:
    std::vector<Part> parts;

    Result<trace::SampleIndex> beginSample(const trace::Sample& sample,
                                           const std::vector<trace::Token>& prompt) override
    {
        parts.push_back({sample, prompt, {}, {}, {}, {}});
        return static_cast<trace::SampleIndex>(parts.size() - 1);
    }
    Result<void> addTokens(trace::SampleIndex sample,
                           const std::vector<trace::Token>& tokens) override
    {
        parts[indexOf(sample)].response = tokens;
        return {};
    }
    Result<void> append(trace::RowBlock block) override
    {
        parts[indexOf(block.rows[0].sample)].rows.push_back(
            std::make_shared<const trace::RowBlock>(std::move(block)));
        return {};
    }
    Result<void> addEvent(const trace::Event&) override { return {}; }
    Result<void> endSample(trace::SampleIndex sample, const std::string& stopReason,
                           const std::string& prediction) override
    {
        parts[indexOf(sample)].stopReason = stopReason;
        parts[indexOf(sample)].prediction = prediction;
        return {};
    }
    Result<void> finish(const trace::Environment&) override { return {}; }
};

} // namespace

Script::Script(const moire::test::MadeModel& model,
               const std::vector<moire::test::MadeSample>& samples, std::uint64_t seed,
               const moire::test::Touch& touch)
    : m_header(moire::test::headerOf(model))
{
    const auto made = std::make_shared<Parts>();
    if (const auto done = moire::test::makeRun(*made, model, samples, seed, touch); !done)
        qFatal("%s", done.error().text().c_str());
    std::size_t longest = 0;
    for (std::size_t s = 0; s < made->parts.size(); ++s) {
        longest = std::max(longest, made->parts[s].rows.size());
        m_calls.emplace_back([made, s](trace::RunSink& sink) -> Result<void> {
            auto begun = sink.beginSample(made->parts[s].sample, made->parts[s].prompt);
            return begun ? Result<void>() : begun.error();
        });
    }
    for (std::size_t position = 0; position < longest; ++position)
        for (std::size_t s = 0; s < made->parts.size(); ++s) {
            const Part& part = made->parts[s];
            const auto sample = static_cast<trace::SampleIndex>(s);
            if (position >= part.rows.size())
                continue;
            m_calls.emplace_back([made, s, position](trace::RunSink& sink) {
                return sink.append(*made->parts[s].rows[position]);
            });
            const std::size_t next = position + 1 - part.prompt.size();
            if (position + 1 >= part.prompt.size() && next < part.response.size())
                m_calls.emplace_back([made, s, next, sample](trace::RunSink& sink) {
                    return sink.addTokens(sample, {made->parts[s].response[next]});
                });
            if (position + 1 == part.rows.size())
                m_calls.emplace_back([made, s, sample](trace::RunSink& sink) {
                    return sink.endSample(sample, made->parts[s].stopReason,
                                          made->parts[s].prediction);
                });
        }
}

void Script::play(trace::RunSink& sink, std::size_t begin, std::size_t end) const
{
    for (std::size_t i = begin; i < end; ++i)
        if (const auto done = m_calls[i](sink); !done)
            qFatal("%s", done.error().text().c_str());
}

trace::Environment Script::closing()
{
    trace::Environment closing;
    closing.set(trace::env::endTime, std::string("2026-01-01T00:00:00Z"));
    return closing;
}

void Script::playAll(trace::RunSink& sink) const
{
    play(sink, 0, size());
    if (const auto done = sink.finish(closing()); !done)
        qFatal("%s", done.error().text().c_str());
}

trace::RunPointer Script::run(const std::string& source) const
{
    trace::RunBuilder builder(m_header, source);
    playAll(builder);
    return builder.snapshot();
}

std::vector<moire::test::MadeSample> twoSamples()
{
    return {{"one", "facts", {11, 12, 13, 14}, {21, 22, 23, 24, 25, 26}, "A", "A"},
            {"two", "facts", {31, 32, 33}, {41, 42, 43, 44}, "B", "A"}};
}

} // namespace moire::live::test
