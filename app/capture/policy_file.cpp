// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/policy_file.h"

#include "capture/engine/policy_words.h"
#include "core/settings/settings_file.h"

#include <string_view>

namespace moire::app {

namespace {

using numeric::DType;
using settings::Setting;
using settings::settingError;

constexpr auto keysOfRule = "The keys of a rule are modules, compute and weights";

class PolicyReader
{
public:
    explicit PolicyReader(std::string file)
        : m_file(std::move(file))
    {}

    Result<capture::PolicyRules> read(const Setting& root, std::string name)
    {
        m_policy.name = std::move(name);
        m_policy.source = m_file;
        for (const auto& [key, value] : *root.table())
            if (auto done = readKey(key, value); !done)
                return done.error();
        if (m_policy.rules.empty())
            return settingError(m_file, 1, "has no rules", "Write each as [[rule]]");
        if (capture::isPolicyWord(m_policy.name))
            return settingError(m_file, 1, "'" + m_policy.name + "' is the name of another policy",
                                "Write a name of its own, as in: name = \"mine\"");
        return std::move(m_policy);
    }

private:
    Result<void> readKey(const std::string& key, const Setting& value)
    {
        if (key == "name") {
            if (value.text() == nullptr || value.text()->empty())
                return settingError(m_file, value.line, "'name' has to be a text",
                                    "Write what to call the policy, or leave it out");
            m_policy.name = *value.text();
            return {};
        }
        if (key != "rule")
            return settingError(m_file, value.line, "the key '" + key + "' is unknown",
                                "The keys are name and rule");
        if (value.list() == nullptr)
            return settingError(m_file, value.line, "'rule' has to be a list of tables",
                                "Write each as [[rule]]");
        for (const Setting& rule : *value.list()) {
            auto read = readRule(rule);
            if (!read)
                return read.error();
            m_policy.rules.push_back(*std::move(read));
        }
        return {};
    }

    Result<DType> dtypeOf(const std::string& key, const Setting& value) const
    {
        for (const DType dtype : {DType::BF16, DType::FP16, DType::FP32})
            if (value.text() != nullptr && *value.text() == numeric::nameOf(dtype))
                return dtype;
        return settingError(m_file, value.line, "'" + key + "' is no dtype of a policy",
                            "Write \"bf16\", \"fp16\" or \"fp32\"");
    }

    Result<capture::PolicyRule> readRule(const Setting& table) const
    {
        if (table.table() == nullptr)
            return settingError(m_file, table.line, "a rule has to be a table", keysOfRule);
        for (const auto& [key, value] : *table.table())
            if (key != "modules" && key != "compute" && key != "weights")
                return settingError(m_file, value.line, "the key '" + key + "' is unknown",
                                    keysOfRule);
        const Setting* modules = table.find("modules");
        const Setting* compute = table.find("compute");
        const Setting* weights = table.find("weights");
        for (const auto& [key, value] :
             {std::pair("modules", modules), std::pair("compute", compute)})
            if (value == nullptr)
                return settingError(m_file, table.line, "the rule lacks '" + std::string(key) + "'",
                                    keysOfRule);
        if (modules->text() == nullptr || modules->text()->empty())
            return settingError(m_file, modules->line, "'modules' has to be a text",
                                "Write a pattern of module paths, such as \"*.mlp.*\"");
        const auto computes = dtypeOf("compute", *compute);
        if (!computes)
            return computes.error();
        const auto holds = weights == nullptr ? computes : dtypeOf("weights", *weights);
        if (!holds)
            return holds.error();
        return capture::PolicyRule{*modules->text(), {*holds, *computes}, table.line};
    }

    std::string m_file;
    capture::PolicyRules m_policy;
};

} // namespace

Result<capture::PolicyRules> readPolicyFile(const std::filesystem::path& path)
{
    auto root = settings::readSettings(path);
    if (!root) {
        Error error = root.error();
        if (error.hint.empty())
            error.hint = "Write rules as in: [[rule]], modules = \"*\", compute = \"bf16\"";
        return error;
    }
    return PolicyReader(path.string()).read(*root, path.stem().string());
}

} // namespace moire::app
