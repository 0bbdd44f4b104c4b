// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/flip_class.h"

namespace moire::diff {

FlipClass flipClassOf(const LogitsRecord& logits, std::optional<double> nearTieBound)
{
    if (logits.topNotFinite || !logits.flipGap)
        return FlipClass::DefectSuspect;
    if (*logits.flipGap == 0)
        return FlipClass::ExactTie;
    if (logits.flipGapUlps && *logits.flipGapUlps <= fewUlps)
        return FlipClass::FewUlps;
    if (nearTieBound && *logits.flipGap <= *nearTieBound)
        return FlipClass::NearTie;
    return *logits.flipGap <= moderateNats ? FlipClass::Moderate : FlipClass::DefectSuspect;
}

std::string_view nameOf(FlipClass flip)
{
    switch (flip) {
    case FlipClass::ExactTie:
        return "exact tie";
    case FlipClass::FewUlps:
        return "up to 2 ulp";
    case FlipClass::NearTie:
        return "near tie";
    case FlipClass::Moderate:
        return "moderate";
    case FlipClass::DefectSuspect:
        break;
    }
    return "defect suspect";
}

} // namespace moire::diff
