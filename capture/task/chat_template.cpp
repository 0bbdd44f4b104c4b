// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/chat_template.h"

#include "capture/model/chat_source.h"
#include "capture/task/jinja/builtins.h"
#include "capture/task/jinja/parser.h"

namespace moire::capture {

struct ChatTemplate::Content
{
    jinja::Block block;
    std::string place;
    std::map<std::string, std::string> tokens;
};

ChatTemplate::ChatTemplate(std::shared_ptr<const Content> content)
    : m_content(std::move(content))
{}

namespace {

constexpr auto withoutTemplate = "Write the conversation out yourself and give it as plain text";

} // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, std::string place,
                                         std::map<std::string, std::string> tokens)
{
    try {
        return ChatTemplate(std::make_shared<const Content>(
            Content{jinja::parse(source), std::move(place), std::move(tokens)}));
    } catch (const jinja::Failure& failure) {
        return Error{Errc::Unsupported,
                     std::string("the chat template cannot be read: ") + failure.what(),
                     std::move(place), withoutTemplate};
    }
}

Result<ChatTemplate> ChatTemplate::ofModel(const std::filesystem::path& model)
{
    auto source = findChatSource(model);
    if (!source)
        return source.error();
    return parse(source->text, std::move(source->place), std::move(source->tokens));
}

Result<std::string> ChatTemplate::render(const std::vector<ChatMessage>& conversation) const
{
    try {
        jinja::List messages;
        for (const ChatMessage& message : conversation)
            messages.emplace_back(
                jinja::Dict{{{"role", message.role}, {"content", message.content}}});
        jinja::Scope scope(nullptr);
        jinja::addFunctions(scope);
        for (const auto& [name, token] : m_content->tokens)
            scope.set(name, token);
        scope.set("messages", std::move(messages));
        scope.set("tools", {});
        scope.set("documents", {});
        scope.set("add_generation_prompt", true);
        jinja::Run run;
        std::string out;
        jinja::Frame frame{run, scope, out};
        jinja::executeBlock(m_content->block, frame);
        return out;
    } catch (const jinja::Failure& failure) {
        return Error{Errc::Invalid, std::string("the chat template fails: ") + failure.what(),
                     m_content->place, withoutTemplate};
    }
}

} // namespace moire::capture
