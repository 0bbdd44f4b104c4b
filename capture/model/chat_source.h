// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <map>
#include <string>

namespace moire::capture {

/// A model's chat template as it stands in its files.
struct ChatSource
{
    std::string text;
    std::string place;                         ///< the file, for messages
    std::map<std::string, std::string> tokens; ///< "bos_token" → "<s>", …: what it may name
};

/// Of a Hugging Face folder chat_template.jinja, else "chat_template" of tokenizer_config.json (of
/// several the one that is called "default"); of a .gguf file tokenizer.chat_template. Errors:
/// NotFound with a hint, Damaged.
Result<ChatSource> findChatSource(const std::filesystem::path& model);

} // namespace moire::capture
