// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/benchmark.h"

#include "capture/task/questions.h"

#include <algorithm>
#include <set>

namespace moire::capture {

namespace {

Error invalid(std::string sentence, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), {}, std::move(hint)};
}

/// The question and its choices, a line each.
std::string asked(const Question& question, const std::vector<std::string>& letters)
{
    std::string text = question.text;
    for (std::size_t i = 0; i < question.choices.size(); ++i)
        text += '\n' + letters[i] + ". " + question.choices[i];
    return text;
}

constexpr auto answerWord = "\nAnswer:";

/// The head line and solved questions of MMLU's own evaluation.
std::string plainPrompt(const Question& question, const std::vector<Question>& solved,
                        const std::vector<std::string>& letters)
{
    std::string subject = question.category;
    std::replace(subject.begin(), subject.end(), '_', ' ');
    std::string text =
        "The following are multiple choice questions (with answers) about " + subject + ".\n\n";
    for (const Question& example : solved)
        text += asked(example, letters) + answerWord + ' ' + letters[example.answer] + "\n\n";
    return text + asked(question, letters) + answerWord;
}

std::vector<ChatMessage> chatPrompt(const Question& question, const std::vector<Question>& solved,
                                    const std::vector<std::string>& letters)
{
    constexpr auto order = "\n\nAnswer with the letter of the correct choice only.";
    std::vector<ChatMessage> messages;
    for (const Question& example : solved) {
        messages.push_back({"user", asked(example, letters) + order});
        messages.push_back({"assistant", letters[example.answer]});
    }
    messages.push_back({"user", asked(question, letters) + order});
    return messages;
}

/// The token that each letter becomes behind "Answer:".
Result<std::vector<std::int32_t>> letterTokens(const std::vector<std::string>& letters,
                                               std::size_t count, const Tokenizer& tokenizer)
{
    const auto before = tokenizer.encodeBare(answerWord);
    if (!before)
        return before.error();
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < count; ++i) {
        const auto with = tokenizer.encodeBare(std::string(answerWord) + ' ' + letters[i]);
        if (!with)
            return with.error();
        if (with->size() != before->size() + 1
            || !std::equal(before->begin(), before->end(), with->begin()))
            return invalid("the answer letter \"" + letters[i]
                               + "\" is not one token of this model behind \"Answer:\"",
                           "Choose other letters with --letters, or score with --chat");
        tokens.push_back(with->back());
    }
    const std::set<std::int32_t> different(tokens.begin(), tokens.end());
    if (different.size() != tokens.size())
        return invalid("two answer letters are the same token of this model",
                       "Choose other letters with --letters");
    return tokens;
}

Result<std::vector<QuestionSet>> readSets(const TaskOptions& options)
{
    const std::size_t colon = options.source.find(':');
    const std::string kind = options.source.substr(0, colon);
    if (colon == std::string::npos || (kind != "mmlu" && kind != "arc"))
        return invalid("\"" + options.source + "\" names no task",
                       "Give mmlu:FILE.csv, mmlu:FOLDER or arc:FILE.jsonl");
    const std::filesystem::path path = options.source.substr(colon + 1);
    auto sets = kind == "mmlu" ? readMmlu(path, options.letters) : readArc(path);
    if (!sets || kind == "mmlu" || options.shots == 0)
        return sets;
    QuestionSet& set = sets->front();
    if (set.questions.size() <= options.shots)
        return invalid("there are no questions left besides the " + std::to_string(options.shots)
                           + " solved ones",
                       "Give fewer with --shots");
    const auto end = set.questions.begin() + options.shots;
    set.solved.assign(set.questions.begin(), end);
    set.questions.erase(set.questions.begin(), end);
    return sets;
}

Result<void> checkLetters(const std::vector<std::string>& letters)
{
    const std::set<std::string> different(letters.begin(), letters.end());
    if (different.size() != letters.size() || different.contains(""))
        return invalid("the answer letters are not all different",
                       "Give them like --letters A,B,C,D");
    return {};
}

/// Checks what there is against what is asked for, and leaves out what is over the limits.
Result<void> limit(std::vector<QuestionSet>& sets, const TaskOptions& options)
{
    for (QuestionSet& set : sets) {
        if (set.solved.size() < options.shots)
            return invalid("the category " + set.questions.front().category + " has "
                               + std::to_string(set.solved.size()) + " solved questions",
                           "Give fewer with --shots, or put NAME_dev.csv beside NAME_test.csv");
        set.solved.resize(options.shots);
        if (options.limit > 0 && set.questions.size() > options.limit)
            set.questions.resize(options.limit);
        for (const auto* list : {&set.questions, &set.solved})
            for (const Question& question : *list)
                if (question.choices.size() > options.letters.size())
                    return invalid("a question has " + std::to_string(question.choices.size())
                                       + " choices, and there are "
                                       + std::to_string(options.letters.size()) + " letters",
                                   "Give more with --letters");
    }
    return {};
}

Result<Prompt> promptOf(const Question& question, const std::vector<Question>& solved,
                        const TaskOptions& options, const TextEncoding& encoding)
{
    trace::Sample sample;
    sample.category = question.category;
    sample.choices = question.choices;
    sample.label = options.letters[question.answer];
    auto prompt = options.chat
                      ? promptFromMessages(std::move(sample),
                                           chatPrompt(question, solved, options.letters), encoding)
                      : promptFromText(std::move(sample),
                                       plainPrompt(question, solved, options.letters), encoding);
    if (!prompt)
        return prompt;
    prompt->scoring = options.chat ? Prompt::Scoring::Text : Prompt::Scoring::Logits;
    prompt->letters.assign(options.letters.begin(),
                           options.letters.begin()
                               + static_cast<std::ptrdiff_t>(question.choices.size()));
    if (options.chat)
        return prompt;
    auto tokens = letterTokens(options.letters, question.choices.size(), *encoding.tokenizer);
    if (!tokens)
        return tokens.error();
    prompt->askedIds = *std::move(tokens);
    return prompt;
}

} // namespace

Result<std::vector<Prompt>> promptsFromTask(const TaskOptions& options,
                                            const TextEncoding& encoding)
{
    if (auto checked = checkLetters(options.letters); !checked)
        return checked.error();
    auto sets = readSets(options);
    if (!sets)
        return sets.error();
    if (auto limited = limit(*sets, options); !limited)
        return limited.error();
    std::vector<Prompt> prompts;
    std::set<std::string> names;
    for (const QuestionSet& set : *sets)
        for (std::size_t i = 0; i < set.questions.size(); ++i) {
            const Question& question = set.questions[i];
            auto prompt = promptOf(question, set.solved, options, encoding);
            if (!prompt)
                return prompt.error();
            std::string id =
                question.id.empty() ? question.category + '/' + std::to_string(i) : question.id;
            if (!names.insert(id).second)
                return invalid("the question id \"" + id + "\" is there twice",
                               "Give every question its own id");
            prompt->sample.id = std::move(id);
            prompts.push_back(*std::move(prompt));
        }
    return prompts;
}

} // namespace moire::capture
