// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/json_text.h"
#include "capture/model/module_names.h"
#include "capture/model/plan_check.h"
#include "capture/model/safetensors_header.h"
#include "capture/model/weight_index.h"
#include "capture/model/weights.h"
#include "core/base/file.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace moire::capture {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view singleName = "model.safetensors";
constexpr std::string_view indexName = "model.safetensors.index.json";
constexpr std::size_t maxIndexBytes = 64U << 20;
constexpr int maxIndexDepth = 8;

using SharedFile = std::shared_ptr<const base::MappedFile>;

/// Where the bytes of an entry lie.
struct Location
{
    SharedFile file;
    std::uint64_t offset;
    std::uint64_t size;
};

class SafetensorsWeights final : public Weights
{
public:
    SafetensorsWeights(std::string place, NameStyle names)
        : m_place(std::move(place))
        , m_names(names)
    {}

    void add(const SharedFile& file, const StoredTensor& tensor)
    {
        const std::string name = hubName(m_names, tensor.name);
        if (isComputedAnew(m_names, name))
            return;
        if (!tensor.dtype) {
            m_refused.emplace(name, tensor.dtypeName);
            return;
        }
        if (addExperts(file, tensor))
            return;
        addEntry({name, *tensor.dtype, tensor.shape},
                 {file, tensor.begin, tensor.end - tensor.begin});
    }

    /// To be called once all tensors are there. Errors: Damaged (a name twice).
    Result<void> sort()
    {
        std::vector<std::size_t> order(m_entries.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return m_entries[a].name < m_entries[b].name;
        });
        std::vector<Entry> entries;
        std::vector<Location> locations;
        for (const std::size_t i : order) {
            if (!entries.empty() && entries.back().name == m_entries[i].name)
                return Error{Errc::Damaged, "has the tensor " + m_entries[i].name + " twice",
                             m_place, "Fetch the checkpoint again"};
            entries.push_back(std::move(m_entries[i]));
            locations.push_back(std::move(m_locations[i]));
        }
        m_entries = std::move(entries);
        m_locations = std::move(locations);
        return {};
    }

    const std::vector<Entry>& entries() const override { return m_entries; }

    Result<Weight> load(std::string_view name) const override
    {
        const std::size_t i = findEntry(m_entries, name);
        if (i < m_entries.size())
            return weightFromFile(m_locations[i].file, m_locations[i].offset, m_locations[i].size,
                                  m_entries[i]);
        const auto refused = m_refused.find(name);
        if (refused != m_refused.end())
            return Error{Errc::Unsupported,
                         "tensor " + std::string(name) + " holds " + refused->second
                             + " values, which this version does not read",
                         m_place, "Take a checkpoint in BF16, F16 or F32"};
        return Error{Errc::NotFound, "has no tensor " + std::string(name), m_place,
                     "Check that the checkpoint is complete and of this architecture"};
    }

    void release(std::string_view name) const override
    {
        if (const std::size_t i = findEntry(m_entries, name); i < m_entries.size())
            m_locations[i].file->releasePages(m_locations[i].offset, m_locations[i].size);
    }

private:
    void addEntry(Entry entry, Location location)
    {
        m_entries.push_back(std::move(entry));
        m_locations.push_back(std::move(location));
    }

    /// The fused tensors of transformers 5, [experts, rows, columns]; gate and up share one, gate
    /// rows first. False when it is none of them.
    bool addExperts(const SharedFile& file, const StoredTensor& tensor)
    {
        const std::string_view name = tensor.name;
        const bool gateUp = name.ends_with(".mlp.experts.gate_up_proj");
        if (!gateUp && !name.ends_with(".mlp.experts.down_proj"))
            return false;
        const std::uint64_t size = tensor.end - tensor.begin;
        if (tensor.shape.size() != 3 || size == 0 || tensor.shape[0] > std::int64_t{maxExperts}
            || (gateUp && tensor.shape[1] % 2 != 0))
            return false;
        const std::vector<std::string_view> projections =
            gateUp ? std::vector<std::string_view>{"gate_proj", "up_proj"}
                   : std::vector<std::string_view>{"down_proj"};
        const auto experts = static_cast<std::uint64_t>(tensor.shape[0]);
        const std::uint64_t part = size / experts / projections.size();
        const std::vector<std::int64_t> shape{
            tensor.shape[1] / static_cast<std::int64_t>(projections.size()), tensor.shape[2]};
        std::uint64_t offset = tensor.begin;
        for (std::uint64_t expert = 0; expert < experts; ++expert)
            for (const std::string_view projection : projections) {
                addEntry(
                    {hubName(m_names, expertName(name, expert, projection)), *tensor.dtype, shape},
                    {file, offset, part});
                offset += part;
            }
        return true;
    }

    std::string m_place;
    NameStyle m_names;
    std::vector<Entry> m_entries;
    std::vector<Location> m_locations;                         ///< as m_entries
    std::map<std::string, std::string, std::less<>> m_refused; ///< name, dtype
};

struct Shard
{
    SharedFile file;
    std::vector<StoredTensor> tensors;
};

Result<Shard> openShard(const fs::path& path)
{
    auto mapped = base::MappedFile::open(path);
    if (!mapped)
        return mapped.error();
    Shard shard{std::make_shared<const base::MappedFile>(std::move(*mapped)), {}};
    auto tensors = readSafetensorsHeader(shard.file->bytes(), path.string());
    if (!tensors)
        return tensors.error();
    shard.tensors = std::move(*tensors);
    return shard;
}

/// Tensor name to shard name. Errors: Damaged.
Result<std::map<std::string, std::string>> readIndex(const fs::path& path)
{
    const auto text = base::readSmallFile(path, maxIndexBytes);
    if (!text)
        return text.error();
    const auto document = parseJson(*text, path.string(), maxIndexDepth);
    if (!document)
        return document.error();
    JsonFields fields(*document, path.string());
    const auto* map = fields.find("weight_map");
    if (map == nullptr || !map->is_object() || map->empty())
        return Error{Errc::Damaged, "has no weight_map that lists tensors", path.string(),
                     "Fetch the file again"};
    std::map<std::string, std::string> shards;
    for (const auto& [name, shard] : map->items()) {
        const std::string file = shard.is_string() ? shard.get<std::string>() : std::string();
        // Only plain file names: an index must not lead out of its folder.
        if (file.empty() || file.find('/') != std::string::npos || file == "." || file == ".."
            || file.find('\0') != std::string::npos)
            return Error{Errc::Damaged, "names no file for tensor " + name, path.string(),
                         "Fetch the file again"};
        shards.emplace(name, file);
    }
    return shards;
}

Result<void> addShards(SafetensorsWeights& weights, const fs::path& folder)
{
    const auto index = readIndex(folder / indexName);
    if (!index)
        return index.error();
    std::map<std::string, std::vector<std::string>> byShard;
    for (const auto& [tensor, shard] : *index)
        byShard[shard].push_back(tensor);
    for (const auto& [name, wanted] : byShard) {
        auto shard = openShard(folder / name);
        if (!shard && shard.error().code == Errc::NotFound)
            return Error{Errc::NotFound, "the shard " + name + " is missing",
                         (folder / indexName).string(), "Fetch the missing file"};
        if (!shard)
            return shard.error();
        std::map<std::string_view, const StoredTensor*> held;
        for (const StoredTensor& tensor : shard->tensors)
            held.emplace(tensor.name, &tensor);
        for (const std::string& tensor : wanted) {
            const auto it = held.find(tensor);
            if (it == held.end())
                return Error{Errc::Damaged,
                             "has no tensor " + tensor + ", though the index says so",
                             (folder / name).string(), "Fetch the file again"};
            weights.add(shard->file, *it->second);
        }
    }
    return {};
}

} // namespace

Result<std::shared_ptr<const Weights>> openSafetensors(const fs::path& folder, NameStyle names)
{
    auto weights = std::make_shared<SafetensorsWeights>(folder.string(), names);
    auto single = openShard(folder / singleName);
    if (single) {
        for (const StoredTensor& tensor : single->tensors)
            weights->add(single->file, tensor);
    } else if (single.error().code != Errc::NotFound) {
        return single.error();
    } else if (auto added = addShards(*weights, folder); !added) {
        std::error_code ignored;
        if (added.error().code == Errc::NotFound && !fs::exists(folder / indexName, ignored))
            return Error{Errc::NotFound,
                         "has neither model.safetensors nor model.safetensors.index.json",
                         folder.string(), "Name a folder with weights in the safetensors format"};
        return added.error();
    }
    if (auto sorted = weights->sort(); !sorted)
        return sorted.error();
    return std::shared_ptr<const Weights>(std::move(weights));
}

} // namespace moire::capture
