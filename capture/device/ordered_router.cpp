// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/device/ordered_rows.h"
#include "capture/device/storage.h"
#include "core/numeric/top_k.h"

#include <vector>

namespace moire::capture::device {

namespace {

template <class T>
void sumRowSlots(const T* slots, const std::int32_t* order, T* out, std::size_t k,
                 std::size_t width, bool roundEach)
{
    for (std::size_t i = 0; i < width; ++i) {
        float sum = 0.0F;
        for (std::size_t s = 0; s < k; ++s) {
            sum += widened(slots[static_cast<std::size_t>(order[s]) * width + i]);
            if (roundEach)
                sum = roundedTo<T>(sum);
        }
        narrow(sum, out[i]);
    }
}

} // namespace

void route(const void* logits, numeric::DType logitType, std::size_t rows, std::size_t experts,
           std::size_t k, bool normaliseWeights, std::int64_t* ids, void* weights,
           numeric::DType weightType, Workers& workers)
{
    std::vector<float> scores(rows * experts);
    softmaxRows(logits, logitType, scores.data(), numeric::DType::FP32, rows, experts, workers);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto best = numeric::topK(scores.data() + r * experts, experts, k);
        float sum = 0.0F;
        for (const numeric::Ranked& entry : best)
            sum += entry.value;
        for (std::size_t s = 0; s < best.size(); ++s) {
            const float weight = normaliseWeights ? best[s].value / sum : best[s].value;
            ids[r * k + s] = best[s].id;
            withStorage(weightType, [&](auto t) {
                narrow(weight, static_cast<decltype(t)*>(weights)[r * k + s]);
            });
        }
    }
}

void sumSlots(const void* slots, const std::int32_t* order, void* out, numeric::DType dtype,
              std::size_t rows, std::size_t k, std::size_t width, bool roundEach, Workers& workers)
{
    workers.run(rows, [&](std::size_t r) {
        withStorage(dtype, [&](auto t) {
            using T = decltype(t);
            sumRowSlots(static_cast<const T*>(slots) + r * k * width, order + r * k,
                        static_cast<T*>(out) + r * width, k, width, roundEach);
        });
    });
}

} // namespace moire::capture::device
