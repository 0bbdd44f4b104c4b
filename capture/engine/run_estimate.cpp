// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/run_estimate.h"

#include "capture/engine/failure.h"
#include "capture/engine/k_plan.h"
#include "capture/engine/lane.h"
#include "capture/engine/operations.h"
#include "capture/engine/policy.h"
#include "capture/model/module_names.h"
#include "capture/model/tensor_names.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>

namespace moire::capture {

namespace {

/// Side of the square layer that is timed: large enough to be no small matter, small enough to be
/// timed in no time.
constexpr std::int64_t side = 1024;
constexpr std::int64_t manyRows = 128;

/// Multiplications of one token's linear layers; of a mixture those of the chosen experts.
double multiplications(const ModelPlan& plan)
{
    double sum = static_cast<double>(plan.vocabulary) * plan.hidden; // the head
    const double share = plan.moe ? static_cast<double>(plan.moe->chosen) / plan.moe->experts : 1.0;
    for (std::size_t layer = 0; layer < plan.layers.size(); ++layer)
        for (const NeededTensor& tensor : layerTensors(plan, layer)) {
            if (tensor.shape.size() != 2)
                continue;
            const bool ofExpert = tensor.name.find(".experts.") != std::string::npos;
            sum += static_cast<double>(tensor.shape[0]) * static_cast<double>(tensor.shape[1])
                   * (ofExpert ? share : 1.0);
        }
    return sum;
}

/// Seconds that one multiplication takes in a layer with so many rows; the second of two tries, as
/// the first one warms up.
double secondsEach(const LinearLayer& layer, const at::Tensor& rows)
{
    double seconds = 0;
    for (int i = 0; i < 2; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        layer.apply(rows);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    return seconds / static_cast<double>(rows.size(0) * side * side);
}

/// The dtype of most of the model: its middle layer's projection of values.
at::ScalarType mainType(const ModelPlan& plan, const Policy& policy)
{
    const ModuleNames& names = moduleNames(plan.names);
    const std::string module = layerPath(plan.names, plan.layers.size() / 2) + '.'
                               + std::string(names.attention) + '.' + std::string(names.o);
    return scalarTypeOf(policy.dtypeOf(module));
}

} // namespace

Result<double> estimateSeconds(const Checkpoint& checkpoint, const RunOptions& options,
                               std::span<const Prompt> prompts)
{
    const auto policy = Policy::of(options, checkpoint.plan);
    if (!policy)
        return policy.error();
    const auto kPlan = KPlan::parse(options.kPlan);
    if (!kPlan)
        return kPlan.error();
    return atEdge([&]() -> Result<double> {
        const c10::NoGradGuard noGradients;
        const auto operations = options.arithmetic == "ordered"
                                    ? makeOrderedOperations(options.threads, *kPlan)
                                    : makeNativeOperations(AttentionKind::Eager);
        operations->useThreads(options.threads);
        const auto like = at::TensorOptions(mainType(checkpoint.plan, *policy));
        const auto layer = operations->makeLinear(at::zeros({side, side}, like), {});
        const double together = secondsEach(*layer, at::zeros({manyRows, side}, like));
        const double alone = secondsEach(*layer, at::zeros({1, side}, like));
        double togetherRows = 0;
        double aloneRows = 0;
        RunOptions whole = options; // what arrives while it runs counts as if it were there
        whole.liveTokens.reset();
        for (Prompt prompt : prompts) {
            prompt.ids.resize(prompt.ids.size() + options.liveTokens.value_or(0));
            for (Lane lane(prompt, whole, {}, 0); !lane.done();) {
                const std::size_t rows = lane.nextIds().size();
                (rows > 1 || options.batch > 1 ? togetherRows : aloneRows) +=
                    static_cast<double>(rows);
                lane.advance(lane.generatesNext() ? 0 : -1, {});
            }
        }
        return multiplications(checkpoint.plan) * (together * togetherRows + alone * aloneRows);
    });
}

} // namespace moire::capture
