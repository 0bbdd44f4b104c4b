// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/forward.h"

#include "capture/engine/failure.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace moire::capture {

namespace {

/// Any would do: no other row sees what becomes of it.
constexpr std::int64_t paddingToken = 0;

} // namespace

KvCache::KvCache(std::span<const at::ScalarType> types, std::int64_t kvHeads, std::int64_t headDim,
                 std::int64_t capacity, at::Device device)
{
    for (const at::ScalarType type : types) {
        const auto options = at::TensorOptions(type).device(device);
        m_layers.push_back({at::empty({kvHeads, capacity, headDim}, options),
                            at::empty({kvHeads, capacity, headDim}, options)});
    }
}

/// Twice the room, or more, when so many further rows do not fit.
void KvCache::makeRoom(at::Tensor& table, std::int64_t rows) const
{
    const std::int64_t capacity = table.size(1);
    if (m_length + rows <= capacity)
        return;
    const at::Tensor larger = at::empty(
        {table.size(0), std::max(2 * capacity, m_length + rows), table.size(2)}, table.options());
    larger.narrow(1, 0, m_length).copy_(table.narrow(1, 0, m_length));
    table = larger;
}

KvCache::View KvCache::append(std::size_t layer, const at::Tensor& keys, const at::Tensor& values)
{
    const std::int64_t rows = keys.size(0);
    Layer& held = m_layers[layer];
    makeRoom(held.keys, rows);
    makeRoom(held.values, rows);
    held.keys.narrow(1, m_length, rows).copy_(keys.transpose(0, 1));
    held.values.narrow(1, m_length, rows).copy_(values.transpose(0, 1));
    return {held.keys.narrow(1, 0, m_length + rows), held.values.narrow(1, 0, m_length + rows)};
}

Forward::Forward(const Model& model, const TapPlan& taps, TapSink* sink)
    : m_model(model)
    , m_plan(model.plan())
    , m_operations(model.operations())
    , m_taps(taps)
    , m_sink(sink)
{}

bool Forward::wants(Site site, std::int32_t layer) const
{
    const auto place = m_taps.find(site, layer);
    return m_sink != nullptr && place && m_sink->wants(*place);
}

void Forward::tap(Site site, std::int32_t layer, const at::Tensor& values)
{
    if (wants(site, layer))
        throwIfFailed(m_sink->tensor(*m_taps.find(site, layer), withoutPadding(values)));
}

void Forward::tapPartials(Site site, std::int32_t layer, const std::vector<at::Tensor>& partials)
{
    const auto places = m_taps.partialsOf(site, layer);
    for (std::size_t rank = 0; rank < partials.size(); ++rank)
        if (places[rank] && m_sink->wants(*places[rank]))
            throwIfFailed(m_sink->tensor(*places[rank], withoutPadding(partials[rank])));
}

at::Tensor Forward::summed(const LinearLayer& linear, const at::Tensor& x, Site site,
                           std::int32_t layer)
{
    if (m_sink == nullptr || m_taps.partialsOf(site, layer).empty())
        return linear.apply(x);
    std::vector<at::Tensor> partials;
    at::Tensor y = linear.applyWithPartials(x, partials);
    tapPartials(site, layer, partials);
    return y;
}

at::Tensor Forward::withoutPadding(const at::Tensor& values) const
{
    return m_realRows.defined() ? values.index_select(0, m_realRows) : values;
}

/// The rows of the pieces that are no padding.
void Forward::findRows()
{
    m_realRows = at::Tensor();
    if (std::all_of(m_pieces.begin(), m_pieces.end(), [](const Piece& piece) {
            return piece.padBefore == 0 && piece.padBehind == 0;
        }))
        return;
    std::vector<std::int64_t> rows;
    std::int64_t begin = 0;
    for (const Piece& piece : m_pieces) {
        for (std::size_t i = 0; i < piece.ids.size(); ++i)
            rows.push_back(begin + piece.padBefore + static_cast<std::int64_t>(i));
        begin += piece.rows();
    }
    m_realRows = at::tensor(at::ArrayRef<std::int64_t>(rows), at::kLong).to(m_model.device());
}

/// LibTorch 1 has no fp16 form of it; by way of fp32 the bound rounds alike.
at::Tensor Forward::clipped(const at::Tensor& x) const
{
    if (!m_plan.clipQkv)
        return x;
    return at::clamp(x.to(at::kFloat), -*m_plan.clipQkv, *m_plan.clipQkv).to(x.scalar_type());
}

/// Norm (where the plan has one) and clip of q or k: rows × heads × headDim, of the attention's
/// dtype.
at::Tensor Forward::projectedHeads(const at::Tensor& projection, const NormLayer& norm, Site site,
                                   std::int32_t layer, std::int64_t heads)
{
    const std::int64_t rows = projection.size(0);
    at::Tensor x = projection;
    if (m_plan.qkNorm != QkNorm::None) {
        const std::int64_t width = m_plan.qkNorm == QkNorm::PerHead ? m_plan.headDim : x.size(1);
        x = m_operations.normalise(norm, x.reshape({-1, width}).to(norm.dtype)).view({rows, -1});
        tap(site, layer, x);
    }
    return clipped(x).to(weights(layer).attentionType).view({rows, heads, m_plan.headDim});
}

at::Tensor Forward::attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           std::int32_t layer)
{
    std::vector<at::Tensor> outputs;
    std::int64_t begin = 0;
    for (const Piece& piece : m_pieces) {
        const std::int64_t rows = piece.rows();
        const KvCache::View cached = piece.cache->append(
            static_cast<std::size_t>(layer), k.narrow(0, begin, rows), v.narrow(0, begin, rows));
        AttentionJob job;
        job.q = q.narrow(0, begin, rows);
        job.k = cached.keys;
        job.v = cached.values;
        job.firstPosition = piece.cache->length();
        job.hidden = piece.cache->hidden();
        job.window = m_plan.layers[static_cast<std::size_t>(layer)].window;
        job.scale = attentionScale(layer);
        outputs.push_back(m_operations.attention(job));
        begin += rows;
    }
    return outputs.size() == 1 ? outputs.front() : at::cat(outputs, 0);
}

double Forward::attentionScale(std::int32_t layer) const
{
    const double scale =
        m_plan.scaleAttention ? std::pow(static_cast<double>(m_plan.headDim), -0.5) : 1.0;
    return m_plan.scaleByInverseLayer ? scale / (layer + 1) : scale;
}

Forward::Projections Forward::projections(const at::Tensor& x, std::int32_t layer)
{
    const DecoderLayer& w = weights(layer);
    const auto qWidth = std::int64_t{m_plan.heads} * m_plan.headDim;
    const auto kvWidth = std::int64_t{m_plan.kvHeads} * m_plan.headDim;
    if (w.qkv) {
        const at::Tensor all = w.qkv->apply(x);
        tap(Site::QkvProj, layer, all);
        const auto part = [&](std::int64_t begin, std::int64_t width) {
            return all.narrow(1, begin, width).contiguous();
        };
        return {part(0, qWidth), part(qWidth, kvWidth), part(qWidth + kvWidth, kvWidth)};
    }
    Projections result;
    result.q = w.q->apply(x);
    tap(Site::QProj, layer, result.q);
    result.k = w.k->apply(x);
    tap(Site::KProj, layer, result.k);
    result.v = w.v->apply(x);
    tap(Site::VProj, layer, result.v);
    return result;
}

at::Tensor Forward::attention(const at::Tensor& x, std::int32_t layer)
{
    const DecoderLayer& w = weights(layer);
    const Projections projected = projections(x, layer);
    const at::Tensor v = clipped(projected.v).to(w.attentionType);
    at::Tensor q = projectedHeads(projected.q, w.qNorm, Site::QNorm, layer, m_plan.heads);
    at::Tensor k = projectedHeads(projected.k, w.kNorm, Site::KNorm, layer, m_plan.kvHeads);
    if (m_plan.rope.kind != RopeKind::None) {
        const RotaryTables& tables = rotaryFor(w.attentionType);
        q = m_operations.rotate(q, tables, m_plan.rope.kind);
        k = m_operations.rotate(k, tables, m_plan.rope.kind);
        tap(Site::QRope, layer, q.flatten(1));
        tap(Site::KRope, layer, k.flatten(1));
    }
    const at::Tensor attended =
        attend(q, k, v.view({v.size(0), m_plan.kvHeads, m_plan.headDim}), layer);
    tap(Site::OProjIn, layer, attended);
    const at::Tensor out = summed(*w.o, attended, Site::OProj, layer);
    tap(Site::OProj, layer, out);
    tap(Site::Attention, layer, out);
    return out;
}

at::Tensor Forward::mlp(const at::Tensor& x, const MlpLayers& weights, const MlpSites& sites,
                        std::int32_t layer)
{
    at::Tensor inner;
    if (weights.gate) {
        const at::Tensor gate = weights.gate->apply(x);
        tap(sites.gate, layer, gate);
        const at::Tensor active =
            m_operations.activate(m_plan.activation, gate.to(weights.activationType));
        tap(sites.activation, layer, active);
        const at::Tensor up = weights.up->apply(x);
        tap(sites.up, layer, up);
        inner = m_operations.multiply(active, up);
    } else {
        const at::Tensor up = weights.up->apply(x);
        tap(sites.up, layer, up);
        inner = m_operations.activate(m_plan.activation, up.to(weights.activationType));
        tap(sites.activation, layer, inner);
    }
    tap(sites.downIn, layer, inner);
    const at::Tensor out = summed(*weights.down, inner, sites.down, layer);
    tap(sites.down, layer, out);
    tap(sites.out, layer, out);
    return out;
}

/// Every expert works on the rows that chose it; its outputs go to their slots: rows × k × hidden.
at::Tensor Forward::expertSlots(const at::Tensor& input, const at::Tensor& ids, std::int32_t layer)
{
    const at::Tensor x = input.to(weights(layer).expertType);
    const auto chosen = static_cast<std::int64_t>(m_plan.moe->chosen);
    const auto experts = static_cast<std::size_t>(m_plan.moe->experts);
    const at::Tensor hostIds = ids.to(at::kCPU).contiguous();
    const auto* id = hostIds.data_ptr<std::int64_t>();
    std::vector<std::vector<std::int64_t>> placesOf(experts); ///< row · k + slot, ascending
    for (std::int64_t place = 0; place < hostIds.numel(); ++place)
        placesOf[static_cast<std::size_t>(id[place])].push_back(place);

    const bool keepInner = wants(Site::ExpertGateUpSlots, layer);
    const bool keepPartials =
        m_sink != nullptr && !m_taps.partialsOf(Site::ExpertDownSlots, layer).empty();
    const std::int64_t places = hostIds.numel();
    at::Tensor outputs = at::empty({places, x.size(1)}, x.options());
    at::Tensor inner;
    if (keepInner)
        inner = at::empty({places, 2 * static_cast<std::int64_t>(m_plan.moe->expertWidth)},
                          x.options());
    std::vector<at::Tensor> partials; ///< of the ranks, in slots like the outputs
    for (std::size_t e = 0; e < experts; ++e) {
        if (placesOf[e].empty())
            continue;
        const at::Tensor place =
            at::tensor(at::ArrayRef<std::int64_t>(placesOf[e]), at::kLong).to(x.device());
        const at::Tensor rows = x.index_select(0, at::floor_divide(place, chosen));
        const MlpLayers& expert = weights(layer).experts[e];
        const at::Tensor gate = expert.gate->apply(rows);
        const at::Tensor up = expert.up->apply(rows);
        const at::Tensor product =
            m_operations.multiply(m_operations.activate(m_plan.activation, gate), up);
        std::vector<at::Tensor> ofRanks;
        outputs.index_copy_(0, place,
                            keepPartials ? expert.down->applyWithPartials(product, ofRanks)
                                         : expert.down->apply(product));
        for (std::size_t rank = 0; rank < ofRanks.size(); ++rank) {
            if (partials.size() == rank)
                partials.push_back(at::empty({places, x.size(1)}, ofRanks[rank].options()));
            partials[rank].index_copy_(0, place, ofRanks[rank]);
        }
        if (keepInner)
            inner.index_copy_(0, place, at::cat({gate, up}, 1));
    }
    if (keepInner)
        tap(Site::ExpertGateUpSlots, layer, inner.view({x.size(0), -1}));
    for (at::Tensor& partial : partials)
        partial = partial.view({x.size(0), -1});
    tapPartials(Site::ExpertDownSlots, layer, partials);
    return outputs.view({x.size(0), chosen, x.size(1)});
}

at::Tensor Forward::sparseMlp(const at::Tensor& x, std::int32_t layer)
{
    const DecoderLayer& w = weights(layer);
    at::Tensor shared;
    if (w.sharedGate)
        shared = mlp(x, w.shared, sharedSites, layer);
    const at::Tensor logits = w.router->apply(x);
    tap(Site::Router, layer, logits);
    const Routing routing = m_operations.route(*m_plan.moe, logits);
    if (m_sink != nullptr)
        throwIfFailed(m_sink->routing(m_router, withoutPadding(logits), withoutPadding(routing.ids),
                                      withoutPadding(routing.weights)));
    ++m_router;
    const at::Tensor slots = expertSlots(x, routing.ids, layer);
    tap(Site::ExpertDownSlots, layer, slots.flatten(1));
    at::Tensor out = m_operations.combine(*m_plan.moe, slots, routing);
    tap(Site::Experts, layer, out);
    if (w.sharedGate) {
        const at::Tensor gate = w.sharedGate->apply(x);
        tap(Site::SharedExpertGate, layer, gate);
        out = m_operations.add(out, m_operations.gateRows(shared, gate));
    }
    tap(Site::Mlp, layer, out);
    return out;
}

at::Tensor Forward::block(const at::Tensor& x, std::int32_t layer)
{
    return m_plan.layers[static_cast<std::size_t>(layer)].sparse
               ? sparseMlp(x, layer)
               : mlp(x, weights(layer).dense, denseSites, layer);
}

at::Tensor Forward::normalised(const NormLayer& norm, Site site, std::int32_t layer,
                               const at::Tensor& x)
{
    at::Tensor result = m_operations.normalise(norm, x.to(norm.dtype));
    tap(site, layer, result);
    return result;
}

at::Tensor Forward::decoderLayer(const at::Tensor& x, std::int32_t layer)
{
    const DecoderLayer& w = weights(layer);
    at::Tensor out;
    if (m_plan.normPlace == NormPlace::BeforeBlocks) {
        const at::Tensor in = normalised(w.inputNorm, Site::InputNorm, layer, x);
        const at::Tensor middle = m_operations.add(x, attention(in, layer));
        const at::Tensor inner = normalised(w.postNorm, Site::PostNorm, layer, middle);
        out = m_operations.add(middle, block(inner, layer));
    } else {
        const at::Tensor attended = attention(x, layer);
        const at::Tensor middle =
            m_operations.add(x, normalised(w.postNorm, Site::PostNorm, layer, attended));
        const at::Tensor inner = block(middle, layer);
        out = m_operations.add(middle, normalised(w.mlpNorm, Site::MlpNorm, layer, inner));
    }
    tap(Site::Layer, layer, out);
    return out;
}

at::Tensor Forward::embed(const std::vector<std::int64_t>& ids,
                          const std::vector<std::int64_t>& positions)
{
    const auto onDevice = [&](const std::vector<std::int64_t>& numbers) {
        return at::tensor(at::ArrayRef<std::int64_t>(numbers), at::kLong).to(m_model.device());
    };
    const auto rowsOf = [&](const VectorTable& table, const std::vector<std::int64_t>& numbers) {
        return table.weight.index_select(0, onDevice(numbers)).to(table.dtype);
    };
    at::Tensor x = rowsOf(m_model.embedding(), ids);
    tap(Site::Embedding, -1, x);
    if (!m_plan.learnedPositions)
        return x;
    const at::Tensor places = rowsOf(m_model.positions(), positions);
    tap(Site::Positions, -1, places);
    x = m_operations.add(x, places);
    tap(Site::EmbeddingSum, -1, x);
    return x;
}

/// Tables of all rows; dynamic scaling makes those of every piece by its own length.
void Forward::prepareRotation(const std::vector<std::int64_t>& positions)
{
    const auto tables = [&](const std::vector<std::int64_t>& rows, std::int64_t length) {
        return m_operations.rotaryTables(rows, m_model.inverseFrequencies(length),
                                         m_plan.rope.attentionFactor, m_plan.rope.kind,
                                         m_model.rotaryType());
    };
    const auto lengthOf = [](const Piece& piece) {
        return piece.cache->length() - piece.cache->hidden() + piece.padBefore
               + static_cast<std::int64_t>(piece.ids.size());
    };
    if (m_plan.rope.scaling != RopeScaling::Dynamic || m_pieces.size() == 1) {
        m_rotary = tables(positions, lengthOf(m_pieces.front()));
    } else {
        std::vector<at::Tensor> cosines;
        std::vector<at::Tensor> sines;
        auto begin = positions.begin();
        for (const Piece& piece : m_pieces) {
            const auto end = begin + static_cast<std::ptrdiff_t>(piece.rows());
            const RotaryTables part = tables({begin, end}, lengthOf(piece));
            cosines.push_back(part.cosines);
            sines.push_back(part.sines);
            begin = end;
        }
        m_rotary = {at::cat(cosines, 0), at::cat(sines, 0)};
    }
    tap(Site::RotaryCos, -1, m_rotary.cosines);
    tap(Site::RotarySin, -1, m_rotary.sines);
    m_rotaryOf.clear();
}

const RotaryTables& Forward::rotaryFor(at::ScalarType dtype)
{
    if (m_plan.rope.kind == RopeKind::Fp32Tables || dtype == m_rotary.cosines.scalar_type())
        return m_rotary;
    const auto [place, fresh] = m_rotaryOf.try_emplace(dtype);
    if (fresh)
        place->second = {m_rotary.cosines.to(dtype), m_rotary.sines.to(dtype)};
    return place->second;
}

at::Tensor Forward::run(std::span<const Piece> pieces)
{
    m_pieces = pieces;
    m_router = 0;
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> positions;
    findRows();
    for (const Piece& piece : pieces) {
        const std::int64_t before = piece.cache->length() - piece.cache->hidden();
        ids.insert(ids.end(), static_cast<std::size_t>(piece.padBefore), paddingToken);
        ids.insert(ids.end(), piece.ids.begin(), piece.ids.end());
        ids.insert(ids.end(), static_cast<std::size_t>(piece.padBehind), paddingToken);
        positions.insert(positions.end(), static_cast<std::size_t>(piece.padBefore), 0);
        for (std::size_t i = 0; i < piece.ids.size(); ++i)
            positions.push_back(before + static_cast<std::int64_t>(i));
        positions.insert(positions.end(), static_cast<std::size_t>(piece.padBehind), 0);
        if (piece.padBefore > 0)
            piece.cache->hide(piece.padBefore);
    }
    at::Tensor x = embed(ids, positions);
    if (m_plan.rope.kind != RopeKind::None)
        prepareRotation(positions);
    for (std::size_t layer = 0; layer < m_plan.layers.size(); ++layer)
        x = decoderLayer(x, static_cast<std::int32_t>(layer));
    for (const Piece& piece : pieces)
        piece.cache->advance(piece.padBefore + static_cast<std::int64_t>(piece.ids.size()));
    x = normalised(m_model.finalNorm(), Site::FinalNorm, -1, x);
    at::Tensor logits = m_model.head().apply(x);
    tap(Site::Head, -1, logits);
    return withoutPadding(logits);
}

} // namespace moire::capture
