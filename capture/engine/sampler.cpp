// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/sampler.h"

#include "core/numeric/counter_random.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace moire::capture {

namespace {

std::string shortest(double value)
{
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

struct Candidate
{
    double weight; ///< first the logit, then its probability over the likeliest one's
    std::int32_t id;
};

/// The likeliest first; NaN left out.
std::vector<Candidate> ordered(std::span<const float> logits)
{
    std::vector<Candidate> all;
    all.reserve(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i)
        if (!std::isnan(logits[i]))
            all.push_back({logits[i], static_cast<std::int32_t>(i)});
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
    });
    return all;
}

/// Turns logits into weights, the largest 1.
void exponentiate(std::vector<Candidate>& candidates, double temperature)
{
    const double largest = candidates.front().weight;
    for (Candidate& candidate : candidates) // ∞ − ∞ would be no number
        candidate.weight =
            candidate.weight == largest ? 1 : std::exp((candidate.weight - largest) / temperature);
}

void keepTopK(std::vector<Candidate>& candidates, std::uint32_t count)
{
    if (count == 0 || count >= candidates.size())
        return;
    const double last = candidates[count - 1].weight;
    std::erase_if(candidates, [&](const Candidate& c) { return c.weight < last; });
}

double sumOf(const std::vector<Candidate>& candidates)
{
    double sum = 0;
    for (const Candidate& candidate : candidates)
        sum += candidate.weight;
    return sum;
}

void keepTopP(std::vector<Candidate>& candidates, double share)
{
    if (share >= 1)
        return;
    const double wanted = share * sumOf(candidates);
    double sum = 0;
    std::size_t kept = 0;
    while (kept < candidates.size() && (kept == 0 || sum < wanted))
        sum += candidates[kept++].weight;
    candidates.resize(kept);
}

} // namespace

std::string Sampling::text() const
{
    if (greedy())
        return "greedy";
    std::string out = "temperature " + shortest(temperature);
    if (topK > 0)
        out += ", top-k " + std::to_string(topK);
    if (topP < 1)
        out += ", top-p " + shortest(topP);
    if (minP > 0)
        out += ", min-p " + shortest(minP);
    return out;
}

Result<void> Sampling::check() const
{
    const auto invalid = [](const char* sentence, const char* hint) {
        return Error{Errc::Invalid, sentence, {}, hint};
    };
    constexpr auto range = "Give a number above 0 and at most 1";
    if (!(temperature >= 0) || std::isinf(temperature))
        return invalid("the temperature is negative or no number", "Give 0 for greedy, or more");
    if (!(topP > 0 && topP <= 1))
        return invalid("--top-p is out of range", range);
    if (!(minP >= 0 && minP <= 1))
        return invalid("--min-p is out of range", range);
    if (greedy() && (topK > 0 || topP < 1 || minP > 0))
        return invalid("--sample-top-k, --top-p and --min-p are about sampling",
                       "Give a --temperature above 0 with them, or leave them out");
    return {};
}

double uniformOf(const Draw& draw)
{
    const numeric::PhiloxBlock words = numeric::philox(
        {draw.position, 0, draw.sample, 0},
        {static_cast<std::uint32_t>(draw.seed), static_cast<std::uint32_t>(draw.seed >> 32U)});
    constexpr double scale = 0x1p-53;
    const std::uint64_t bits = std::uint64_t{words[0] >> 5U} << 26U | words[1] >> 6U;
    return static_cast<double>(bits) * scale;
}

std::int32_t sampleToken(std::span<const float> logits, const Sampling& sampling, const Draw& draw)
{
    assert(!sampling.greedy());
    std::vector<Candidate> candidates = ordered(logits);
    if (candidates.empty())
        return 0;
    keepTopK(candidates, sampling.topK);
    exponentiate(candidates, sampling.temperature);
    keepTopP(candidates, sampling.topP);
    std::erase_if(candidates, [&](const Candidate& c) { return c.weight < sampling.minP; });
    const double bound = uniformOf(draw) * sumOf(candidates);
    double sum = 0;
    for (const Candidate& candidate : candidates) {
        sum += candidate.weight;
        if (sum > bound)
            return candidate.id;
    }
    return candidates.back().id; // the bound rounded up to the whole
}

} // namespace moire::capture
