// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/rank_reduction.h"

#include "capture/device/rank_sums.h"
#include "capture/engine/operations.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace moire::capture {

namespace {

constexpr std::size_t packBytes = 16; ///< what a GPU's thread loads at once

std::vector<RankChunk> twoShotChunks(std::size_t elements, std::size_t packSize,
                                     std::uint32_t ranks)
{
    const std::size_t packs = (elements + packSize - 1) / packSize;
    const std::size_t each = packs / ranks * packSize;
    std::vector<RankChunk> chunks;
    for (std::uint32_t owner = 0; owner < ranks; ++owner)
        chunks.push_back({owner * each, owner + 1 == ranks ? elements : (owner + 1) * each, owner});
    return chunks;
}

std::vector<RankChunk> ringChunks(std::size_t elements, std::size_t packSize, std::uint32_t ranks)
{
    const std::size_t share = (elements + ranks - 1) / ranks;
    const std::size_t each = (share + packSize - 1) / packSize * packSize;
    std::vector<RankChunk> chunks;
    for (std::uint32_t chunk = 0; chunk < ranks; ++chunk)
        chunks.push_back({std::min(elements, chunk * each), std::min(elements, (chunk + 1) * each),
                          (chunk + 1) % ranks});
    return chunks;
}

/// One message on its way: the partials on the host and the sum.
struct Message
{
    std::vector<const void*> partials;
    numeric::DType type;
    void* sum;
};

void sumChunk(const Message& message, const RankChunk& chunk, device::RankRounding rounding)
{
    std::vector<const void*> turned = message.partials;
    std::rotate(turned.begin(), turned.begin() + chunk.first, turned.end());
    device::sumInOrder(turned, message.type, chunk.begin, chunk.end, rounding, message.sum);
}

} // namespace

Reduction reductionFor(Reduction reduction, std::size_t messageBytes, std::uint32_t ranks)
{
    constexpr std::size_t kibibyte = 1024;
    if (reduction != Reduction::Auto)
        return reduction;
    const bool small = ranks == 2 || (ranks <= 4 && messageBytes < 512 * kibibyte)
                       || (ranks <= 8 && messageBytes < 256 * kibibyte);
    return small ? Reduction::OneShot : Reduction::TwoShot;
}

std::vector<RankChunk> chunksOf(Reduction reduction, std::size_t elements, std::size_t elementBytes,
                                std::uint32_t ranks)
{
    const std::size_t packSize = packBytes / elementBytes;
    std::vector<RankChunk> chunks{{0, elements, 0}};
    if (reduction == Reduction::TwoShot)
        chunks = twoShotChunks(elements, packSize, ranks);
    else if (reduction == Reduction::Ring)
        chunks = ringChunks(elements, packSize, ranks);
    std::erase_if(chunks, [](const RankChunk& chunk) { return chunk.begin >= chunk.end; });
    return chunks;
}

at::Tensor reducedPartials(const ParallelPlan& plan, const std::vector<at::Tensor>& partials,
                           at::ScalarType outType)
{
    std::vector<at::Tensor> onHost;
    Message message;
    for (const at::Tensor& partial : partials) {
        onHost.push_back(partial.to(at::kCPU).contiguous());
        message.partials.push_back(onHost.back().data_ptr());
    }
    at::Tensor sum = at::empty_like(onHost.front());
    message.type = dtypeOf(sum.scalar_type());
    message.sum = sum.data_ptr();
    const auto elements = static_cast<std::size_t>(sum.numel());
    const Reduction reduction =
        reductionFor(plan.reduction, sum.nbytes(), static_cast<std::uint32_t>(partials.size()));
    const auto chunks = chunksOf(reduction, elements, numeric::sizeOf(message.type),
                                 static_cast<std::uint32_t>(partials.size()));
    const auto rounding = reduction == Reduction::Seq || reduction == Reduction::Ring
                              ? device::RankRounding::Each
                              : device::RankRounding::Once;
    constexpr std::int64_t grain = std::int64_t{1} << 14U;
    at::parallel_for(0, sum.numel(), grain, [&](std::int64_t first, std::int64_t last) {
        const auto begin = static_cast<std::size_t>(first);
        const auto end = static_cast<std::size_t>(last);
        if (plan.isTree()) {
            device::sumAsTree(message.partials, message.type, begin, end, message.sum);
            return;
        }
        for (const RankChunk& chunk : chunks)
            if (chunk.begin < end && begin < chunk.end)
                sumChunk(message,
                         {std::max(begin, chunk.begin), std::min(end, chunk.end), chunk.first},
                         rounding);
    });
    if (outType != sum.scalar_type()) {
        const at::Tensor narrow = at::empty(sum.sizes(), sum.options().dtype(outType));
        device::narrowElements(sum.data_ptr<float>(), dtypeOf(outType), 0, elements,
                               narrow.data_ptr());
        sum = narrow;
    }
    return sum.to(partials.front().device());
}

} // namespace moire::capture
