// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/diff/report.h"
#include "core/trace/run.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What one looks at closely: a site, a logits row, a MoE layer at a row. Read on demand from the
/// runs, for `moire-diff show` and the window's inspector and tabs.
namespace moire::diff {

/// A place in a capture as people write it: sample/position/tap[/element]. The sample is named as
/// sampleName() has it. Sample ids may hold slashes: the tap is what stands after the last
/// "/<number>/".
struct SiteName
{
    std::string sample;
    std::uint32_t position = 0;
    std::string tap;
    std::optional<std::uint32_t> element;
};
Result<SiteName> parseSite(std::string_view text);
std::string textOf(const SiteName& site);
/// A sample in a sentence, escaped: "sample fact", and "sample 3" also where that is the id itself.
std::string sampleWords(std::string_view id);

struct ElementPair
{
    std::uint32_t element = 0;
    std::uint64_t referenceBits = 0, targetBits = 0;
    double referenceValue = 0, targetValue = 0;
    double difference = 0; ///< target − reference; NaN where that is none
    std::optional<std::uint64_t> ulps;
    bool chosen = true; ///< false: of an expert that the target did not choose, which has no value
};

struct SiteDetail
{
    Site site;
    numeric::DType referenceType{}, targetType{};
    Origin origin = Origin::Unknown;
    std::optional<double> amplification; ///< relative L2 over the largest of its inputs
    std::vector<ElementPair> worst;      ///< up to `worstCount`, worst first
    std::vector<std::pair<std::int64_t, std::uint64_t>>
        ulpHistogram; ///< signed ulps (−16 … 16, ends collect) → count
    std::vector<std::vector<std::uint64_t>> classMatrix;
    std::vector<std::pair<float, float>>
        scatter; ///< up to 512 evenly chosen (reference, target) values
};
Result<SiteDetail> inspectSite(const trace::Run& reference, const trace::Run& target,
                               const Report& report, std::size_t rowPair, std::size_t tapPair,
                               std::size_t worstCount);

struct RankedPair
{
    std::int32_t id = -1;
    double referenceLogit = 0, targetLogit = 0;       ///< NaN where not recorded
    std::int32_t referenceRank = -1, targetRank = -1; ///< −1: not in that side's table
};

struct LogitsDetail
{
    LogitsRow row;
    std::vector<RankedPair>
        ladder; ///< union of both top-`count` lists, by reference rank, then target rank
    double referenceEntropy = 0, targetEntropy = 0; ///< nats; NaN without the full vocabulary
    std::optional<std::uint64_t> referenceMarginUlps, targetMarginUlps;
    std::int32_t nextReference = -1, nextTarget = -1; ///< the tokens that follow
};
Result<LogitsDetail> inspectLogits(const trace::Run& reference, const trace::Run& target,
                                   const Report& report, std::size_t rowPair, std::size_t count);

struct ExpertPair
{
    std::int32_t expert = -1;
    double referenceLogit = 0, targetLogit = 0;
    double referenceWeight = 0, targetWeight = 0; ///< 0 where not chosen
    std::int32_t referenceSlot = -1, targetSlot = -1;
};
struct RoutingDetail
{
    RouteCell cell;
    std::vector<ExpertPair> experts; ///< all E, by reference logit descending
};
Result<RoutingDetail> inspectRouting(const trace::Run& reference, const trace::Run& target,
                                     const Report& report, std::size_t rowPair,
                                     std::size_t routerPair);

} // namespace moire::diff
