// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/study.h"

#include <array>

namespace moire::diff {

namespace {

constexpr std::array<PaperName, 14> names{{{"equal_bits_pct", "A1"},
                                           {"raw_logit_mse", "B1"},
                                           {"prob_mse", "C7"},
                                           {"forward_kl", "C1"},
                                           {"top1", "E1"},
                                           {"ord5", "E2"},
                                           {"set5", "E3"},
                                           {"router_set_equal_pct", "H1"},
                                           {"router_positions_all_layers_equal_pct", "H2"},
                                           {"router_logit_mse", "H6"},
                                           {"rollout_equal_pct", "G1"},
                                           {"rollout_median_first_divergence", "G2"},
                                           {"accuracy", "J1"},
                                           {"answer_agreement", "J2"}}};

} // namespace

std::span<const PaperName> paperNames()
{
    return names;
}

} // namespace moire::diff
