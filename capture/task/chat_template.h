// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

struct ChatMessage
{
    std::string role;
    std::string content;
};

/// A model's chat template: the text that a conversation becomes, as Hugging Face transformers'
/// `apply_chat_template` makes it (jinja2, `trim_blocks`, `lstrip_blocks`). The part of Jinja that
/// is supported is that of the published templates (capture/task/jinja); rendering is bounded in
/// steps, memory and depth.
class ChatTemplate
{
public:
    /// `tokens`: the special tokens that the template may name ("bos_token" → "<s>"). `place`: the
    /// file, for errors. Errors: Unsupported names the construct; Damaged.
    static Result<ChatTemplate> parse(std::string_view source, std::string place,
                                      std::map<std::string, std::string> tokens);

    /// The one that a model's folder or .gguf file has. Errors: also those of findChatSource().
    static Result<ChatTemplate> ofModel(const std::filesystem::path& model);

    /// With the beginning of the assistant's answer at the end (`add_generation_prompt`). Errors:
    /// Invalid (the template refuses the conversation), Unsupported.
    Result<std::string> render(const std::vector<ChatMessage>& conversation) const;

private:
    struct Content;
    explicit ChatTemplate(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

} // namespace moire::capture
