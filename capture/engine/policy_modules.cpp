// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/policy_modules.h"

#include "capture/model/module_names.h"

#include <initializer_list>
#include <string_view>

namespace moire::capture {

namespace {

class Lister
{
public:
    explicit Lister(const ModelPlan& plan)
        : m_plan(plan)
        , m_names(moduleNames(plan.names))
    {}

    std::vector<std::string> list()
    {
        add(m_names.embedding);
        if (m_plan.learnedPositions)
            add(m_names.positions);
        if (m_plan.rope.kind != RopeKind::None)
            add(m_names.rotary);
        for (std::size_t index = 0; index < m_plan.layers.size(); ++index)
            layer(index);
        add(m_names.finalNorm);
        add("lm_head");
        return std::move(m_modules);
    }

private:
    void add(std::string_view module) { m_modules.emplace_back(module); }
    void add(const std::string& path, std::initializer_list<std::string_view> modules)
    {
        for (const std::string_view module : modules)
            if (!module.empty())
                m_modules.push_back(path + '.' + std::string(module));
    }

    void mlp(const std::string& path)
    {
        if (m_plan.mlp == MlpKind::Gated)
            add(path, {m_names.gate, m_names.activation, m_names.up, m_names.down});
        else
            add(path, {m_names.up, m_names.activation, m_names.down});
    }

    void attention(const std::string& path)
    {
        if (m_plan.fusedQkv)
            add(path, {m_names.qkv});
        else
            add(path, {m_names.q, m_names.k, m_names.v});
        if (m_plan.qkNorm != QkNorm::None)
            add(path, {m_names.qNorm, m_names.kNorm});
        add(path);
        add(path, {m_names.o});
    }

    void layer(std::size_t index)
    {
        const std::string path = layerPath(m_plan.names, index);
        const bool before = m_plan.normPlace == NormPlace::BeforeBlocks;
        if (before)
            add(path, {m_names.inputNorm});
        attention(path + '.' + std::string(m_names.attention));
        add(path, {m_names.postNorm});
        const std::string block = path + ".mlp";
        if (!m_plan.layers[index].sparse) {
            mlp(block);
        } else {
            if (m_plan.moe->sharedWidth > 0)
                mlp(block + ".shared_expert");
            add(block, {"gate", "experts"});
            if (m_plan.moe->sharedWidth > 0)
                add(block, {"shared_expert_gate"});
        }
        if (!before)
            add(path, {m_names.mlpNorm});
    }

    const ModelPlan& m_plan;
    const ModuleNames& m_names;
    std::vector<std::string> m_modules;
};

} // namespace

std::vector<std::string> policyModules(const ModelPlan& plan)
{
    return Lister(plan).list();
}

} // namespace moire::capture
