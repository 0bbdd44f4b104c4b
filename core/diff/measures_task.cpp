// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/free_run.h"
#include "core/diff/measure_builder.h"
#include "core/diff/measures.h"
#include "core/diff/statistics/agreement.h"
#include "core/diff/statistics/paired_test.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace moire::diff {

namespace {

/// A sample with a label and a prediction in either run.
struct Answer
{
    std::size_t samplePair;
    const trace::Sample& reference;
    const trace::Sample& target;

    bool referenceRight() const { return reference.prediction == reference.label; }
    bool targetRight() const { return target.prediction == reference.label; }
    bool agree() const { return reference.prediction == target.prediction; }
    bool toWrong() const { return referenceRight() && !targetRight(); }
    bool toRight() const { return !referenceRight() && targetRight(); }
};

/// A run without any prediction may have parsed none (a free run), or never asked: one that only
/// scores another's tokens.
bool answersQuestions(const trace::Run& run)
{
    const auto& samples = run.samples();
    return !scoredGivenTokens(run)
           || std::any_of(samples.begin(), samples.end(),
                          [](const trace::Sample& sample) { return !sample.prediction.empty(); });
}

std::vector<Answer> answersOf(const FoldView& view)
{
    std::vector<Answer> answers;
    if (!answersQuestions(view.reference) || !answersQuestions(view.target))
        return answers;
    for (std::size_t i = 0; i < view.alignment.samples.size(); ++i) {
        const Alignment::SamplePair& pair = view.alignment.samples[i];
        const trace::Sample& ours = view.reference.samples()[indexOf(pair.reference)];
        const trace::Sample& theirs = view.target.samples()[indexOf(pair.target)];
        if (!ours.label.empty() && (!ours.prediction.empty() || !theirs.prediction.empty()))
            answers.push_back({i, ours, theirs});
    }
    return answers;
}

template <class Quantity>
void setPerAnswer(Measure& measure, const FoldView& view, const std::vector<Answer>& answers,
                  RatioForm form, Quantity of)
{
    std::vector<SampleShare> shares(view.alignment.samples.size());
    for (const Answer& answer : answers)
        shares[answer.samplePair] = {static_cast<double>(of(answer)), 1};
    setSampleRatio(measure, std::move(shares), form);
}

template <class Predicate>
double count(const std::vector<Answer>& answers, Predicate of)
{
    return static_cast<double>(std::count_if(answers.begin(), answers.end(), of));
}

/// J1 to J3.
void addAnswers(const FoldView& view, const std::vector<Answer>& answers, const std::string& why,
                Measures& measures)
{
    Measure accuracy = named("J1", why);
    Measure agreement = named("J2", why);
    Measure flips = named("J3", why);
    setPerAnswer(accuracy, view, answers, RatioForm::Percent,
                 [](const Answer& answer) { return answer.targetRight(); });
    setPerAnswer(agreement, view, answers, RatioForm::Percent,
                 [](const Answer& answer) { return answer.agree(); });
    if (!answers.empty()) {
        const auto n = static_cast<double>(answers.size());
        const double reference =
            percent(count(answers, [](const Answer& a) { return a.referenceRight(); }), n);
        accuracy.parameters["reference"] = reference;
        accuracy.parameters["difference"] = *accuracy.value - reference;
        agreement.parameters["different"] =
            count(answers, [](const Answer& a) { return !a.agree(); });
        flips.n = answers.size();
        setValue(flips, count(answers, [](const Answer& a) { return a.toWrong(); }));
        flips.whyNoInterval = "a count; J1 has the interval of what it does to accuracy";
        flips.parameters["wrong_to_correct"] =
            count(answers, [](const Answer& a) { return a.toRight(); });
        flips.parameters["wrong_to_other_wrong"] = count(answers, [](const Answer& a) {
            return !a.referenceRight() && !a.targetRight() && !a.agree();
        });
        std::map<std::string, SampleShare> right;
        for (const Answer& answer : answers) {
            SampleShare& group = right[answer.reference.category];
            group.numerator += answer.targetRight() ? 1 : 0;
            ++group.denominator;
            flips.byGroup[answer.reference.category] += answer.toWrong() ? 1 : 0;
        }
        for (const auto& [category, group] : right)
            accuracy.byGroup[category] = percent(group.numerator, group.denominator);
    }
    measures.insert(measures.end(), {accuracy, agreement, flips});
}

/// J4: over all answers, and by category with Holm's correction.
Measure changeTest(const std::vector<Answer>& answers, const std::string& why)
{
    Measure test = named("J4", why);
    if (answers.empty())
        return test;
    struct Changes
    {
        std::uint64_t toWrong = 0, toRight = 0;
    };
    Changes all;
    std::map<std::string, Changes> groups;
    for (const Answer& answer : answers)
        for (Changes* changes : {&all, &groups[answer.reference.category]}) {
            changes->toWrong += answer.toWrong() ? 1 : 0;
            changes->toRight += answer.toRight() ? 1 : 0;
        }
    test.n = answers.size();
    setValue(test, statistics::mcNemarExact(all.toWrong, all.toRight));
    test.whyNoInterval = "a p-value";
    test.parameters["to_wrong"] = static_cast<double>(all.toWrong);
    test.parameters["to_right"] = static_cast<double>(all.toRight);
    std::vector<double> p;
    for (const auto& [category, changes] : groups)
        p.push_back(statistics::mcNemarExact(changes.toWrong, changes.toRight));
    const std::vector<double> adjusted = statistics::holm(p);
    std::size_t i = 0;
    for (const auto& [category, changes] : groups)
        test.byGroup[category] = adjusted[i++];
    return test;
}

/// The logits of the answer letters at one row, by id.
using Letters = std::map<std::int32_t, double>;

Letters lettersAt(const trace::Run& run, trace::RowIndex row)
{
    Letters letters;
    if (run.header().logits.asked == 0)
        return letters;
    const auto table = run.topK(row);
    if (!table)
        return letters;
    for (std::size_t i = 0; i < table->askedIds.size(); ++i)
        if (table->askedIds[i] >= 0 && std::isfinite(table->askedValues[i]))
            letters[table->askedIds[i]] = static_cast<double>(table->askedValues[i]);
    return letters;
}

/// The letter's logit less the best other letter's.
double leadOf(const Letters& letters, std::int32_t letter)
{
    double other = -std::numeric_limits<double>::infinity();
    for (const auto& [id, logit] : letters)
        if (id != letter)
            other = std::max(other, logit);
    return letters.at(letter) - other;
}

std::int32_t bestOf(const Letters& letters)
{
    return std::max_element(letters.begin(), letters.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

/// Per sample the row that predicts the first response token, else its last one.
std::vector<std::size_t> answeringRows(const FoldView& view)
{
    std::vector<std::size_t> rows;
    const auto sampleAt = [&](std::size_t row) { return view.alignment.rows[row].sample; };
    bool decided = false;
    view.forEachRow([&](std::size_t row, const RowRecord& record) {
        if (rows.empty() || sampleAt(rows.back()) != sampleAt(row)) {
            rows.push_back(row);
            decided = false;
        } else if (!decided) {
            rows.back() = row;
        }
        decided = decided || record.logits.predictsResponse;
    });
    return rows;
}

/// J5.
Measure letterMargins(const FoldView& view)
{
    Measure margin = named("J5", "no answer letters' logits were recorded by both runs");
    RowValues ours;
    double theirs = 0;
    double change = 0;
    double flips = 0;
    if (view.reference.header().logits.asked > 0 && view.target.header().logits.asked > 0)
        for (const std::size_t row : answeringRows(view)) {
            const RowPair& pair = view.alignment.rows[row];
            const Letters reference = lettersAt(view.reference, pair.reference);
            const Letters target = lettersAt(view.target, pair.target);
            const auto sameId = [](const auto& a, const auto& b) { return a.first == b.first; };
            if (reference.size() < 2
                || !std::equal(reference.begin(), reference.end(), target.begin(), target.end(),
                               sameId))
                continue;
            const std::int32_t letter = bestOf(reference);
            ours.push_back({row, leadOf(reference, letter)});
            theirs += leadOf(target, letter);
            change += std::fabs(leadOf(target, letter) - ours.back().value);
            flips += bestOf(target) != letter ? 1 : 0;
        }
    setMean(margin, view, ours, trace::headTapName, Curve::None);
    if (margin.value) {
        const auto n = static_cast<double>(ours.size());
        margin.parameters["target"] = theirs / n;
        margin.parameters["change"] = theirs / n - *margin.value;
        margin.parameters["mean_abs_change"] = change / n;
        margin.parameters["letters_changed"] = flips;
    }
    return margin;
}

/// NaN and infinities in the compared rows' logits.
double nonFiniteLogits(const FoldView& view, const trace::Run& run, bool isTarget)
{
    const auto head = run.findTap(trace::headTapName);
    if (!head)
        return 0;
    double sum = 0;
    view.forEachRow([&](std::size_t row, const RowRecord&) {
        const RowPair& pair = view.alignment.rows[row];
        const trace::Counts& counts =
            run.counts(isTarget ? pair.target : pair.reference)[indexOf(*head)];
        sum += static_cast<double>(counts.nan) + static_cast<double>(counts.infinite);
    });
    return sum;
}

/// J6.
Measure unparsed(const FoldView& view, const std::vector<Answer>& answers, const std::string& why)
{
    Measure measure = named("J6", why);
    if (!answers.empty()) {
        measure.n = answers.size();
        setValue(measure,
                 count(answers, [](const Answer& a) { return a.target.prediction.empty(); }));
        measure.whyNoInterval = "a count";
        measure.parameters["reference"] =
            count(answers, [](const Answer& a) { return a.reference.prediction.empty(); });
    }
    measure.parameters["logits_not_finite"] = nonFiniteLogits(view, view.target, true);
    measure.parameters["reference_logits_not_finite"] =
        nonFiniteLogits(view, view.reference, false);
    return measure;
}

/// Sums: the agreeing answers, then each answer's count in the reference, then in the target.
double kappaOf(std::span<const double> sums)
{
    const std::size_t classes = (sums.size() - 1) / 2;
    return statistics::cohenKappa(sums[0], sums.subspan(1, classes), sums.subspan(1 + classes))
        .value_or(std::numeric_limits<double>::quiet_NaN());
}

/// J7.
Measure kappa(const FoldView& view, const std::vector<Answer>& answers, const std::string& why)
{
    constexpr std::size_t mostAnswers = 64;
    Measure measure = named("J7", why);
    std::map<std::string, std::size_t> classes;
    for (const Answer& answer : answers) {
        classes.emplace(answer.reference.prediction, 0);
        classes.emplace(answer.target.prediction, 0);
    }
    std::size_t next = 0;
    for (auto& [text, number] : classes)
        number = next++;
    if (answers.empty())
        return measure;
    SampleSums sums;
    sums.columns.assign(1 + 2 * classes.size(), std::vector<double>(view.alignment.samples.size()));
    sums.value = kappaOf;
    std::vector<double> totals(sums.columns.size());
    for (const Answer& answer : answers)
        for (const auto& [column, number] :
             {std::pair(std::size_t{0}, answer.agree() ? 1.0 : 0.0),
              std::pair(1 + classes[answer.reference.prediction], 1.0),
              std::pair(1 + classes.size() + classes[answer.target.prediction], 1.0)}) {
            sums.columns[column][answer.samplePair] += number;
            totals[column] += number;
        }
    measure.n = answers.size();
    setValue(measure, kappaOf(totals));
    if (!measure.value)
        measure.whyNull = "both runs always give the same answer";
    else if (classes.size() <= mostAnswers)
        measure.sums = std::make_shared<const SampleSums>(std::move(sums));
    else
        measure.whyNoInterval = "more than 64 different answers";
    return measure;
}

} // namespace

void addTaskMeasures(const FoldView& view, Measures& measures)
{
    const std::vector<Answer> answers = answersOf(view);
    const std::string why = "no task: labels or predictions are missing";
    addAnswers(view, answers, why, measures);
    measures.push_back(changeTest(answers, why));
    measures.push_back(letterMargins(view));
    measures.push_back(unparsed(view, answers, why));
    measures.push_back(kappa(view, answers, why));
}

void addCostMeasures(const FoldView& view, Measures& measures)
{
    const auto ratio = [&](std::string_view key) -> std::optional<double> {
        const auto number = [key](const trace::Run& run) -> double {
            const auto* value = run.header().environment.find(key);
            if (value == nullptr)
                return 0;
            if (const auto* real = std::get_if<double>(value))
                return *real;
            if (const auto* whole = std::get_if<std::int64_t>(value))
                return static_cast<double>(*whole);
            return 0;
        };
        const double ours = number(view.reference);
        const double theirs = number(view.target);
        return ours > 0 && theirs > 0 ? std::optional(theirs / ours) : std::nullopt;
    };
    Measure cost = named("K1", "the runs do not both hold their wall time");
    if (const auto time = ratio(trace::env::wallSeconds)) {
        cost.n = 1;
        setValue(cost, *time);
        cost.whyNoInterval = "each run was timed once";
    }
    if (const auto memory = ratio(trace::env::peakBytes))
        cost.parameters["memory"] = *memory;
    measures.push_back(std::move(cost));
    for (const char* id : {"K2", "K3", "K4", "K5"})
        measures.push_back(named(id, "needs two targets against one reference: moire-diff study"));
}

} // namespace moire::diff
