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
    Metric{"A9", "rows equal in a repeat", "A", "%"},
    Metric{"B1", "mean squared difference", "B", "logit²"},
    Metric{"B2", "largest absolute difference", "B", "logit"},
    Metric{"B3", "largest relative difference", "B", ""},
    Metric{"B4", "relative L2", "B", ""},
    Metric{"B5", "1 − cosine", "B", ""},
    Metric{"B6", "common-mode shift", "B", "logit"},
    Metric{"B7", "centred mean squared difference", "B", "logit²"},
    Metric{"B8", "probability-weighted variance", "B", "nats²"},
    Metric{"B9", "top-2 directional error", "B", "logit"},
    Metric{"B10", "reference-gap loss", "B", "logit²"},
    Metric{"B11", "elements outside allclose", "B", "%"},
    Metric{"B12", "slope of target over reference", "B", ""},
    Metric{"B13", "removable by the head", "B", "%"},
    Metric{"C1", "forward KL", "C", "nats"},
    Metric{"C2", "reverse KL", "C", "nats"},
    Metric{"C3", "Jensen–Shannon", "C", "nats"},
    Metric{"C4", "total variation", "C", "prob"},
    Metric{"C5", "Hellinger distance", "C", ""},
    Metric{"C6", "χ² divergence", "C", ""},
    Metric{"C7", "probability MSE", "C", "prob²"},
    Metric{"C8", "largest probability change", "C", "prob"},
    Metric{"C9", "entropy change", "C", "nats"},
    Metric{"C10", "temperature-like part", "C", ""},
    Metric{"C11", "largest log ratio", "C", "nats"},
    Metric{"C12", "perplexity", "C", ""},
    Metric{"D1", "log-probability change of the token", "D", "nats"},
    Metric{"D2", "log-probability change, summary", "D", "nats"},
    Metric{"D3", "KL estimators", "D", "nats"},
    Metric{"D4", "probability change of the token", "D", "prob"},
    Metric{"D5", "correlation of the token's probabilities", "D", ""},
    Metric{"D6", "ratios beyond 2", "D", "%"},
    Metric{"D7", "largest ratio", "D", ""},
    Metric{"D8", "χ² of the token", "D", ""},
    Metric{"D9", "effective sample size", "D", ""},
    Metric{"D10", "mean importance weight", "D", ""},
    Metric{"D11", "log ratio of the sequence", "D", "nats"},
    Metric{"D12", "difference of ln perplexity", "D", "nats"},
    Metric{"D13", "growth with position", "D", "nats/token"},
    Metric{"D14", "tail index", "D", ""},
    Metric{"E1", "top-1 agreement", "E", "%"},
    Metric{"E2", "top-K order equal", "E", "%"},
    Metric{"E3", "top-K sets equal", "E", "%"},
    Metric{"E4", "top-K overlap", "E", ""},
    Metric{"E5", "top-K sets equal but for ties", "E", "%"},
    Metric{"E6", "rank of the reference's best token", "E", "rank"},
    Metric{"E7", "rank correlation of the best", "E", ""},
    Metric{"E8", "total variation of the best 64", "E", "prob"},
    Metric{"E9", "top-K mass", "E", "prob"},
    Metric{"E10", "both tokens among the best where runs part", "E", "%"},
    Metric{"E11", "overlap of the nucleus", "E", ""},
    Metric{"F1", "margin of the best token", "F", "logit"},
    Metric{"F2", "tokens near the best", "F", "tokens"},
    Metric{"F3", "certified best tokens", "F", "%"},
    Metric{"F4", "flipped best tokens", "F", "rows"},
    Metric{"F5", "margin tells flips", "F", ""},
    Metric{"F6", "flips predicted by margins", "F", "rows"},
    Metric{"F7", "claimed-token margin", "F", "logit"},
    Metric{"F8", "emitted token is the best", "F", "%"},
    Metric{"G1", "responses equal", "G", "%"},
    Metric{"G2", "first differing token", "G", "token"},
    Metric{"G3", "to the second difference", "G", "token"},
    Metric{"G4", "matched prefix fraction", "G", ""},
    Metric{"G5", "length difference", "G", "token"},
    Metric{"G6", "edit distance", "G", ""},
    Metric{"G7", "agreement by position", "G", "%"},
    Metric{"G8", "different outputs", "G", "outputs"},
    Metric{"G9", "spread over configurations", "G", "%"},
    Metric{"G10", "flips per token", "G", "1/token"},
    Metric{"G11", "texts equal", "G", "%"},
    Metric{"H1", "expert sets equal", "H", "%"},
    Metric{"H2", "all layers' expert sets equal", "H", "%"},
    Metric{"H3", "experts replaced", "H", "experts"},
    Metric{"H4", "layers differing per token", "H", "layers"},
    Metric{"H5", "first differing layer", "H", "layer"},
    Metric{"H6", "router logit MSE", "H", "logit²"},
    Metric{"H7", "gate weight distance", "H", ""},
    Metric{"H8", "routing margin", "H", "logit"},
    Metric{"H9", "load shift", "H", ""},
    Metric{"H10", "route-mediated share", "H", "%"},
    Metric{"H11", "forward KL where routes changed", "H", "nats"},
    Metric{"I1", "relative L2 by layer", "I", ""},
    Metric{"I2", "first divergent operation", "I", "layer"},
    Metric{"I3", "growth per layer", "I", "×"},
    Metric{"I4", "injected by the layer", "I", "%"},
    Metric{"I5", "drift of keys and values", "I", ""},
    Metric{"I6", "logit lens flip depth", "I", "layer"},
    Metric{"I7", "one pass against steps", "I", ""},
    Metric{"J1", "task accuracy", "J", "%"},
    Metric{"J2", "answer agreement", "J", "%"},
    Metric{"J3", "answers turned wrong", "J", "samples"},
    Metric{"J4", "McNemar test", "J", "p"},
    Metric{"J5", "answer letter margin", "J", "logit"},
    Metric{"J6", "unparsed answers", "J", "samples"},
    Metric{"J7", "Cohen's κ", "J", ""},
    Metric{"K1", "runtime multiple", "K", "×"},
    Metric{"K2", "error reduction", "K", "%"},
    Metric{"K3", "gain retained", "K", "%"},
    Metric{"K4", "measures that disagree", "K", "pairs"},
    Metric{"K5", "gain for cost", "K", "%"},
    Metric{"L1", "bootstrap over samples", "L", "resamples"},
    Metric{"L2", "paired bootstrap", "L", "resamples"},
    Metric{"L3", "log ratio to the noise floor", "L", "ln"},
    Metric{"L4", "permutation test", "L", "p"},
    Metric{"L5", "rate that was not seen", "L", "%"},
    Metric{"L6", "variance between configurations", "L", "%"},
    Metric{"L7", "change point", "L", "position"},
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
