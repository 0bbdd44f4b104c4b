// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/cause.h"

#include "core/base/text.h"
#include "core/diff/cause_evidence.h"
#include "core/diff/noise_floor.h"
#include "core/diff/tolerance_check.h"
#include "core/diff/weight_fields.h"

#include <algorithm>
#include <array>

namespace moire::diff {

namespace {

namespace env = trace::env;

/// Routing explains a difference when its rows carry at least this share of the error, and each
/// of them this many times what one of the others does.
constexpr double mostOfTheError = 0.5;
constexpr double timesTheOthers = 2;

std::string both(const std::string& reference, const std::string& target)
{
    return (reference.empty() ? "unknown" : reference) + " in the reference, "
           + (target.empty() ? "unknown" : target) + " in the target";
}

class CauseFinder
{
public:
    CauseFinder(const FoldView& view, const Report& report)
        : m_view(view)
        , m_report(report)
        , m_first(report.first.bitwise)
    {}

    /// The findings in the order of the rules.
    std::vector<CauseFinding> findings()
    {
        inputs();
        if (m_first) {
            construction();
            introduced();
            tensorParallel();
            precision();
            routing();
            accumulation();
            noise();
        } else {
            selection();
        }
        if (!m_decided)
            unexplained();
        return std::move(m_findings);
    }
    std::size_t deciding() const { return m_decided.value_or(0); }

private:
    void inputs();
    void construction();
    void introduced();
    void tensorParallel();
    bool onlyRanksDiffer() const;
    void precision();
    void routing();
    void accumulation();
    void noise();
    void selection();
    void unexplained();

    void add(std::string rule, std::string sentence, std::vector<std::string> evidence,
             bool explains = true)
    {
        if (explains && !m_decided)
            m_decided = m_findings.size();
        m_findings.push_back({std::move(rule), std::move(sentence), std::move(evidence)});
    }
    std::string reference(std::string_view key) const
    {
        return m_view.reference.header().environment.text(key);
    }
    std::string target(std::string_view key) const
    {
        return m_view.target.header().environment.text(key);
    }
    /// Both runs know the field and do not agree.
    bool differs(std::string_view key) const
    {
        return !reference(key).empty() && !target(key).empty() && reference(key) != target(key);
    }
    std::string fieldEvidence(std::string_view key) const
    {
        return std::string(key) + ": " + both(reference(key), target(key));
    }
    const trace::Tap* firstTap() const
    {
        const auto tap = m_view.reference.findTap(m_first->tap);
        return tap ? &m_view.reference.header().taps[indexOf(*tap)] : nullptr;
    }

    const FoldView& m_view;
    const Report& m_report;
    const std::optional<Divergence>& m_first;
    std::vector<CauseFinding> m_findings;
    std::optional<std::size_t> m_decided;
};

void CauseFinder::inputs()
{
    struct Field
    {
        std::string_view key;
        const char* what;
    };
    constexpr std::array fields{Field{env::architecture, "the architectures"},
                                Field{env::weightDigest, "the weights"},
                                Field{env::tokenizerDigest, "the tokenizers"}};
    // The same values in another dtype are the same weights: what computes with them is for the
    // rule of precision.
    const WeightsDiffer weights =
        weightsDiffer(m_view.reference.header().environment, m_view.target.header().environment);
    const bool weightsOnlyStored = weights == WeightsDiffer::InType;
    std::vector<std::string> what;
    std::vector<std::string> evidence;
    for (const Field& field : fields)
        if (differs(field.key) && (field.key != env::weightDigest || !weightsOnlyStored)) {
            what.emplace_back(field.what);
            evidence.push_back(fieldEvidence(field.key));
        }
    if (weights == WeightsDiffer::InTypeAtLeast)
        evidence.push_back(fieldEvidence(weightTypeKey) + "; with the same values or not");
    const PromptDifference prompts = promptDifference(m_view);
    if (prompts.samples > 0) {
        what.emplace_back("the prompts");
        evidence.push_back(countOf(prompts.samples, "sample") + " with another prompt, first "
                           + prompts.example);
    }
    if (m_report.alignment.tokenisedDifferently > 0) {
        if (!differs(env::tokenizerDigest))
            what.emplace_back("the tokens of the same text");
        evidence.push_back(countOf(m_report.alignment.tokenisedDifferently, "sample")
                           + " tokenised differently");
    }
    if (what.empty())
        return;
    std::string list;
    for (std::size_t i = 0; i < what.size(); ++i)
        list += (i == 0 ? "" : i + 1 == what.size() ? " and " : ", ") + what[i];
    add("inputs",
        "The runs were not given the same: " + list
            + " differ, so that equal results are not to be expected",
        std::move(evidence));
}

void CauseFinder::construction()
{
    const RowPhases phases = rowPhases(m_view);
    std::vector<std::string> evidence{
        countOf(phases.differentPrefill, "prefill row") + " of " + std::to_string(phases.prefill)
            + " and " + countOf(phases.differentLater, "later row") + " of "
            + std::to_string(phases.later) + " differ",
        "The first differing row is position " + std::to_string(m_first->position) + " of sample "
            + base::visibleText(m_first->sample)};
    const trace::Row ours = m_view.reference.row(m_first->row);
    const trace::Row theirs = m_view.target.row(m_first->targetRow);
    if (ours.construction != theirs.construction) {
        const auto text = [](trace::Construction construction) {
            return construction == trace::Construction::Once ? "in one pass over all tokens"
                                                             : "token by token from the cache";
        };
        add("construction",
            std::string("The reference computed the row ") + text(ours.construction)
                + ", the target " + text(theirs.construction)
                + ": the gap is between prefill and decode before it is one between the runs",
            std::move(evidence));
        return;
    }
    if (phases.prefill > 0 && phases.differentPrefill == 0 && phases.later > 0)
        add("construction", "Every prefill row is equal; the difference begins in decode",
            std::move(evidence), false);
}

void CauseFinder::introduced()
{
    const auto ops = introducingOps(m_view);
    if (ops.empty()) {
        if (m_first->origin == Origin::Unknown)
            add("introduced",
                "Where the difference was made is not known: the inputs of " + opOf(m_first->tap)
                    + " were not all recorded",
                {}, false);
        return;
    }
    std::vector<std::string> evidence;
    for (const OpCount& op : ops)
        evidence.push_back(op.name + ": introduced at " + countOf(op.sites, "site") + ", first "
                           + op.first);
    const std::string sentence =
        ops.size() == 1
            ? "One operation gives other results from equal inputs: " + ops.front().name
            : std::to_string(ops.size())
                  + " operations give other results from equal inputs, first " + ops.front().name;
    add("introduced", sentence, std::move(evidence), false);
}

void CauseFinder::tensorParallel()
{
    const bool sizes = differs(env::tpSize);
    const bool reductions = differs(env::reduction);
    const trace::Tap* tap = firstTap();
    if ((!sizes && !reductions) || tap == nullptr)
        return;
    const std::string how =
        sizes ? "size " + reference(env::tpSize) + " against " + target(env::tpSize)
              : "reduction " + reference(env::reduction) + " against " + target(env::reduction);
    const std::vector evidence{fieldEvidence(env::tpSize), fieldEvidence(env::reduction)};
    if (tap->tpSensitive)
        add("tensor-parallel",
            opOf(m_first->tap) + " is summed over ranks, and the runs sum differently (" + how
                + ")",
            evidence);
    else if (m_first->origin == Origin::Unknown && onlyRanksDiffer())
        add("tensor-parallel",
            "The runs differ only in how they sum over ranks (" + how
                + "); the sum where that begins was not recorded",
            evidence);
}

bool CauseFinder::onlyRanksDiffer() const
{
    return std::all_of(m_report.environmentDifferences.begin(),
                       m_report.environmentDifferences.end(),
                       [](const EnvironmentDifference& difference) {
                           return difference.key == env::tpSize || difference.key == env::reduction;
                       });
}

void CauseFinder::precision()
{
    const bool types = m_first->referenceType != m_first->targetType;
    if (!types && !differs(env::policy) && !differs(env::policyRules))
        return;
    std::vector<std::string> evidence;
    for (const std::string_view key : {env::policy, env::policyRules})
        if (differs(key))
            evidence.push_back(fieldEvidence(key));
    if (types)
        evidence.push_back(m_first->tap + ": "
                           + both(std::string(numeric::nameOf(m_first->referenceType)),
                                  std::string(numeric::nameOf(m_first->targetType))));
    std::string how;
    if (types)
        how = std::string(numeric::nameOf(m_first->referenceType)) + " against "
              + std::string(numeric::nameOf(m_first->targetType));
    if (differs(env::policy))
        how += (types ? ", policy " : "policy ") + reference(env::policy) + " against "
               + target(env::policy);
    if (how.empty())
        how = "other rules of policy " + target(env::policy);
    add("precision", opOf(m_first->tap) + " is computed in another precision (" + how + ")",
        std::move(evidence));
}

void CauseFinder::routing()
{
    if (!m_report.first.experts)
        return;
    const RoutingShare share = routingShare(m_view);
    std::vector<std::string> evidence{
        countOf(share.changedRows, "row") + " of " + std::to_string(share.rows)
        + " took other experts, first at " + siteText(*m_report.first.experts)
        + (share.firstMargin ? ", where the margin was " + numberText(*share.firstMargin)
                             : std::string())};
    std::string sentence = "Routing changed on " + countOf(share.changedRows, "row");
    bool explains = false;
    if (share.errorShare) {
        evidence.push_back("Those rows carry " + percentOf(*share.errorShare)
                           + " of the squared error of " + share.errorOf);
        sentence += (share.changedRows == 1 ? ", which carries " : ", which carry ")
                    + percentOf(*share.errorShare) + " of the squared error";
        // Error a row of those that changed, over that of the others.
        const double changed = static_cast<double>(share.changedRows);
        const double others = static_cast<double>(share.rows - share.changedRows);
        explains =
            *share.errorShare >= mostOfTheError
            && *share.errorShare * others >= timesTheOthers * (1 - *share.errorShare) * changed;
    }
    add("routing", std::move(sentence), std::move(evidence), explains);
}

void CauseFinder::accumulation()
{
    const bool arithmetic = differs(env::arithmetic);
    const bool plan = differs(env::kPlan);
    const trace::Tap* tap = firstTap();
    constexpr std::array linear{
        trace::TapKind::Norm,        trace::TapKind::Projection, trace::TapKind::AttentionOutput,
        trace::TapKind::MlpOutput,   trace::TapKind::Router,     trace::TapKind::Experts,
        trace::TapKind::ExpertSlots, trace::TapKind::Head};
    if ((!arithmetic && !plan) || tap == nullptr || m_first->origin == Origin::Carried
        || std::find(linear.begin(), linear.end(), tap->kind) == linear.end())
        return;
    std::vector<std::string> evidence;
    for (const std::string_view key : {env::arithmetic, env::kPlan})
        if (differs(key))
            evidence.push_back(fieldEvidence(key));
    add("accumulation",
        opOf(m_first->tap)
            + (tap->kind == trace::TapKind::Norm
                   ? " adds up squares, and the runs do so differently ("
                   : " multiplies matrices, and the runs add up the products differently (")
            + (arithmetic ? reference(env::arithmetic) + " against " + target(env::arithmetic)
                          : reference(env::kPlan) + " against " + target(env::kPlan))
            + ")",
        std::move(evidence));
}

void CauseFinder::noise()
{
    if (m_view.options.floor == nullptr)
        return;
    const std::string repeat = base::visibleText(m_view.options.floor->source());
    if (m_view.options.floor->bitwiseEqual()) {
        add("noise floor", "Two repeats of the reference are bitwise equal: noise explains nothing",
            {"Repeat: " + repeat}, false);
        return;
    }
    if (m_report.first.floor)
        add("noise floor",
            "The difference exceeds the noise floor, first at " + siteText(*m_report.first.floor),
            {"Repeat: " + repeat}, false);
    else if (const std::uint64_t open = sitesWithoutFloor(m_view); open > 0)
        add("noise floor",
            "Where the repeat tells a noise floor, nothing exceeds it; of " + countOf(open, "site")
                + " that " + (open == 1 ? "differs" : "differ") + " it tells none",
            {"Repeat: " + repeat}, false);
    else
        add("noise floor",
            "No site differs by more than two repeats of the reference do: the difference is noise",
            {"Repeat: " + repeat});
}

void CauseFinder::selection()
{
    const FirstDivergences& first = m_report.first;
    if (!first.experts && !first.topK && !first.argmax && !first.token)
        return;
    add("selection",
        "Every tensor compared is equal; what differs is the choice made from equal values: how "
        "ties are broken, or how tokens are sampled",
        {fieldEvidence(env::sampling), fieldEvidence(env::seed)});
}

void CauseFinder::unexplained()
{
    std::vector<std::string> evidence;
    std::string fields;
    for (const EnvironmentDifference& difference : m_report.environmentDifferences) {
        fields += (fields.empty() ? "" : ", ") + difference.key;
        evidence.push_back(
            base::visibleText(difference.key) + ": "
            + both(base::visibleText(difference.reference), base::visibleText(difference.target)));
    }
    std::string sentence = "The captures do not explain the difference";
    if (m_first)
        sentence += " that begins at " + opOf(m_first->tap);
    sentence += fields.empty() ? "; their environments say nothing else"
                               : "; the environments differ in " + base::visibleText(fields);
    add("unexplained", std::move(sentence), std::move(evidence));
}

bool anythingDiffers(const FoldView& view, const FirstDivergences& first)
{
    return first.bitwise || first.experts || first.topK || first.argmax || first.token
           || first.nonFinite
           || std::any_of(view.alignment.samples.begin(), view.alignment.samples.end(),
                          [](const Alignment::SamplePair& pair) { return pair.split.has_value(); });
}

} // namespace

void addCause(const FoldView& view, Report& report)
{
    if (!anythingDiffers(view, report.first))
        return;
    CauseFinder finder(view, report);
    report.causeFindings = finder.findings();
    const auto deciding =
        report.causeFindings.begin() + static_cast<std::ptrdiff_t>(finder.deciding());
    std::rotate(report.causeFindings.begin(), deciding, deciding + 1);
    report.cause = report.causeFindings.front().sentence + '.';
}

} // namespace moire::diff
