// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/prompt.h"
#include "capture/model/tokenizer.h"
#include "capture/task/chat_template.h"
#include "core/base/result.h"
#include "core/trace/run.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

/// From what a person gives to the samples of a run. Samples without an id are named by their
/// place: "0", "1", …
namespace moire::capture {

/// How texts become ids.
struct TextEncoding
{
    const Tokenizer* tokenizer = nullptr; ///< may be null where no text comes
    Error whyNoTokenizer;                 ///< the error for one that comes all the same
    /// How conversations become texts; a text then is what the user says. Without it texts are
    /// raw, with the special tokens that the tokenizer itself adds, and conversations are refused.
    std::optional<ChatTemplate> chat;
};

/// Gives `encoding` the chat template of a model's folder or file. Errors: those of
/// ChatTemplate::ofModel.
Result<void> takeChatTemplate(const std::filesystem::path& model, TextEncoding& encoding);

/// A sample whose text is a conversation; `encoding` has a chat template.
Result<Prompt> promptFromMessages(trace::Sample sample, const std::vector<ChatMessage>& messages,
                                  const TextEncoding& encoding);
Result<Prompt> promptFromText(trace::Sample sample, std::string_view text,
                              const TextEncoding& encoding);

/// A text as one sample.
Result<std::vector<Prompt>> promptsFromText(std::string_view text, const TextEncoding& encoding);

/// JSONL: a line is {"id", "text" | "messages" | "ids", "category"?, "choices"?, "label"?}, where
/// messages are a list of {"role", "content"}; other fields are left alone, empty lines skipped.
/// Errors: Invalid and Damaged name the line; an id twice.
Result<std::vector<Prompt>> promptsFromFile(const std::filesystem::path& path,
                                            const TextEncoding& encoding);

/// JSON: a list of token ids, or a list of such lists.
Result<std::vector<Prompt>> promptsFromIds(const std::filesystem::path& path);

/// The samples of another run with its tokens, to be scored; rows as there: of an incomplete run as
/// far as its rows go, a sample without rows is left out. Questions that were answered by the
/// logits of letters are answered again, where `tokenizer` (null: none) tells the letters. With
/// `prefix` only so many tokens of each response. Errors: Invalid when nothing is left.
Result<std::vector<Prompt>> promptsFromRun(const trace::Run& reference, const Tokenizer* tokenizer,
                                           std::optional<std::uint32_t> prefix);

} // namespace moire::capture
