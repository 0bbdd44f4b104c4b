// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/prompt.h"
#include "capture/model/tokenizer.h"
#include "core/base/result.h"
#include "core/trace/run.h"

#include <filesystem>
#include <string_view>
#include <vector>

/// From what a person gives to the samples of a run. Samples without an id are named by their
/// place: "0", "1", …
namespace moire::capture {

/// A text as one sample, with the special tokens that the tokenizer itself adds.
Result<std::vector<Prompt>> promptsFromText(std::string_view text, const Tokenizer& tokenizer);

/// JSONL: a line is {"id", "text" | "ids", "category"?, "choices"?, "label"?}; other fields are
/// left alone, empty lines skipped. `tokenizer` may be null when no line has a text; `whyNot` then
/// is the error for one that has. Errors: Invalid and Damaged name the line; an id twice.
Result<std::vector<Prompt>> promptsFromFile(const std::filesystem::path& path,
                                            const Tokenizer* tokenizer, const Error& whyNot);

/// JSON: a list of token ids, or a list of such lists.
Result<std::vector<Prompt>> promptsFromIds(const std::filesystem::path& path);

/// The samples of another run with its tokens, to be scored; rows as there: of an incomplete run as
/// far as its rows go, a sample without rows is left out. Errors: Invalid when nothing is left.
Result<std::vector<Prompt>> promptsFromRun(const trace::Run& reference);

} // namespace moire::capture
