// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/prompts.h"

#include <algorithm>

namespace moire::capture {

namespace {

/// What is known of a sample's rows in the reference.
struct RecordedRows
{
    std::uint64_t count = 0;
    trace::RowIndex first = 0;
    trace::RowIndex last = 0;
};

std::vector<RecordedRows> rowsBySample(const trace::Run& run)
{
    std::vector<RecordedRows> rows(run.samples().size());
    for (trace::RowIndex r = 0; r < run.rowCount(); ++r) {
        RecordedRows& recorded = rows[trace::indexOf(run.row(r).sample)];
        if (recorded.count++ == 0)
            recorded.first = r;
        recorded.last = r;
    }
    return rows;
}

Result<std::vector<std::int32_t>> askedIdsOf(const trace::Run& run, trace::RowIndex row)
{
    std::vector<std::int32_t> asked;
    if (run.header().logits.asked == 0)
        return asked;
    const auto table = run.topK(row);
    if (!table)
        return table.error();
    for (const std::int32_t id : table->askedIds)
        if (id >= 0)
            asked.push_back(id);
    return asked;
}

/// Takes the tokens that gave `recorded.count` rows: T tokens in and N scored after them give
/// T + N − 1 rows, so that the last one only scores.
void takeTokens(const trace::Run& run, trace::SampleIndex sample, const RecordedRows& recorded,
                Prompt& prompt)
{
    for (const trace::Token& token : run.tokens(sample)) {
        const std::uint64_t wanted = recorded.count + (token.response ? 1 : 0);
        if (prompt.ids.size() >= wanted)
            return;
        prompt.ids.push_back(token.id);
        prompt.promptLength += token.response ? 0 : 1;
    }
    // A run that was killed has the row that chose a token, and may not have the token yet.
    const std::int32_t next = run.row(recorded.last).score.id;
    if (prompt.ids.size() == recorded.count && next >= 0)
        prompt.ids.push_back(next);
}

/// The letters of a question are its asked tokens' texts (benchmark.h); what does not look so is no
/// question.
void takeLetters(const Tokenizer& tokenizer, Prompt& prompt)
{
    std::vector<std::string> letters;
    for (const std::int32_t id : prompt.askedIds) {
        const std::string text = tokenizer.bytesOf(id);
        letters.push_back(text.substr(std::min(text.find_first_not_of(' '), text.size())));
    }
    if (std::find(letters.begin(), letters.end(), prompt.sample.label) == letters.end())
        return;
    prompt.scoring = Prompt::Scoring::Logits;
    prompt.letters = std::move(letters);
}

Error nothingToReplay(const trace::Run& reference)
{
    if (!reference.complete())
        return {Errc::Invalid, "the reference is incomplete and holds no row yet",
                reference.source(), "Wait until its run has recorded something, or name another"};
    return {Errc::Invalid, "the reference has no rows, so there is nothing to replay",
            reference.source(), "Record it again, or name another one"};
}

} // namespace

Result<std::vector<Prompt>> promptsFromRun(const trace::Run& reference, const Tokenizer* tokenizer,
                                           std::optional<std::uint32_t> prefix)
{
    std::vector<Prompt> prompts;
    const auto rows = rowsBySample(reference);
    for (std::size_t s = 0; s < rows.size(); ++s) {
        if (rows[s].count == 0)
            continue;
        Prompt prompt;
        prompt.sample = reference.samples()[s];
        prompt.sample.replaySource = prompt.sample.id;
        prompt.sample.stopReason.clear();
        prompt.sample.prediction.clear();
        takeTokens(reference, static_cast<trace::SampleIndex>(s), rows[s], prompt);
        if (prefix)
            prompt.ids.resize(std::min<std::size_t>(prompt.ids.size(),
                                                    std::size_t{prompt.promptLength} + *prefix));
        auto asked = askedIdsOf(reference, rows[s].first);
        if (!asked)
            return asked.error();
        prompt.askedIds = *std::move(asked);
        if (tokenizer != nullptr && !prompt.sample.label.empty())
            takeLetters(*tokenizer, prompt);
        prompts.push_back(std::move(prompt));
    }
    if (prompts.empty())
        return nothingToReplay(reference);
    return prompts;
}

} // namespace moire::capture
