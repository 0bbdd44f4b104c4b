// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/json.h"

#include "core/report/first_kinds.h"
#include "core/report/json_measure.h"
#include "core/report/json_value.h"
#include "core/report/number.h"

namespace moire::report {

namespace {

Json runObject(const diff::RunSummary& run)
{
    return {{"file", stringOf(run.file)}, {"complete", run.complete},
            {"samples", run.samples},     {"rows", run.rows},
            {"taps", run.taps},           {"environment", environmentObject(run.environment)}};
}

Json differences(const std::vector<diff::EnvironmentDifference>& list)
{
    Json out = Json::array();
    for (const auto& difference : list)
        out.push_back({{"key", stringOf(difference.key)},
                       {"reference", stringOf(difference.reference)},
                       {"target", stringOf(difference.target)}});
    return out;
}

Json strings(const std::vector<std::string>& list)
{
    Json out = Json::array();
    for (const std::string& text : list)
        out.push_back(stringOf(text));
    return out;
}

Json alignmentObject(const diff::AlignmentSummary& alignment)
{
    Json out;
    out["samples"] = alignment.samples;
    out["rows"] = alignment.rows;
    out["taps"] = alignment.taps;
    out["samples_only_reference"] = strings(alignment.samplesOnlyReference);
    out["samples_only_target"] = strings(alignment.samplesOnlyTarget);
    out["rows_only_reference"] = alignment.rowsOnlyReference;
    out["rows_only_target"] = alignment.rowsOnlyTarget;
    out["rows_not_comparable_reference"] = alignment.rowsNotComparableReference;
    out["rows_not_comparable_target"] = alignment.rowsNotComparableTarget;
    out["taps_only_reference"] = strings(alignment.tapsOnlyReference);
    out["taps_only_target"] = strings(alignment.tapsOnlyTarget);
    out["routers_only_reference"] = strings(alignment.routersOnlyReference);
    out["routers_only_target"] = strings(alignment.routersOnlyTarget);
    out["tokens_only_reference"] = alignment.tokensOnlyReference;
    out["tokens_only_target"] = alignment.tokensOnlyTarget;
    out["incomplete_reference"] = alignment.incompleteReference;
    out["incomplete_target"] = alignment.incompleteTarget;
    // 0 of an incomplete capture means that nobody knows how many rows it lacks.
    const auto missing = [](bool incomplete, std::uint64_t rows) {
        return incomplete && rows == 0 ? Json(nullptr) : Json(rows);
    };
    out["missing_reference"] = missing(alignment.incompleteReference, alignment.missingReference);
    out["missing_target"] = missing(alignment.incompleteTarget, alignment.missingTarget);
    out["tokenised_differently"] = alignment.tokenisedDifferently;
    out["remarks"] = strings(alignment.remarks);
    return out;
}

Json side(const std::optional<double>& value, const std::optional<std::uint64_t>& bits,
          numeric::DType dtype)
{
    const bool wide = bits && dtype == numeric::DType::I64; // doubles round it
    const Json exact = wide ? Json(static_cast<std::int64_t>(*bits)) : Json();
    return {{"value", wide    ? exact
                      : value ? numberOf(*value)
                              : Json()},
            {"bits", bits ? Json(bitsText(*bits, dtype)) : Json()}};
}

template <class Number>
Json orNull(const std::optional<Number>& number)
{
    return number ? Json(*number) : Json();
}

Json divergenceObject(const diff::Divergence& d)
{
    Json out{{"sample", stringOf(d.sample)},
             {"row", d.row},
             {"target_row", d.targetRow},
             {"position", d.position},
             {"phase", trace::nameOf(d.phase)},
             {"tap", stringOf(d.tap)},
             {"layer", d.layer < 0 ? Json() : Json(d.layer)},
             {"element", orNull(d.element)},
             {"reference", side(d.referenceValue, d.referenceBits, d.referenceType)},
             {"target", side(d.targetValue, d.targetBits, d.targetType)},
             {"ulps", orNull(d.ulps)},
             {"origin", diff::nameOf(d.origin)},
             {"amplification", d.amplification ? numberOf(*d.amplification) : Json()}};
    if (!d.flipClass.empty())
        out["flip_class"] = stringOf(d.flipClass);
    if (!d.note.empty())
        out["note"] = stringOf(d.note);
    return out;
}

/// Null where nothing differs or no rule had anything to say.
Json causeObject(const diff::Report& report)
{
    if (report.cause.empty() && report.causeFindings.empty())
        return {};
    Json findings = Json::array();
    for (const diff::CauseFinding& finding : report.causeFindings)
        findings.push_back({{"rule", stringOf(finding.rule)},
                            {"sentence", stringOf(finding.sentence)},
                            {"evidence", strings(finding.evidence)}});
    return {{"sentence", stringOf(report.cause)}, {"findings", findings}};
}

/// Null without a profile and without criteria.
Json toleranceObject(const diff::Report& report)
{
    if (!hasTolerance(report))
        return {};
    Json criteria = Json::array();
    for (const diff::CriterionOutcome& outcome : report.tolerance)
        criteria.push_back({{"pattern", stringOf(outcome.pattern)},
                            {"criterion", stringOf(outcome.criterion)},
                            {"checked", outcome.checked},
                            {"failed", outcome.failed},
                            {"undecided", outcome.undecided},
                            {"worst", outcome.worst ? numberOf(*outcome.worst) : Json()},
                            {"at", stringOf(outcome.at)}});
    return {{"profile", stringOf(report.toleranceProfile)}, {"criteria", criteria}};
}

Json firstObject(const diff::FirstDivergences& first)
{
    Json out;
    for (const FirstKind& kind : firstKinds) {
        const auto& divergence = first.*kind.member;
        out[std::string(kind.key)] = divergence ? divergenceObject(*divergence) : Json();
    }
    return out;
}

Json measuresObject(const std::vector<diff::Measure>& measures)
{
    Json out = Json::object();
    for (const diff::Measure& measure : measures)
        out[stringOf(measure.id)] = measureObject(measure);
    return out;
}

Json tapsArray(const std::vector<diff::TapReport>& taps)
{
    Json out = Json::array();
    for (const diff::TapReport& tap : taps)
        out.push_back({{"name", stringOf(tap.name)},
                       {"rows", tap.rows},
                       {"elements", tap.elements},
                       {"measures", measuresObject(tap.measures)}});
    return out;
}

Json blocksArray(const std::vector<diff::TokenBlock>& blocks)
{
    Json out = Json::array();
    for (const diff::TokenBlock& block : blocks)
        out.push_back({{"reference_begin", block.referenceBegin},
                       {"target_begin", block.targetBegin},
                       {"reference_length", block.referenceLength},
                       {"target_length", block.targetLength}});
    return out;
}

Json samplesArray(const std::vector<diff::SampleReport>& samples)
{
    Json out = Json::array();
    for (const diff::SampleReport& sample : samples)
        out.push_back({{"id", stringOf(sample.id)},
                       {"repeat", sample.repeat},
                       {"category", stringOf(sample.category)},
                       {"rows", sample.rowsCompared},
                       {"first_bitwise", orNull(sample.firstBitwise)},
                       {"first_argmax", orNull(sample.firstArgmax)},
                       {"split", orNull(sample.split)},
                       {"not_comparable", sample.notComparable},
                       {"blocks", blocksArray(sample.blocks)},
                       {"measures", measuresObject(sample.measures)}});
    return out;
}

} // namespace

std::string jsonText(const diff::Report& report)
{
    Json out;
    out["schema"] = jsonSchema;
    out["verdict"] = stringOf(report.verdict);
    out["exit"] = report.exit;
    out["cause"] = causeObject(report);
    out["reference"] = runObject(report.reference);
    out["target"] = runObject(report.target);
    out["environment_differences"] = differences(report.environmentDifferences);
    out["alignment"] = alignmentObject(report.alignment);
    out["first"] = firstObject(report.first);
    out["tolerance"] = toleranceObject(report);
    out["measures"] = measuresObject(report.measures);
    out["taps"] = tapsArray(report.taps);
    out["samples"] = samplesArray(report.samples);
    return printed(out);
}

} // namespace moire::report
