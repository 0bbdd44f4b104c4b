// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/gguf_weights.h"

#include "capture/model/aligned_bytes.h"
#include "capture/model/families.h"
#include "capture/model/ggml_types.h"
#include "capture/model/gguf_names.h"
#include "capture/model/module_names.h"
#include "capture/model/plan_check.h"
#include "capture/model/weight_index.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <utility>

namespace moire::capture {

namespace {

/// Where an entry comes from, and what has to be done to it.
struct Source
{
    Weights::Entry entry;
    const GgmlType* type;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint32_t permutedHeads; ///< 0: the rows are in order
    bool transposed;             ///< [out, in], where the hub has [in, out]
};

/// Undoes llama.cpp's order of the rows of q and k. Within a head of d rows it stores row 2a + b
/// where the hub has row b · d/2 + a (b = 0, 1): rotation there works on neighbours, here on
/// halves.
void restoreRows(std::span<const std::byte> in, std::span<std::byte> out, std::size_t rows,
                 std::uint32_t heads)
{
    const std::size_t rowBytes = in.size() / rows;
    const std::size_t perHead = rows / heads;
    const std::size_t half = perHead / 2;
    for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t inHead = row % perHead;
        const std::size_t from = row - inHead + 2 * (inHead % half) + inHead / half;
        std::memcpy(out.data() + row * rowBytes, in.data() + from * rowBytes, rowBytes);
    }
}

/// out[j, i] = in[i, j] for rows × columns elements of `size` bytes.
void transpose(std::span<const std::byte> in, std::span<std::byte> out, std::size_t rows,
               std::size_t columns, std::size_t size)
{
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            std::memcpy(out.data() + (j * rows + i) * size, in.data() + (i * columns + j) * size,
                        size);
}

/// A tensor of a layer that the decoder would have to use ("attn_rot_embd" is a table that old
/// files carry).
bool isLayerTensor(std::string_view ggufName)
{
    return ggufName.starts_with("blk.")
           && ggufName.find(".attn_rot_embd.") == std::string_view::npos;
}

class GgufWeights final : public Weights
{
public:
    explicit GgufWeights(std::shared_ptr<const base::MappedFile> file)
        : m_file(std::move(file))
    {}

    void add(const GgufTensor& tensor, const ModelPlan& plan, bool permutes);
    Result<void> sort();

    const std::vector<Entry>& entries() const override { return m_entries; }
    Result<Weight> load(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    std::string place() const { return m_file->path().string(); }
    void addExperts(const HubTensor& hub, Source fused, const std::string& typeName,
                    NameStyle style);
    Weight unpacked(const Source& source) const;
    Weight ordered(const Source& source, const Weight& weight) const;

    std::shared_ptr<const base::MappedFile> m_file;
    std::vector<Source> m_sources;
    std::vector<Entry> m_entries;                              ///< as m_sources
    std::map<std::string, std::string, std::less<>> m_refused; ///< name, ggml type
};

void GgufWeights::add(const GgufTensor& tensor, const ModelPlan& plan, bool permutes)
{
    HubTensor hub = hubTensor(tensor.name, plan.names);
    if (hub.name.empty()) {
        if (!isLayerTensor(tensor.name))
            return;
        hub.name = tensor.name; // listed, so that the check of the plan refuses it
    }
    using Kind = HubTensor::Kind;
    Source source{{hubName(plan.names, hub.name), numeric::DType::FP32, {}},
                  findGgmlType(tensor.type),
                  tensor.offset,
                  tensor.size,
                  0,
                  plan.transposedWeights && hub.kind == Kind::Linear && tensor.rank == 2};
    for (std::uint32_t i = tensor.rank; i-- > 0;)
        source.entry.shape.push_back(static_cast<std::int64_t>(tensor.extents[i]));
    if (source.transposed)
        std::swap(source.entry.shape.front(), source.entry.shape.back());
    if (hub.kind == Kind::OneRow && tensor.rank == 1)
        source.entry.shape.insert(source.entry.shape.begin(), 1);
    if (source.type != nullptr)
        source.entry.dtype = source.type->dtype;
    if (permutes && hub.kind == Kind::Query)
        source.permutedHeads = plan.heads;
    if (permutes && hub.kind == Kind::Key)
        source.permutedHeads = plan.kvHeads;
    if (hub.kind == Kind::Experts)
        addExperts(hub, std::move(source), ggmlTypeName(tensor.type), plan.names);
    else if (source.type == nullptr)
        m_refused.emplace(source.entry.name, ggmlTypeName(tensor.type));
    else
        m_sources.push_back(std::move(source));
}

void GgufWeights::addExperts(const HubTensor& hub, Source fused, const std::string& typeName,
                             NameStyle style)
{
    const std::vector<std::int64_t> shape = fused.entry.shape;
    if (shape.size() != 3 || shape.front() <= 0 || shape.front() > std::int64_t{maxExperts})
        return;
    const std::string stem =
        hub.name.substr(0, hub.name.size() - std::string_view(".weight").size());
    const auto experts = static_cast<std::uint64_t>(shape.front());
    fused.size /= experts;
    fused.entry.shape.erase(fused.entry.shape.begin());
    for (std::uint64_t expert = 0; expert < experts; ++expert) {
        fused.entry.name = hubName(style, expertName(stem, expert, hub.projection));
        if (fused.type == nullptr)
            m_refused.emplace(fused.entry.name, typeName);
        else
            m_sources.push_back(fused);
        fused.offset += fused.size;
    }
}

Result<void> GgufWeights::sort()
{
    std::sort(m_sources.begin(), m_sources.end(),
              [](const Source& a, const Source& b) { return a.entry.name < b.entry.name; });
    for (const Source& source : m_sources) {
        if (!m_entries.empty() && m_entries.back().name == source.entry.name)
            return Error{Errc::Damaged, "has the tensor " + source.entry.name + " twice", place(),
                         "Fetch the file again"};
        m_entries.push_back(source.entry);
    }
    return {};
}

Weight GgufWeights::unpacked(const Source& source) const
{
    const std::uint64_t values = source.size / source.type->blockBytes * source.type->blockValues;
    AlignedBytes memory(values * sizeof(float));
    dequantise(*source.type, m_file->bytes().subspan(source.offset, source.size),
               {reinterpret_cast<float*>(memory.bytes().data()), values});
    const AlignedBytes& filled = memory;
    return {source.entry.dtype, source.entry.shape, filled.bytes(), filled.owner()};
}

Weight GgufWeights::ordered(const Source& source, const Weight& weight) const
{
    if (source.transposed && !weight.bytes.empty()) {
        const auto columns = static_cast<std::size_t>(weight.shape.front());
        const auto outputs = static_cast<std::size_t>(weight.shape.back());
        AlignedBytes memory(weight.bytes.size());
        transpose(weight.bytes, memory.bytes(), outputs, columns,
                  weight.bytes.size() / outputs / columns);
        const AlignedBytes& filled = memory;
        return {weight.dtype, weight.shape, filled.bytes(), filled.owner()};
    }
    const auto rows = static_cast<std::size_t>(weight.shape.front());
    // A shape that does not fit the heads is refused by the check of the plan.
    if (source.permutedHeads == 0 || weight.bytes.empty()
        || rows % (std::size_t{source.permutedHeads} * 2) != 0)
        return weight;
    AlignedBytes memory(weight.bytes.size());
    restoreRows(weight.bytes, memory.bytes(), rows, source.permutedHeads);
    const AlignedBytes& filled = memory;
    return {weight.dtype, weight.shape, filled.bytes(), filled.owner()};
}

Result<Weight> GgufWeights::load(std::string_view name) const
{
    const std::size_t i = findEntry(m_entries, name);
    if (i == m_entries.size()) {
        const auto refused = m_refused.find(name);
        if (refused != m_refused.end())
            return Error{Errc::Unsupported,
                         "tensor " + std::string(name) + " is of the type " + refused->second
                             + ", which this version does not read",
                         place(), "Types that can be read: " + supportedGgmlTypes()};
        return Error{Errc::NotFound, "has no tensor " + std::string(name), place(),
                     "Check that the file is complete and of this architecture"};
    }
    const Source& source = m_sources[i];
    try {
        if (!source.type->packed()) {
            auto weight = weightFromFile(m_file, source.offset, source.size, source.entry);
            if (!weight)
                return weight;
            return ordered(source, *weight);
        }
        if (!m_file->stillWhole())
            return shrunkError(*m_file);
        Weight weight = ordered(source, unpacked(source));
        if (!m_file->stillWhole())
            return shrunkError(*m_file);
        m_file->releasePages(source.offset, source.size);
        return weight;
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "memory runs out at tensor " + source.entry.name, place(),
                     "Take a smaller model or a machine with more memory"};
    }
}

void GgufWeights::release(std::string_view name) const
{
    if (const std::size_t i = findEntry(m_entries, name); i < m_entries.size())
        m_file->releasePages(m_sources[i].offset, m_sources[i].size);
}

} // namespace

Result<std::shared_ptr<const Weights>> openGgufWeights(const GgufFile& file, const ModelPlan& plan)
{
    const Family* family = findFamily(plan.architecture);
    auto weights = std::make_shared<GgufWeights>(file.mapped());
    for (const GgufTensor& tensor : file.tensors())
        weights->add(tensor, plan, family != nullptr && family->ggufPermutes);
    if (auto sorted = weights->sort(); !sorted)
        return sorted.error();
    return std::shared_ptr<const Weights>(std::move(weights));
}

} // namespace moire::capture
