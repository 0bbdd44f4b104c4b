// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/head_capacity.h"

#include "core/diff/measure_builder.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>

namespace moire::diff {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Elements of the vocabulary that are widened at once.
constexpr std::size_t vocabularyBlock = 4096;

Result<const std::byte*> rowAt(const trace::Run& run, trace::TapIndex tap, trace::RowIndex row)
{
    const auto view = run.values(tap, row, row + 1);
    if (!view)
        return view.error();
    return view->row(row);
}

/// The tap that the head reads, where it was recorded.
std::optional<trace::TapIndex> headInput(const trace::Run& run)
{
    const auto head = run.findTap(trace::headTapName);
    if (!head)
        return std::nullopt;
    const auto& inputs = run.header().taps[indexOf(*head)].inputs;
    if (inputs.size() == 1)
        return inputs.front();
    if (const auto named = run.findTap("lm_head.in"))
        return named;
    return run.findTap("model.norm.out");
}

/// EEᵀ and H of the rows taken, and which sample each belongs to.
struct Rows
{
    MatrixXd errors; ///< rows × rows
    MatrixXd inputs; ///< rows × width
    std::vector<std::size_t> samples;
};

std::vector<std::size_t> rowsTaken(const Report& report, std::size_t most)
{
    std::vector<std::size_t> usable;
    for (std::size_t row = 0; row < report.rows.size(); ++row)
        if (report.logits[row].compared)
            usable.push_back(row);
    if (usable.size() <= most)
        return usable;
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < most; ++i)
        taken.push_back(usable[i * usable.size() / most]);
    return taken;
}

double valueAt(const std::byte* data, numeric::DType dtype, std::size_t i)
{
    return numeric::toDouble(numeric::bitsAt(data, dtype, i), dtype);
}

class Reader
{
public:
    Reader(const trace::Run& reference, const trace::Run& target, const Report& report,
           std::stop_token stop)
        : m_reference(reference)
        , m_target(target)
        , m_report(report)
        , m_stop(std::move(stop))
        , m_head(*reference.findTap(trace::headTapName))
        , m_targetHead(*target.findTap(trace::headTapName))
        , m_input(*headInput(target))
    {}

    Result<Rows> read(const std::vector<std::size_t>& taken)
    {
        const auto count = static_cast<Index>(taken.size());
        const trace::Tap& input = m_target.header().taps[indexOf(m_input)];
        Rows rows;
        rows.inputs.resize(count, static_cast<Index>(input.width));
        std::map<std::size_t, std::size_t> numbers;
        for (Index i = 0; i < count; ++i) {
            const RowPair& pair = m_report.rows[taken[static_cast<std::size_t>(i)]];
            const auto sample = indexOf(pair.sample);
            rows.samples.push_back(numbers.emplace(sample, numbers.size()).first->second);
            const auto data = rowAt(m_target, m_input, pair.target);
            if (!data)
                return data.error();
            for (Index j = 0; j < rows.inputs.cols(); ++j)
                rows.inputs(i, j) = valueAt(*data, input.dtype, static_cast<std::size_t>(j));
        }
        rows.errors = MatrixXd::Zero(count, count);
        const std::size_t vocabulary = m_reference.header().taps[indexOf(m_head)].width;
        for (std::size_t begin = 0; begin < vocabulary; begin += vocabularyBlock) {
            if (m_stop.stop_requested())
                return Error{Errc::Cancelled, "the study was cancelled", {}, {}};
            if (auto done = addBlock(taken, begin, std::min(vocabulary, begin + vocabularyBlock),
                                     rows.errors);
                !done)
                return done.error();
        }
        rows.errors = rows.errors.selfadjointView<Eigen::Lower>();
        return rows;
    }

private:
    /// What is not finite on both sides is no error that a map could remove.
    Result<void> addBlock(const std::vector<std::size_t>& taken, std::size_t begin, std::size_t end,
                          MatrixXd& errors) const
    {
        MatrixXd block(static_cast<Index>(taken.size()), static_cast<Index>(end - begin));
        const numeric::DType ours = m_reference.header().taps[indexOf(m_head)].dtype;
        const numeric::DType theirs = m_target.header().taps[indexOf(m_targetHead)].dtype;
        for (Index i = 0; i < block.rows(); ++i) {
            const RowPair& pair = m_report.rows[taken[static_cast<std::size_t>(i)]];
            const auto r = rowAt(m_reference, m_head, pair.reference);
            if (!r)
                return r.error();
            const auto t = rowAt(m_target, m_targetHead, pair.target);
            if (!t)
                return t.error();
            for (std::size_t v = begin; v < end; ++v) {
                const double d = valueAt(*r, ours, v) - valueAt(*t, theirs, v);
                block(i, static_cast<Index>(v - begin)) = std::isfinite(d) ? d : 0;
            }
        }
        errors.selfadjointView<Eigen::Lower>().rankUpdate(block);
        return {};
    }

    const trace::Run& m_reference;
    const trace::Run& m_target;
    const Report& m_report;
    std::stop_token m_stop;
    trace::TapIndex m_head, m_targetHead, m_input;
};

/// An orthonormal basis U of the columns of H, and H⁺, by a rank-revealing QR decomposition: pivots
/// below ε · max(rows, width) of the largest count as none. H·H⁺ = U·Uᵀ as with singular vectors,
/// so that every share is the same, and this compiles in a fourth of the time.
struct Decomposition
{
    MatrixXd u;       ///< rows × rank
    MatrixXd inverse; ///< H⁺, width × rows

    explicit Decomposition(const MatrixXd& inputs)
    {
        Eigen::CompleteOrthogonalDecomposition<MatrixXd> qr;
        qr.setThreshold(std::numeric_limits<double>::epsilon()
                        * static_cast<double>(std::max(inputs.rows(), inputs.cols())));
        qr.compute(inputs);
        u = qr.householderQ() * MatrixXd::Identity(inputs.rows(), qr.rank());
        inverse = qr.pseudoInverse();
    }
};

/// Shares of ‖E‖² that any map and the best one of `rank` remove.
std::pair<double, double> removable(const Rows& rows, std::size_t rank)
{
    const Decomposition h(rows.inputs);
    const MatrixXd inside = h.u.transpose() * rows.errors * h.u;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(inside, Eigen::EigenvaluesOnly);
    const auto kept = std::min<Index>(static_cast<Index>(rank), inside.rows());
    const double all = rows.errors.trace();
    return {inside.trace() / all, spectrum.eigenvalues().tail(kept).sum() / all};
}

MatrixXd pick(const MatrixXd& from, const std::vector<Index>& rows,
              const std::vector<Index>& columns)
{
    return from(rows, columns);
}

/// The same on samples that the fit has not seen.
std::pair<double, double> heldOut(const Rows& rows, const HeadCapacityOptions& options)
{
    double all = 0;
    std::array<double, 2> left{};
    for (std::size_t fold = 0; fold < options.folds; ++fold) {
        std::vector<Index> train;
        std::vector<Index> test;
        for (std::size_t i = 0; i < rows.samples.size(); ++i)
            (rows.samples[i] % options.folds == fold ? test : train)
                .push_back(static_cast<Index>(i));
        if (test.empty() || train.empty())
            continue;
        const MatrixXd inputs = rows.inputs(train, Eigen::all);
        const Decomposition h(inputs);
        const MatrixXd trained = pick(rows.errors, train, train);
        const MatrixXd between = pick(rows.errors, train, test);
        const Eigen::SelfAdjointEigenSolver<MatrixXd> spectrum(h.u.transpose() * trained * h.u);
        const auto kept = std::min<Index>(static_cast<Index>(options.rank), h.u.cols());
        const MatrixXd best = spectrum.eigenvectors().rightCols(kept);
        const MatrixXd projected = rows.inputs(test, Eigen::all) * h.inverse;
        const double own = pick(rows.errors, test, test).trace();
        all += own;
        const MatrixXd keptBasis = h.u * best;
        const std::array<MatrixXd, 2> maps{projected,
                                           projected * keptBasis * keptBasis.transpose()};
        for (std::size_t i = 0; i < maps.size(); ++i)
            left[i] += own - 2 * (maps[i] * between).trace()
                       + (maps[i] * trained * maps[i].transpose()).trace();
    }
    return {1 - left[0] / all, 1 - left[1] / all};
}

} // namespace

Result<Measure> headCapacity(const trace::Run& reference, const trace::Run& target,
                             const Report& report, const HeadCapacityOptions& options,
                             std::stop_token stop)
{
    Measure measure = named("B13", "no row's logits were compared");
    measure.whyNoInterval = "judged on held-out samples instead";
    const std::vector<std::size_t> taken = rowsTaken(report, options.mostRows);
    if (taken.empty())
        return measure;
    if (!headInput(target)) {
        measure.whyNull = "the target holds no tap that the head reads";
        return measure;
    }
    Reader reader(reference, target, report, std::move(stop));
    auto rows = reader.read(taken);
    if (!rows)
        return rows.error();
    measure.n = taken.size();
    measure.whyNull = "the logits do not differ";
    if (!(rows->errors.trace() > 0) || !rows->inputs.allFinite())
        return measure;
    const auto [any, ranked] = removable(*rows, options.rank);
    setValue(measure, percent(any, 1));
    const std::string rank = "rank_" + std::to_string(options.rank);
    measure.parameters[rank] = percent(ranked, 1);
    if (*std::max_element(rows->samples.begin(), rows->samples.end()) > 0) {
        const auto [seen, seenRanked] = heldOut(*rows, options);
        measure.parameters["held_out"] = percent(seen, 1);
        measure.parameters[rank + "_held_out"] = percent(seenRanked, 1);
    }
    return measure;
}

} // namespace moire::diff
