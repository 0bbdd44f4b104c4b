// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/tap_plan.h"

#include "core/base/text.h"

#include <algorithm>
#include <initializer_list>

namespace moire::capture {

using numeric::DType;
using trace::TapKind;

/// Walks the decoder as Forward does, one tap after the other.
class TapPlan::Maker
{
public:
    Maker(const ModelPlan& plan, const Policy& policy)
        : m_plan(plan)
        , m_policy(policy)
    {}
    TapPlan make();

private:
    struct Traits
    {
        bool complete = true, earlierRows = false, tpSensitive = false;
        std::uint32_t slots = 0;
    };
    void add(Site site, const std::string& module, const char* suffix, TapKind kind,
             std::uint32_t width, std::initializer_list<Site> inputs, Traits traits);
    void add(Site site, const std::string& module, const char* suffix, TapKind kind,
             std::uint32_t width, std::initializer_list<Site> inputs)
    {
        add(site, module, suffix, kind, width, inputs, Traits{});
    }
    void embedding();
    void attention(const std::string& path);
    void denseMlp(const std::string& path);
    void sparseMlp(const std::string& path);
    void layer(std::int32_t index);

    const ModelPlan& m_plan;
    const Policy& m_policy;
    std::int32_t m_layer = -1;
    TapPlan m_result;
};

void TapPlan::Maker::add(Site site, const std::string& module, const char* suffix, TapKind kind,
                         std::uint32_t width, std::initializer_list<Site> inputs, Traits traits)
{
    trace::Tap tap;
    tap.name = module + suffix;
    tap.layer = m_layer;
    tap.kind = kind;
    tap.dtype = m_policy.dtypeOf(module);
    tap.width = width;
    tap.slots = traits.slots;
    tap.inputsComplete = traits.complete;
    tap.readsEarlierRows = traits.earlierRows;
    tap.tpSensitive = traits.tpSensitive;
    for (const Site input : inputs) {
        // The stream that a layer reads is the output of the layer before, at first the embedding.
        const std::int32_t from = input == Site::Layer ? m_layer - 1 : m_layer;
        auto place = m_result.find(input, from);
        if (!place && input == Site::Layer)
            place = m_result.find(Site::Embedding, -1);
        if (!place)
            place = m_result.find(input, -1);
        if (place)
            tap.inputs.push_back(*place);
        else
            tap.inputsComplete = false;
    }
    m_result.m_places[static_cast<std::size_t>(m_layer + 1)][static_cast<std::size_t>(site)] =
        static_cast<trace::TapIndex>(m_result.m_taps.size());
    m_result.m_taps.push_back(std::move(tap));
}

void TapPlan::Maker::embedding()
{
    add(Site::Embedding, "model.embed_tokens", ".out", TapKind::Embedding, m_plan.hidden, {});
    if (m_plan.rope.kind != RopeKind::None) {
        const char* module = "model.rotary_emb";
        add(Site::RotaryCos, module, ".cos", TapKind::RotaryTable, m_plan.headDim, {});
        add(Site::RotarySin, module, ".sin", TapKind::RotaryTable, m_plan.headDim, {});
        if (m_plan.rope.kind == RopeKind::Fp32Tables)
            for (const Site site : {Site::RotaryCos, Site::RotarySin})
                m_result.m_taps[trace::indexOf(*m_result.find(site, -1))].dtype = DType::FP32;
    }
}

void TapPlan::Maker::attention(const std::string& path)
{
    const std::uint32_t qWidth = m_plan.heads * m_plan.headDim;
    const std::uint32_t kvWidth = m_plan.kvHeads * m_plan.headDim;
    add(Site::QProj, path + ".q_proj", ".out", TapKind::Projection, qWidth, {Site::InputNorm});
    add(Site::KProj, path + ".k_proj", ".out", TapKind::Projection, kvWidth, {Site::InputNorm});
    add(Site::VProj, path + ".v_proj", ".out", TapKind::Projection, kvWidth, {Site::InputNorm});
    Site q = Site::QProj;
    Site k = Site::KProj;
    if (m_plan.qkNorm != QkNorm::None) {
        add(Site::QNorm, path + ".q_norm", ".out", TapKind::Norm, qWidth, {Site::QProj});
        add(Site::KNorm, path + ".k_norm", ".out", TapKind::Norm, kvWidth, {Site::KProj});
        q = Site::QNorm;
        k = Site::KNorm;
    }
    if (m_plan.rope.kind != RopeKind::None) {
        add(Site::QRope, path + ".q_rope", ".out", TapKind::Rotated, qWidth,
            {Site::RotaryCos, Site::RotarySin, q});
        add(Site::KRope, path + ".k_rope", ".out", TapKind::Rotated, kvWidth,
            {Site::RotaryCos, Site::RotarySin, k});
        q = Site::QRope;
        k = Site::KRope;
    }
    add(Site::OProjIn, path + ".o_proj", ".in", TapKind::ProjectionInput, qWidth,
        {q, k, Site::VProj}, {.earlierRows = true});
    add(Site::OProj, path + ".o_proj", ".out", TapKind::Projection, m_plan.hidden, {Site::OProjIn},
        {.tpSensitive = true});
    add(Site::Attention, path, ".out", TapKind::AttentionOutput, m_plan.hidden, {Site::OProj});
}

void TapPlan::Maker::denseMlp(const std::string& path)
{
    const std::uint32_t width = m_plan.mlpWidth;
    add(Site::GateProj, path + ".gate_proj", ".out", TapKind::Projection, width, {Site::PostNorm});
    add(Site::ActFn, path + ".act_fn", ".out", TapKind::Activation, width, {Site::GateProj});
    add(Site::UpProj, path + ".up_proj", ".out", TapKind::Projection, width, {Site::PostNorm});
    add(Site::DownProjIn, path + ".down_proj", ".in", TapKind::ProjectionInput, width,
        {Site::ActFn, Site::UpProj});
    add(Site::DownProj, path + ".down_proj", ".out", TapKind::Projection, m_plan.hidden,
        {Site::DownProjIn}, {.tpSensitive = true});
    add(Site::Mlp, path, ".out", TapKind::MlpOutput, m_plan.hidden, {Site::DownProj});
}

void TapPlan::Maker::sparseMlp(const std::string& path)
{
    const MoePlan& moe = *m_plan.moe;
    add(Site::Router, path + ".gate", ".out", TapKind::Router, moe.experts, {Site::PostNorm});
    add(Site::ExpertGateUpSlots, path + ".experts", ".gate_up.slots", TapKind::ExpertSlots,
        moe.chosen * 2 * moe.expertWidth, {Site::Router, Site::PostNorm}, {.slots = moe.chosen});
    add(Site::ExpertDownSlots, path + ".experts", ".down.slots", TapKind::ExpertSlots,
        moe.chosen * m_plan.hidden, {Site::Router, Site::ExpertGateUpSlots},
        {.tpSensitive = true, .slots = moe.chosen});
    add(Site::Experts, path + ".experts", ".out", TapKind::Experts, m_plan.hidden,
        {Site::Router, Site::ExpertDownSlots});
    add(Site::Mlp, path, ".out", TapKind::MlpOutput, m_plan.hidden, {Site::Experts});

    const DType dtype = m_policy.dtypeOf(path + ".gate");
    m_result.m_routers.push_back({.module = path + ".gate",
                                  .layer = m_layer,
                                  .experts = moe.experts,
                                  .chosen = moe.chosen,
                                  .logitType = dtype,
                                  .weightType = moe.fp32Weights ? DType::FP32 : dtype,
                                  .hasScores = false});
}

void TapPlan::Maker::layer(std::int32_t index)
{
    m_layer = index;
    const std::string path = "model.layers." + std::to_string(index);
    add(Site::InputNorm, path + ".input_layernorm", ".out", TapKind::Norm, m_plan.hidden,
        {Site::Layer});
    attention(path + ".self_attn");
    add(Site::PostNorm, path + ".post_attention_layernorm", ".out", TapKind::Norm, m_plan.hidden,
        {Site::Layer, Site::Attention});
    if (m_plan.layers[static_cast<std::size_t>(index)].sparse)
        sparseMlp(path + ".mlp");
    else
        denseMlp(path + ".mlp");
    add(Site::Layer, path, ".out", TapKind::Residual, m_plan.hidden,
        {Site::Layer, Site::Attention, Site::Mlp});
}

TapPlan TapPlan::Maker::make()
{
    const auto layers = static_cast<std::int32_t>(m_plan.layers.size());
    m_result.m_places.resize(m_plan.layers.size() + 1);
    embedding();
    for (std::int32_t index = 0; index < layers; ++index)
        layer(index);
    m_layer = -1;
    const auto last = m_result.find(Site::Layer, layers - 1);
    add(Site::FinalNorm, "model.norm", ".out", TapKind::Norm, m_plan.hidden, {});
    m_result.m_taps.back().inputs = {last ? *last : *m_result.find(Site::Embedding, -1)};
    add(Site::Head, "lm_head", ".out", TapKind::Head, m_plan.vocabulary, {Site::FinalNorm});
    return std::move(m_result);
}

TapPlan TapPlan::of(const ModelPlan& plan, const Policy& policy)
{
    return Maker(plan, policy).make();
}

Result<TapPlan> TapPlan::select(std::span<const std::string> patterns) const
{
    std::vector<bool> chosen(m_taps.size(), false);
    for (const std::string& pattern : patterns) {
        bool matches = false;
        for (std::size_t i = 0; i < m_taps.size(); ++i)
            if (base::globMatches(pattern, m_taps[i].name))
                matches = chosen[i] = true;
        if (!matches)
            return Error{Errc::Invalid,
                         "no tap of this model matches '" + pattern + "'",
                         {},
                         "See them with: moire-capture taps MODEL"};
    }
    TapPlan result;
    result.m_routers = m_routers;
    std::vector<std::optional<trace::TapIndex>> places(m_taps.size());
    for (std::size_t i = 0; i < m_taps.size(); ++i) {
        if (!chosen[i])
            continue;
        places[i] = static_cast<trace::TapIndex>(result.m_taps.size());
        trace::Tap tap = m_taps[i];
        tap.inputs.clear();
        for (const trace::TapIndex input : m_taps[i].inputs) {
            if (const auto place = places[trace::indexOf(input)])
                tap.inputs.push_back(*place);
            else
                tap.inputsComplete = false;
        }
        result.m_taps.push_back(std::move(tap));
    }
    result.m_places = m_places;
    for (Places& sites : result.m_places)
        for (auto& place : sites)
            if (place)
                place = places[trace::indexOf(*place)];
    return result;
}

std::optional<trace::TapIndex> TapPlan::find(Site site, std::int32_t layer) const
{
    return m_places[static_cast<std::size_t>(layer + 1)][static_cast<std::size_t>(site)];
}

} // namespace moire::capture
