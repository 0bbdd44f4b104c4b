// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/tap_plan.h"

#include "capture/model/module_names.h"
#include "core/base/text.h"

#include <algorithm>

namespace moire::capture {

using numeric::DType;
using trace::TapKind;

/// Walks the decoder as Forward does, one tap after the other.
class TapPlan::Maker
{
public:
    Maker(const ModelPlan& plan, const Policy& policy, const ParallelPlan& parallel)
        : m_plan(plan)
        , m_names(moduleNames(plan.names))
        , m_policy(policy)
        , m_parallel(parallel)
    {}
    TapPlan make();

private:
    using Sites = std::vector<Site>;
    struct Traits
    {
        bool complete = true, earlierRows = false, tpSensitive = false;
        std::uint32_t slots = 0;
    };
    void add(Site site, const std::string& module, const char* suffix, TapKind kind,
             std::uint32_t width, const Sites& inputs, Traits traits);
    void add(Site site, const std::string& module, const char* suffix, TapKind kind,
             std::uint32_t width, const Sites& inputs)
    {
        add(site, module, suffix, kind, width, inputs, Traits{});
    }
    /// A row-parallel site: the partial products of several ranks, then their sum.
    void addSum(Site site, const std::string& module, const char* suffix, TapKind kind,
                std::uint32_t width, const Sites& inputs, Traits traits);
    DType typeOf(Site site) const;
    /// For the taps that are not the output of the module that names them.
    void retype(Site site, DType dtype);
    void retypeAsSum(Site site, Site a, Site b) { retype(site, promoted(typeOf(a), typeOf(b))); }
    std::optional<trace::TapIndex> placeOf(Site input) const;
    void embedding();
    void projections(const std::string& path, const Sites& inputs);
    void attention(const std::string& path, const Sites& inputs);
    void mlp(const std::string& path, const MlpSites& sites, std::uint32_t width,
             const Sites& inputs, TapKind kind);
    void sparseMlp(const std::string& path, const Sites& inputs);
    void layer(std::int32_t index);

    const ModelPlan& m_plan;
    const ModuleNames& m_names;
    const Policy& m_policy;
    const ParallelPlan& m_parallel;
    std::int32_t m_layer = -1;
    DType m_stream = DType::FP32; ///< of the residual stream so far
    TapPlan m_result;
};

namespace {

std::string below(const std::string& path, std::string_view module)
{
    return path + "." + std::string(module);
}

} // namespace

std::optional<trace::TapIndex> TapPlan::Maker::placeOf(Site input) const
{
    // The stream that a layer reads is the output of the layer before, at first the embedding.
    if (input != Site::Layer) {
        const auto place = m_result.find(input, m_layer);
        return place ? place : m_result.find(input, -1);
    }
    if (const auto place = m_result.find(Site::Layer, m_layer - 1))
        return place;
    const auto sum = m_result.find(Site::EmbeddingSum, -1);
    return sum ? sum : m_result.find(Site::Embedding, -1);
}

void TapPlan::Maker::add(Site site, const std::string& module, const char* suffix, TapKind kind,
                         std::uint32_t width, const Sites& inputs, Traits traits)
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
        if (const auto place = placeOf(input))
            tap.inputs.push_back(*place);
        else
            tap.inputsComplete = false;
    }
    m_result.m_places[static_cast<std::size_t>(m_layer + 1)][static_cast<std::size_t>(site)] =
        static_cast<trace::TapIndex>(m_result.m_taps.size());
    m_result.m_taps.push_back(std::move(tap));
}

void TapPlan::Maker::addSum(Site site, const std::string& module, const char* suffix, TapKind kind,
                            std::uint32_t width, const Sites& inputs, Traits traits)
{
    traits.tpSensitive = true;
    std::vector<std::optional<trace::TapIndex>> partials;
    for (std::uint32_t rank = 0; m_parallel.size > 1 && rank < m_parallel.size; ++rank) {
        const std::string number = std::to_string(rank);
        const std::string ending =
            traits.slots > 0 ? ".down.partial." + number + ".slots" : ".partial." + number;
        add(site, module, ending.c_str(), kind, width, inputs, traits);
        trace::Tap& tap = m_result.m_taps.back();
        tap.dtype = m_parallel.wireType(tap.dtype);
        tap.rank = static_cast<std::int32_t>(rank);
        tap.partial = true;
        partials.push_back(static_cast<trace::TapIndex>(m_result.m_taps.size() - 1));
    }
    add(site, module, suffix, kind, width, inputs, traits);
    if (!partials.empty())
        m_result.m_partials[{site, m_layer}] = std::move(partials);
}

/// A tap that stands already, of this layer or outside the layers.
DType TapPlan::Maker::typeOf(Site site) const
{
    return m_result.m_taps[trace::indexOf(*placeOf(site))].dtype;
}

void TapPlan::Maker::retype(Site site, DType dtype)
{
    m_result.m_taps[trace::indexOf(*m_result.find(site, m_layer))].dtype = dtype;
}

void TapPlan::Maker::embedding()
{
    add(Site::Embedding, std::string(m_names.embedding), ".out", TapKind::Embedding, m_plan.hidden,
        {});
    if (m_plan.learnedPositions) {
        add(Site::Positions, std::string(m_names.positions), ".out", TapKind::Embedding,
            m_plan.hidden, {});
        add(Site::EmbeddingSum, std::string(m_names.embeddingSum), ".out", TapKind::Embedding,
            m_plan.hidden, {Site::Embedding, Site::Positions});
        retypeAsSum(Site::EmbeddingSum, Site::Embedding, Site::Positions);
    }
    m_stream = typeOf(m_plan.learnedPositions ? Site::EmbeddingSum : Site::Embedding);
    if (m_plan.rope.kind != RopeKind::None) {
        const std::string module(m_names.rotary);
        add(Site::RotaryCos, module, ".cos", TapKind::RotaryTable, m_plan.headDim, {});
        add(Site::RotarySin, module, ".sin", TapKind::RotaryTable, m_plan.headDim, {});
        if (m_plan.rope.kind == RopeKind::Fp32Tables)
            for (const Site site : {Site::RotaryCos, Site::RotarySin})
                retype(site, DType::FP32);
    }
}

void TapPlan::Maker::projections(const std::string& path, const Sites& inputs)
{
    const std::uint32_t qWidth = m_plan.heads * m_plan.headDim;
    const std::uint32_t kvWidth = m_plan.kvHeads * m_plan.headDim;
    if (m_plan.fusedQkv) {
        add(Site::QkvProj, below(path, m_names.qkv), ".out", TapKind::Projection,
            qWidth + 2 * kvWidth, inputs);
        return;
    }
    add(Site::QProj, below(path, m_names.q), ".out", TapKind::Projection, qWidth, inputs);
    add(Site::KProj, below(path, m_names.k), ".out", TapKind::Projection, kvWidth, inputs);
    add(Site::VProj, below(path, m_names.v), ".out", TapKind::Projection, kvWidth, inputs);
}

void TapPlan::Maker::attention(const std::string& path, const Sites& inputs)
{
    const std::uint32_t qWidth = m_plan.heads * m_plan.headDim;
    const std::uint32_t kvWidth = m_plan.kvHeads * m_plan.headDim;
    projections(path, inputs);
    Site q = m_plan.fusedQkv ? Site::QkvProj : Site::QProj;
    Site k = m_plan.fusedQkv ? Site::QkvProj : Site::KProj;
    if (m_plan.qkNorm != QkNorm::None) {
        add(Site::QNorm, below(path, m_names.qNorm), ".out", TapKind::Norm, qWidth, {q});
        add(Site::KNorm, below(path, m_names.kNorm), ".out", TapKind::Norm, kvWidth, {k});
        q = Site::QNorm;
        k = Site::KNorm;
    }
    if (m_plan.rope.kind != RopeKind::None) {
        add(Site::QRope, path + ".q_rope", ".out", TapKind::Rotated, qWidth,
            {Site::RotaryCos, Site::RotarySin, q});
        add(Site::KRope, path + ".k_rope", ".out", TapKind::Rotated, kvWidth,
            {Site::RotaryCos, Site::RotarySin, k});
        for (const Site site : {Site::QRope, Site::KRope})
            retype(site, m_policy.dtypeOf(path));
        q = Site::QRope;
        k = Site::KRope;
    }
    const std::string o = below(path, m_names.o);
    add(Site::OProjIn, o, ".in", TapKind::ProjectionInput, qWidth,
        q == k ? Sites{q} : Sites{q, k, Site::VProj}, {.earlierRows = true});
    retype(Site::OProjIn, m_policy.dtypeOf(path));
    addSum(Site::OProj, o, ".out", TapKind::Projection, m_plan.hidden, {Site::OProjIn}, {});
    add(Site::Attention, path, ".out", TapKind::AttentionOutput, m_plan.hidden, {Site::OProj});
    retype(Site::Attention, typeOf(Site::OProj));
}

void TapPlan::Maker::mlp(const std::string& path, const MlpSites& sites, std::uint32_t width,
                         const Sites& inputs, TapKind kind)
{
    const std::string activation = below(path, m_names.activation);
    const std::string up = below(path, m_names.up);
    const std::string down = below(path, m_names.down);
    if (m_plan.mlp == MlpKind::Gated) {
        add(sites.gate, below(path, m_names.gate), ".out", TapKind::Projection, width, inputs);
        add(sites.activation, activation, ".out", TapKind::Activation, width, {sites.gate});
        add(sites.up, up, ".out", TapKind::Projection, width, inputs);
        add(sites.downIn, down, ".in", TapKind::ProjectionInput, width,
            {sites.activation, sites.up});
        retypeAsSum(sites.downIn, sites.activation, sites.up);
    } else {
        add(sites.up, up, ".out", TapKind::Projection, width, inputs);
        add(sites.activation, activation, ".out", TapKind::Activation, width, {sites.up});
        add(sites.downIn, down, ".in", TapKind::ProjectionInput, width, {sites.activation});
        retype(sites.downIn, typeOf(sites.activation));
    }
    addSum(sites.down, down, ".out", TapKind::Projection, m_plan.hidden, {sites.downIn}, {});
    add(sites.out, path, ".out", kind, m_plan.hidden, {sites.down});
    retype(sites.out, typeOf(sites.down));
}

void TapPlan::Maker::sparseMlp(const std::string& path, const Sites& inputs)
{
    const MoePlan& moe = *m_plan.moe;
    Sites withRouter = inputs;
    withRouter.insert(withRouter.begin(), Site::Router);
    Sites parts{Site::Experts};
    if (moe.sharedWidth > 0) {
        mlp(path + ".shared_expert", sharedSites, moe.sharedWidth, inputs, TapKind::MlpOutput);
        parts = {Site::Experts, Site::SharedExpert, Site::SharedExpertGate};
    }
    add(Site::Router, path + ".gate", ".out", TapKind::Router, moe.experts, inputs);
    add(Site::ExpertGateUpSlots, path + ".experts", ".gate_up.slots", TapKind::ExpertSlots,
        moe.chosen * 2 * moe.expertWidth, withRouter, {.slots = moe.chosen});
    addSum(Site::ExpertDownSlots, path + ".experts", ".down.slots", TapKind::ExpertSlots,
           moe.chosen * m_plan.hidden, {Site::Router, Site::ExpertGateUpSlots},
           {.slots = moe.chosen});
    add(Site::Experts, path + ".experts", ".out", TapKind::Experts, m_plan.hidden,
        {Site::Router, Site::ExpertDownSlots});
    if (moe.sharedWidth > 0)
        add(Site::SharedExpertGate, path + ".shared_expert_gate", ".out", TapKind::Projection, 1,
            inputs);
    add(Site::Mlp, path, ".out", TapKind::MlpOutput, m_plan.hidden, parts);
    DType sum = typeOf(Site::Experts);
    if (moe.sharedWidth > 0)
        sum = promoted(sum, promoted(typeOf(Site::SharedExpert), typeOf(Site::SharedExpertGate)));
    retype(Site::Mlp, sum);

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
    const std::string path = layerPath(m_plan.names, static_cast<std::size_t>(index));
    const std::string block = path + ".mlp";
    const bool before = m_plan.normPlace == NormPlace::BeforeBlocks;
    if (before)
        add(Site::InputNorm, below(path, m_names.inputNorm), ".out", TapKind::Norm, m_plan.hidden,
            {Site::Layer});
    attention(below(path, m_names.attention), {before ? Site::InputNorm : Site::Layer});
    add(Site::PostNorm, below(path, m_names.postNorm), ".out", TapKind::Norm, m_plan.hidden,
        before ? Sites{Site::Layer, Site::Attention} : Sites{Site::Attention});
    const Sites inputs = before ? Sites{Site::PostNorm} : Sites{Site::Layer, Site::PostNorm};
    if (m_plan.layers[static_cast<std::size_t>(index)].sparse)
        sparseMlp(block, inputs);
    else
        mlp(block, denseSites, m_plan.mlpWidth, inputs, TapKind::MlpOutput);
    if (!before)
        add(Site::MlpNorm, below(path, m_names.mlpNorm), ".out", TapKind::Norm, m_plan.hidden,
            {Site::Mlp});
    for (const Site added :
         {before ? Site::Attention : Site::PostNorm, before ? Site::Mlp : Site::MlpNorm})
        m_stream = promoted(m_stream, typeOf(added));
    add(Site::Layer, path, ".out", TapKind::Residual, m_plan.hidden,
        before ? Sites{Site::Layer, Site::Attention, Site::Mlp}
               : Sites{Site::Layer, Site::PostNorm, Site::MlpNorm});
    retype(Site::Layer, m_stream);
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
    add(Site::FinalNorm, std::string(m_names.finalNorm), ".out", TapKind::Norm, m_plan.hidden, {});
    m_result.m_taps.back().inputs = {last ? *last : *m_result.find(Site::Embedding, -1)};
    add(Site::Head, "lm_head", ".out", TapKind::Head, m_plan.vocabulary, {Site::FinalNorm});
    return std::move(m_result);
}

TapPlan TapPlan::of(const ModelPlan& plan, const Policy& policy, const ParallelPlan& parallel)
{
    return Maker(plan, policy, parallel).make();
}

namespace {

/// `*` is every value of the model itself; what only one rank has is recorded when it is asked for.
bool chooses(const std::string& pattern, const trace::Tap& tap)
{
    return (!tap.partial || pattern.find("partial") != std::string::npos)
           && base::globMatches(pattern, tap.name);
}

} // namespace

Result<TapPlan> TapPlan::select(std::span<const std::string> patterns) const
{
    std::vector<bool> chosen(m_taps.size(), false);
    for (const std::string& pattern : patterns) {
        bool matches = false;
        for (std::size_t i = 0; i < m_taps.size(); ++i)
            if (chooses(pattern, m_taps[i]))
                matches = chosen[i] = true;
        if (!matches)
            return Error{Errc::Invalid,
                         "no tap of this model matches '" + pattern + "'",
                         {},
                         pattern.find("partial") == std::string::npos
                             ? "See them with: moire-capture taps MODEL"
                             : "Partial products are those of several ranks: add --tp 2 or more"};
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
    for (const auto& [site, ranks] : m_partials)
        for (const auto& rank : ranks)
            if (places[trace::indexOf(*rank)]) {
                auto& chosenRanks = result.m_partials[site];
                chosenRanks.resize(ranks.size());
                chosenRanks[static_cast<std::size_t>(&rank - ranks.data())] =
                    places[trace::indexOf(*rank)];
            }
    return result;
}

std::span<const std::optional<trace::TapIndex>> TapPlan::partialsOf(Site site,
                                                                    std::int32_t layer) const
{
    const auto found = m_partials.find({site, layer});
    if (found == m_partials.end())
        return {};
    return found->second;
}

std::optional<trace::TapIndex> TapPlan::find(Site site, std::int32_t layer) const
{
    return m_places[static_cast<std::size_t>(layer + 1)][static_cast<std::size_t>(site)];
}

} // namespace moire::capture
