// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

// Reads {"tokens": {…}, "jobs": [{"template": …, "conversation": [{"role", "content"}]}]} and
// prints a list: for each job the text, or {"error": …}.

#include "capture/task/chat_template.h"

#include <nlohmann/json.hpp>

#include <iostream>

using namespace moire;
using Json = nlohmann::json;

namespace {

Json rendered(const Json& job, const std::map<std::string, std::string>& tokens)
{
    const auto made =
        capture::ChatTemplate::parse(job.at("template").get<std::string>(), "a template", tokens);
    if (!made)
        return {{"error", made.error().text()}};
    std::vector<capture::ChatMessage> conversation;
    for (const Json& message : job.at("conversation"))
        conversation.push_back({message.at("role"), message.at("content")});
    const auto text = made->render(conversation);
    if (!text)
        return {{"error", text.error().text()}};
    return *text;
}

} // namespace

int main()
{
    try {
        const Json request = Json::parse(std::cin);
        const auto tokens = request.at("tokens").get<std::map<std::string, std::string>>();
        Json answers = Json::array();
        for (const Json& job : request.at("jobs"))
            answers.push_back(rendered(job, tokens));
        std::cout << answers.dump(-1, ' ', false, Json::error_handler_t::replace);
        return 0;
    } catch (const std::exception& exception) {
        std::cerr << exception.what() << '\n';
        return 2;
    }
}
