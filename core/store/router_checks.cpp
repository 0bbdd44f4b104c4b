// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/router_checks.h"

#include "core/numeric/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace moire::store {

namespace {

constexpr double roundedLogit = 0x1p-7; ///< of a logit: a last place of bf16
constexpr double roundedShare = 0.05;   ///< of the weights' sum

std::vector<double> numbersOf(const std::byte* line, numeric::DType dtype, std::size_t count)
{
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
        numbers[i] = numeric::toDouble(numeric::bitsAt(line, dtype, i), dtype);
    return numbers;
}

std::vector<std::int32_t> idsOf(const std::byte* line, std::size_t count)
{
    std::vector<std::int32_t> ids(count);
    if (count > 0) // a damaged file may say that no expert was chosen; there are no bytes then
        std::memcpy(ids.data(), line, count * sizeof(std::int32_t));
    return ids;
}

bool allFinite(const std::vector<double>& numbers)
{
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

/// Whether an expert that was left out has a clearly larger logit than a chosen one.
bool leftOutBetter(const std::vector<double>& logits, const std::vector<std::int32_t>& ids)
{
    double worst = std::numeric_limits<double>::infinity();
    std::vector<bool> chosen(logits.size());
    for (const std::int32_t id : ids) {
        chosen[static_cast<std::size_t>(id)] = true;
        worst = std::min(worst, logits[static_cast<std::size_t>(id)]);
    }
    for (std::size_t e = 0; e < logits.size(); ++e)
        if (!chosen[e] && logits[e] - worst > roundedLogit * std::max(1.0, std::fabs(logits[e])))
            return true;
    return false;
}

/// Whether the weights are as `of(logit)` is, up to a common factor.
bool isProportional(const std::vector<double>& weights, const std::vector<double>& logits,
                    const std::vector<std::int32_t>& ids, const std::function<double(double)>& of)
{
    double weightSum = 0;
    double expectedSum = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        weightSum += weights[i];
        expectedSum += of(logits[static_cast<std::size_t>(ids[i])]);
    }
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (!(std::fabs(weights[i] / weightSum
                        - of(logits[static_cast<std::size_t>(ids[i])]) / expectedSum)
              <= roundedShare))
            return false;
    return true;
}

bool followFrom(const std::vector<double>& weights, const std::vector<double>& logits,
                const std::vector<std::int32_t>& ids)
{
    const double largest = *std::max_element(logits.begin(), logits.end());
    return isProportional(weights, logits, ids,
                          [largest](double logit) { return std::exp(logit - largest); })
           || isProportional(weights, logits, ids,
                             [](double logit) { return 1 / (1 + std::exp(-logit)); });
}

} // namespace

std::vector<std::string> routerFaults(const trace::RouterLayer& router, const RouterLines& lines)
{
    std::vector<std::string> faults;
    std::vector<std::int32_t> ids = idsOf(lines.ids, router.chosen);
    const auto padding = std::find(ids.begin(), ids.end(), -1);
    if (std::any_of(padding, ids.end(), [](std::int32_t id) { return id != -1; }))
        faults.push_back("an expert stands behind the padding");
    ids.erase(padding, ids.end());
    if (std::any_of(ids.begin(), ids.end(), [&](std::int32_t id) {
            return id < 0 || static_cast<std::uint32_t>(id) >= router.experts;
        }))
        return faults; // said elsewhere
    std::vector<std::int32_t> sorted = ids;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        faults.push_back("an expert is chosen twice");
    const auto logits = numbersOf(lines.logits, router.logitType, router.experts);
    const auto weights = numbersOf(lines.weights, router.weightType, ids.size());
    if (ids.empty() || lines.scores != nullptr || !allFinite(logits) || !allFinite(weights))
        return faults;
    if (leftOutBetter(logits, ids))
        faults.push_back("an expert with a larger logit was left out");
    if (!followFrom(weights, logits, ids))
        faults.push_back("the weights do not follow from the logits");
    return faults;
}

} // namespace moire::store
