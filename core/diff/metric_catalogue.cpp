// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/metric_catalogue.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace moire::diff {

namespace {

constexpr std::array metrics{
    Metric{"A1", "equal bits", "A", "%"},
    Metric{"A2", "equal bits after rounding to bf16", "A", "%"},
    Metric{"A3", "unequal elements", "A", "ppm"},
    Metric{"A4", "ULP distance, largest", "A", "ulp"},
    Metric{"A5", "exponent mismatch", "A", "%"},
    Metric{"A6", "rows with equal digests", "A", "%"},
    Metric{"A7", "elements of another value class", "A", "elements"},
    Metric{"A8", "first unequal tensor", "A", "position"},
    Metric{"B1", "mean squared difference", "B", "logit²"},
    Metric{"B2", "largest absolute difference", "B", "logit"},
    Metric{"B3", "largest relative difference", "B", ""},
    Metric{"B4", "relative L2", "B", ""},
    Metric{"B5", "1 − cosine", "B", ""},
    Metric{"B6", "common-mode shift", "B", "logit"},
    Metric{"B7", "centred mean squared difference", "B", "logit²"},
    Metric{"B8", "probability-weighted variance", "B", "nats²"},
    Metric{"B9", "top-2 directional error", "B", "logit"},
    Metric{"C1", "forward KL", "C", "nats"},
    Metric{"C2", "reverse KL", "C", "nats"},
    Metric{"C4", "total variation", "C", "prob"},
    Metric{"C7", "probability MSE", "C", "prob²"},
    Metric{"C8", "largest probability change", "C", "prob"},
    Metric{"C9", "entropy change", "C", "nats"},
    Metric{"D1", "log-probability change of the token", "D", "nats"},
    Metric{"D2", "log-probability change, summary", "D", "nats"},
    Metric{"D4", "probability change of the token", "D", "prob"},
    Metric{"E1", "top-1 agreement", "E", "%"},
    Metric{"E2", "top-K order equal", "E", "%"},
    Metric{"E3", "top-K sets equal", "E", "%"},
    Metric{"E4", "top-K overlap", "E", ""},
    Metric{"E6", "rank of the reference's best token", "E", "rank"},
    Metric{"E9", "top-K mass", "E", "prob"},
    Metric{"F1", "margin of the best token", "F", "logit"},
    Metric{"F4", "flipped best tokens", "F", "rows"},
    Metric{"F7", "claimed-token margin", "F", "logit"},
    Metric{"F8", "emitted token is the best", "F", "%"},
    Metric{"G1", "responses equal", "G", "%"},
    Metric{"G2", "first differing token", "G", "token"},
    Metric{"G4", "matched prefix fraction", "G", ""},
    Metric{"G5", "length difference", "G", "token"},
    Metric{"G7", "agreement by position", "G", "%"},
    Metric{"H1", "expert sets equal", "H", "%"},
    Metric{"H2", "all layers' expert sets equal", "H", "%"},
    Metric{"H3", "experts replaced", "H", "experts"},
    Metric{"H4", "layers differing per token", "H", "layers"},
    Metric{"H5", "first differing layer", "H", "layer"},
    Metric{"H6", "router logit MSE", "H", "logit²"},
    Metric{"H7", "gate weight distance", "H", ""},
    Metric{"H8", "routing margin", "H", "logit"},
    Metric{"H9", "load shift", "H", ""},
    Metric{"I1", "relative L2 by layer", "I", ""},
    Metric{"I2", "first divergent operation", "I", "layer"},
    Metric{"I3", "growth per layer", "I", "×"},
    Metric{"J1", "task accuracy", "J", "%"},
    Metric{"J2", "answer agreement", "J", "%"},
    Metric{"J3", "answers turned wrong", "J", "samples"},
    Metric{"K1", "runtime multiple", "K", "×"},
};

} // namespace

std::span<const Metric> metricCatalogue()
{
    return metrics;
}

const Metric& metricOf(std::string_view id)
{
    const std::string_view bare = id.substr(0, id.find('['));
    const auto at = std::find_if(metrics.begin(), metrics.end(),
                                 [bare](const Metric& metric) { return metric.id == bare; });
    assert(at != metrics.end());
    return *at;
}

} // namespace moire::diff
