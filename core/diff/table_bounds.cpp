// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/table_bounds.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace moire::diff {

namespace {

/// What is left of 1, or of a rest, after taking probabilities away may be off by so much of it.
constexpr double rounding = 1e-15;

struct Listed
{
    std::int32_t id;
    double logit;
    double probability;
    bool best; ///< in the table itself, not only asked for
};

/// One side's table.
struct Side
{
    std::vector<Listed> listed; ///< by id
    double lastLogit = 0;       ///< no token outside has a larger logit,
    double last = 0;            ///< nor a larger probability
    double rest = 0;            ///< probability of all others together
    std::uint32_t vocabulary = 0;

    const Listed* find(std::int32_t id) const
    {
        const auto at = std::lower_bound(listed.begin(), listed.end(), id,
                                         [](const Listed& l, std::int32_t i) { return l.id < i; });
        return at != listed.end() && at->id == id ? &*at : nullptr;
    }
};

std::optional<Side> sideOf(const trace::TopKView& table, const trace::LogitsInfo& info)
{
    Side side;
    side.vocabulary = info.vocabulary;
    side.rest = std::max(0.0, table.remainingMass);
    const auto add = [&](std::int32_t id, float value, bool best) {
        const double logit = static_cast<double>(value);
        side.listed.push_back({id, logit, std::exp(logit - table.logSumExp), best});
        return std::isfinite(logit);
    };
    bool finite = std::isfinite(table.logSumExp) && std::isfinite(table.remainingMass);
    for (std::size_t i = 0; i < table.ids.size() && table.ids[i] >= 0; ++i)
        finite = add(table.ids[i], table.values[i], true) && finite;
    if (!finite || side.listed.empty())
        return std::nullopt;
    side.lastLogit = side.listed.back().logit;
    side.last = side.listed.back().probability;
    std::sort(side.listed.begin(), side.listed.end(),
              [](const Listed& a, const Listed& b) { return a.id < b.id; });
    for (std::size_t i = 0; i < table.askedIds.size(); ++i) {
        const std::int32_t id = table.askedIds[i];
        if (id < 0 || side.find(id) != nullptr || !std::isfinite(table.askedValues[i]))
            continue;
        add(id, table.askedValues[i], false);
        side.rest =
            std::max(0.0, side.rest - side.listed.back().probability) + rounding * side.rest;
        std::sort(side.listed.begin(), side.listed.end(),
                  [](const Listed& a, const Listed& b) { return a.id < b.id; });
    }
    return side;
}

struct Both
{
    double p, q;
    double d;
    double logit; ///< the reference's
};

/// A row's tokens by who lists them.
struct Row
{
    std::vector<Both> both;
    std::vector<Listed> onlyReference, onlyTarget;
    double referenceLast = 0, targetLast = 0; ///< the most that a token outside can have
    double referenceLastLogit = 0, targetLastLogit = 0;
    double referenceRest = 0, targetRest = 0;
    double nowhere = 0; ///< tokens that neither side lists
};

Row meet(const Side& reference, const Side& target)
{
    Row row;
    for (const Listed& token : reference.listed) {
        if (const Listed* other = target.find(token.id))
            row.both.push_back(
                {token.probability, other->probability, other->logit - token.logit, token.logit});
        else
            row.onlyReference.push_back(token);
    }
    for (const Listed& token : target.listed)
        if (reference.find(token.id) == nullptr)
            row.onlyTarget.push_back(token);
    row.referenceLast = std::min(reference.last, reference.rest + rounding);
    row.targetLast = std::min(target.last, target.rest + rounding);
    row.referenceLastLogit = reference.lastLogit;
    row.targetLastLogit = target.lastLogit;
    row.referenceRest = reference.rest;
    row.targetRest = target.rest;
    const std::size_t listed = row.both.size() + row.onlyReference.size() + row.onlyTarget.size();
    const std::uint32_t vocabulary = std::max(reference.vocabulary, target.vocabulary);
    row.nowhere = vocabulary > listed ? static_cast<double>(vocabulary - listed) : 0;
    return row;
}

/// A divergence Σ j(p, q) with j convex and homogeneous of degree 1, j(x, x) = 0 ≤ j. Its tangent
/// where p = ρq is αp + βq ≤ j.
struct ForwardKl
{
    static double term(double p, double q)
    {
        if (p == 0)
            return q;
        const double x = std::log(q / p);
        constexpr double small = 1e-2;
        if (std::fabs(x) < small) // expm1(x) − x would cancel
            return p * (x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))));
        return p * (std::expm1(x) - x);
    }
    static double alpha(double ratio) { return std::log(ratio); }
    static double beta(double ratio) { return 1 - ratio; }
};
struct ReverseKl
{
    static double term(double p, double q) { return ForwardKl::term(q, p); }
    static double alpha(double ratio) { return 1 - 1 / ratio; }
    static double beta(double ratio) { return -std::log(ratio); }
};
struct JensenShannon
{
    static double term(double p, double q)
    {
        if (p + q == 0)
            return 0;
        const double u = (p - q) / (p + q);
        constexpr double small = 1e-3;
        if (std::fabs(u) < small)
            return (p + q) / 4 * (u * u * (1 + u * u / 6));
        const auto side = [](double x) { return x <= -1 ? 0 : (1 + x) * std::log1p(x); };
        return (p + q) / 4 * (side(u) + side(-u));
    }
    static double alpha(double ratio) { return std::log(2 * ratio / (1 + ratio)) / 2; }
    static double beta(double ratio) { return std::log(2 / (1 + ratio)) / 2; }
};
struct SquaredHellinger
{
    static double term(double p, double q)
    {
        const double difference = std::sqrt(p) - std::sqrt(q);
        return difference * difference / 2;
    }
    static double alpha(double ratio) { return (1 - 1 / std::sqrt(ratio)) / 2; }
    static double beta(double ratio) { return (1 - std::sqrt(ratio)) / 2; }
};
struct ChiSquare
{
    static double term(double p, double q)
    {
        if (p == 0)
            return q == 0 ? 0 : std::numeric_limits<double>::infinity();
        return (q - p) * (q - p) / p;
    }
    static double alpha(double ratio) { return 1 - 1 / (ratio * ratio); }
    static double beta(double ratio) { return 2 / ratio - 2; }
};

template <class Form>
double overBoth(const Row& row)
{
    double sum = 0;
    for (const Both& token : row.both)
        sum += Form::term(token.p, token.q);
    return sum;
}

/// The least of Σ j by its dual: for every ρ the tangent bounds what is listed nowhere, and a token
/// of one list the least of j less the tangent over what the other side can have. The ratios tried
/// run towards the one of what is left over.
template <class Form>
double lowest(const Row& row)
{
    double best = 0;
    double ratio =
        row.referenceRest > 0 && row.targetRest > 0 ? row.referenceRest / row.targetRest : 1;
    constexpr int tries = 24; // each moves the tokens that are at their bound; few do
    for (int i = 0; i < tries; ++i) {
        double sum = 0;
        double p = row.referenceRest;
        double q = row.targetRest;
        const double alpha = Form::alpha(ratio);
        const double beta = Form::beta(ratio);
        for (const Listed& token : row.onlyReference) {
            const double other = std::min(token.probability / ratio, row.targetLast);
            sum += Form::term(token.probability, other) - beta * other;
            q -= other;
        }
        for (const Listed& token : row.onlyTarget) {
            const double other = std::min(ratio * token.probability, row.referenceLast);
            sum += Form::term(other, token.probability) - alpha * other;
            p -= other;
        }
        sum += alpha * row.referenceRest + beta * row.targetRest;
        if (std::isfinite(sum))
            best = std::max(best, sum);
        if (!(p > 0) || !(q > 0) || p / q == ratio)
            break;
        ratio = p / q;
    }
    return overBoth<Form>(row) + best;
}

/// What both distributions must have in common outside the tables: when the last entries bound the
/// rest so closely that nearly every token has to have that much.
double commonRest(const Row& row)
{
    if (row.referenceLast <= 0 || row.targetLast <= 0)
        return 0;
    const auto asked = [](const std::vector<Listed>& tokens) {
        return static_cast<double>(
            std::count_if(tokens.begin(), tokens.end(), [](const Listed& t) { return !t.best; }));
    };
    const double places = row.nowhere + asked(row.onlyReference) + asked(row.onlyTarget);
    const double taken = row.referenceRest / row.referenceLast + row.targetRest / row.targetLast;
    return std::min(row.referenceLast, row.targetLast) * std::max(0.0, taken - places);
}

void addVariation(const Row& row, TableBounds& bounds)
{
    double up = 0;   // Σ(p − q)⁺ over what both list
    double down = 0; // and the other way round
    for (const Both& token : row.both) {
        up += std::max(0.0, token.p - token.q);
        down += std::max(0.0, token.q - token.p);
    }
    double ours = 0;
    double coveredOurs = 0; // the most that the other side can have of it
    for (const Listed& token : row.onlyReference) {
        ours += token.probability;
        coveredOurs += std::min(token.probability, row.targetLast);
    }
    double theirs = 0;
    double coveredTheirs = 0;
    for (const Listed& token : row.onlyTarget) {
        theirs += token.probability;
        coveredTheirs += std::min(token.probability, row.referenceLast);
    }
    bounds.totalVariation.low =
        std::max(up + ours - std::min(coveredOurs, row.targetRest),
                 down + theirs - std::min(coveredTheirs, row.referenceRest));
    const double common = commonRest(row);
    const double outside = ours + theirs + row.referenceRest + row.targetRest - 2 * common;
    bounds.totalVariation.high =
        std::min(1.0, std::max(bounds.totalVariation.low, (up + down + outside) / 2));
    // j ≤ |p − q| · j(1, 0) for every convex j of degree 1.
    bounds.jensenShannon.high =
        std::min(std::numbers::ln2, overBoth<JensenShannon>(row) + std::numbers::ln2 * outside / 2);
    bounds.hellinger.high = std::sqrt(std::min(1.0, overBoth<SquaredHellinger>(row) + outside / 2));
}

void addProbabilityChanges(const Row& row, TableBounds& bounds)
{
    Range& squares = bounds.probabilitySquares;
    Range& largest = bounds.probabilityChange;
    squares.high = 0;
    largest.high = 0;
    const auto add = [&](double low, double high) {
        squares.low += low * low;
        squares.high += high * high;
        largest.low = std::max(largest.low, low);
        largest.high = std::max(largest.high, high);
    };
    for (const Both& token : row.both)
        add(std::fabs(token.q - token.p), std::fabs(token.q - token.p));
    for (const Listed& token : row.onlyReference)
        add(std::max(0.0, token.probability - row.targetLast),
            std::max(token.probability, row.targetLast - token.probability));
    for (const Listed& token : row.onlyTarget)
        add(std::max(0.0, token.probability - row.referenceLast),
            std::max(token.probability, row.referenceLast - token.probability));
    if (row.nowhere == 0)
        return;
    const double rest = row.referenceRest + row.targetRest - 2 * commonRest(row);
    squares.high +=
        std::min(std::max(row.referenceLast, row.targetLast) * rest,
                 row.referenceLast * row.referenceRest + row.targetLast * row.targetRest);
    largest.high = std::max({largest.high, row.referenceLast, row.targetLast});
}

/// Entropy of a side: the rest evenly spread at most, in tokens as likely as the last at least.
Range entropyOf(const Side& side)
{
    double known = 0;
    for (const Listed& token : side.listed)
        known -= token.probability > 0 ? token.probability * std::log(token.probability) : 0;
    const double last = side.last > 0 ? std::min(side.last, side.rest) : side.rest;
    const double others =
        static_cast<double>(side.vocabulary) - static_cast<double>(side.listed.size());
    if (!(side.rest > 0) || others < 1)
        return {known, known};
    return {known - side.rest * std::log(last), known - side.rest * std::log(side.rest / others)};
}

void addLogits(const Row& row, TableBounds& bounds)
{
    constexpr double noZero = 1e-8; // of B3
    double weight = 0;
    double mean = 0;
    const auto add = [&](double size, double logit) {
        bounds.squares += size * size;
        bounds.largest = std::max(bounds.largest, size);
        bounds.relative = std::max(bounds.relative, size / (std::fabs(logit) + noZero));
    };
    for (const Both& token : row.both) {
        add(std::fabs(token.d), token.logit);
        weight += token.p;
        mean += token.p * token.d;
    }
    for (const Listed& token : row.onlyReference)
        add(std::max(0.0, token.logit - row.targetLastLogit), token.logit);
    for (const Listed& token : row.onlyTarget) {
        const double size = std::max(0.0, token.logit - row.referenceLastLogit);
        bounds.squares += size * size;
        bounds.largest = std::max(bounds.largest, size);
    }
    if (!(weight > 0))
        return;
    mean /= weight;
    for (const Both& token : row.both)
        bounds.weightedVariance += token.p * (token.d - mean) * (token.d - mean);
}

/// C11 counts tokens with p or q above 1e-6.
double leastLargestLogRatio(const Row& row)
{
    constexpr double counted = 1e-6;
    double largest = 0;
    for (const Both& token : row.both)
        if ((token.p > counted || token.q > counted) && token.p > 0 && token.q > 0)
            largest = std::max(largest, std::fabs(std::log(token.q / token.p)));
    const auto add = [&](const std::vector<Listed>& tokens, double most) {
        for (const Listed& token : tokens)
            if (token.probability > counted && most > 0)
                largest = std::max(largest, std::log(token.probability / most));
    };
    add(row.onlyReference, row.targetLast);
    add(row.onlyTarget, row.referenceLast);
    return largest;
}

void addMasses(const trace::TopKView& reference, const Side& target, TableBounds& bounds)
{
    double known = 0;
    double missing = 0;
    std::size_t size = 0;
    const std::size_t listed = reference.ids.size();
    for (std::size_t i = 0; i < listed && reference.ids[i] >= 0 && size < topKSizes.size(); ++i) {
        const Listed* other = target.find(reference.ids[i]);
        known += other != nullptr ? other->probability : 0;
        missing += other != nullptr ? 0 : 1;
        if (i + 1 == topKSizes[size])
            bounds.targetMass[size++] =
                Range{known, known + std::min(target.rest, missing * target.last)};
    }
}

} // namespace

std::optional<TableBounds> boundsOf(const trace::TopKView& reference,
                                    const trace::LogitsInfo& referenceInfo,
                                    const trace::TopKView& target,
                                    const trace::LogitsInfo& targetInfo)
{
    const auto ours = sideOf(reference, referenceInfo);
    const auto theirs = sideOf(target, targetInfo);
    if (!ours || !theirs)
        return std::nullopt;
    const Row row = meet(*ours, *theirs);
    TableBounds bounds;
    bounds.vocabulary = std::max(ours->vocabulary, theirs->vocabulary);
    bounds.forwardKl.low = lowest<ForwardKl>(row);
    bounds.reverseKl.low = lowest<ReverseKl>(row);
    bounds.chiSquare.low = lowest<ChiSquare>(row);
    addVariation(row, bounds);
    bounds.jensenShannon.low = std::min(lowest<JensenShannon>(row), bounds.jensenShannon.high);
    bounds.hellinger.low =
        std::min(std::sqrt(lowest<SquaredHellinger>(row)), bounds.hellinger.high);
    addProbabilityChanges(row, bounds);
    const Range before = entropyOf(*ours);
    const Range after = entropyOf(*theirs);
    bounds.entropyChange = {after.low - before.high, after.high - before.low};
    addLogits(row, bounds);
    bounds.largestLogRatio.low = leastLargestLogRatio(row);
    const auto end =
        std::find_if(target.ids.begin(), target.ids.end(), [](std::int32_t id) { return id < 0; });
    bounds.rankAtLeast = static_cast<std::uint32_t>(
        std::find(target.ids.begin(), end, reference.ids[0]) - target.ids.begin());
    addMasses(reference, *theirs, bounds);
    return bounds;
}

} // namespace moire::diff
