// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/prompt.h"
#include "capture/task/prompts.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace moire::capture {

/// A multiple-choice task: which file, and how it is asked.
struct TaskOptions
{
    /// "mmlu:FILE.csv", "mmlu:FOLDER" or "arc:FILE.jsonl".
    std::string source;
    /// The letters that stand for the choices, in their order; as many as the longest question has.
    std::vector<std::string> letters{"A", "B", "C", "D", "E"};
    std::uint32_t shots = 0; ///< solved questions before each, of the same category
    std::uint32_t limit = 0; ///< questions of each category; 0: all
    bool chat = false;       ///< the model writes its answer; else the letters' logits are compared
};

/// Every question as a sample with category, choices, label and what it is scored by.
///
/// MMLU: CSV (RFC 4180) of question, choices, answer letter, without a header, or with one that
/// names the columns question, A, B, …, answer, and perhaps subject and id. A folder holds one
/// file a category, NAME_test.csv (or NAME.csv); solved questions come from NAME_dev.csv beside
/// it, or from "dev/" beside the folder. ARC: JSONL of {"id", "question": {"stem", "choices":
/// [{"text", "label"}]}, "answerKey"}, or with "question" a text and "choices": {"text": [],
/// "label": []}; solved questions are the file's first ones, which then are not asked.
///
/// Plain scoring: the prompt ends in "Answer:"; the letters' tokens are those that " A", " B", …
/// become behind it. Errors: Invalid names file, line and column; a letter that is not one token.
Result<std::vector<Prompt>> promptsFromTask(const TaskOptions& options,
                                            const TextEncoding& encoding);

} // namespace moire::capture
