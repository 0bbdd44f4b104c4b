// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/engine/parallel_plan.h"
#include "capture/engine/policy.h"
#include "capture/model/model_plan.h"
#include "core/base/result.h"
#include "core/trace/records.h"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace moire::capture {

/// The places of a decoder whose values can be recorded; each is one tap a layer, or one a model.
enum class Site : std::uint8_t
{
    Embedding,
    Positions,    ///< learned ones
    EmbeddingSum, ///< with them
    RotaryCos,
    RotarySin,
    InputNorm,
    QkvProj,
    QProj,
    KProj,
    VProj,
    QNorm,
    KNorm,
    QRope,
    KRope,
    OProjIn,
    OProj,
    Attention,
    PostNorm,
    GateProj,
    ActFn,
    UpProj,
    DownProjIn,
    DownProj,
    Router,
    ExpertGateUpSlots,
    ExpertDownSlots,
    Experts,
    SharedGateProj,
    SharedActFn,
    SharedUpProj,
    SharedDownProjIn,
    SharedDownProj,
    SharedExpert,
    SharedExpertGate,
    Mlp,
    MlpNorm, ///< of the families that have their norms behind the blocks
    Layer,
    FinalNorm,
    Head,
};
/// The sites of one MLP.
struct MlpSites
{
    Site gate, activation, up, downIn, down, out;
};
inline constexpr MlpSites denseSites{Site::GateProj,   Site::ActFn,    Site::UpProj,
                                     Site::DownProjIn, Site::DownProj, Site::Mlp};
inline constexpr MlpSites sharedSites{Site::SharedGateProj, Site::SharedActFn,
                                      Site::SharedUpProj,   Site::SharedDownProjIn,
                                      Site::SharedDownProj, Site::SharedExpert};

inline constexpr std::size_t siteCount = static_cast<std::size_t>(Site::Head) + 1;

/// The taps of a model in execution order, and where each site's tap stands among them. Names and
/// values are those of the modules of transformers 5.24, besides our own `…rope.out` and `….slots`.
class TapPlan
{
public:
    /// Every tap of the model, with several ranks also the partial product of each at every
    /// row-parallel site: `….o_proj.partial.RANK`, `….experts.down.partial.RANK.slots`.
    static TapPlan of(const ModelPlan& plan, const Policy& policy,
                      const ParallelPlan& parallel = {});

    /// Those that match at least one pattern (base::globMatches), in the same order; a partial
    /// product only a pattern that says "partial". Inputs are renumbered, those not chosen dropped.
    /// Errors: Invalid names a pattern that matches nothing.
    Result<TapPlan> select(std::span<const std::string> patterns) const;

    const std::vector<trace::Tap>& taps() const { return m_taps; }
    const std::vector<trace::RouterLayer>& routers() const { return m_routers; }
    /// `layer` −1 for the sites outside the layers. Nothing when the tap does not exist or is not
    /// chosen.
    std::optional<trace::TapIndex> find(Site site, std::int32_t layer) const;
    /// The partial products of a site in rank order; empty where it has none or none is chosen.
    std::span<const std::optional<trace::TapIndex>> partialsOf(Site site, std::int32_t layer) const;

private:
    class Maker;
    using Places = std::array<std::optional<trace::TapIndex>, siteCount>;
    using Partials =
        std::map<std::pair<Site, std::int32_t>, std::vector<std::optional<trace::TapIndex>>>;
    std::vector<trace::Tap> m_taps;
    std::vector<trace::RouterLayer> m_routers;
    std::vector<Places> m_places; ///< entry 0 outside the layers, then one a layer
    Partials m_partials;          ///< of the sites that have any
};

} // namespace moire::capture
