// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"
#include "core/trace/environment.h"
#include "core/trace/records.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moire::trace {

/// What is fixed before the first row of a run.
struct RunHeader
{
    Environment environment;
    Level level = Level::Full;
    std::vector<Tap> taps;            ///< in execution order
    std::vector<RouterLayer> routers; ///< in layer order
    LogitsInfo logits;
    /// What each id decodes to, by id, so that ids of top-K tables can be read; may be invalid
    /// UTF-8.
    /// "" = the tokenizer does not know the id; empty when the run was made without a tokenizer.
    std::vector<std::string> vocabulary;
    friend bool operator==(const RunHeader&, const RunHeader&) = default;
};

/// Consecutive rows of one tap, bit for bit, row-major.
struct ValueView
{
    const std::byte* data = nullptr;
    std::size_t stride = 0; ///< bytes from one row to the next
    RowIndex rowBegin = 0;
    RowIndex rowEnd = 0; ///< half-open; may end before what was asked: ask again from here
    numeric::DType dtype = numeric::DType::FP32;
    std::uint32_t width = 0;

    const std::byte* row(RowIndex r) const { return data + (r - rowBegin) * stride; }
};

/// A row's top-K table: ids descending by logit (ties by ascending id), unused places id −1.
struct TopKView
{
    std::span<const std::int32_t> ids;
    std::span<const float> values; ///< the logits, widened exactly
    double logSumExp = 0;          ///< over the whole vocabulary
    double remainingMass = 0;      ///< probability outside the table
    std::span<const std::int32_t> askedIds;
    std::span<const float> askedValues;
};

/// A MoE layer's routing at one row.
struct RoutingView
{
    std::span<const std::int32_t> ids;  ///< k expert ids in slot order, −1 = padding
    const std::byte* weights = nullptr; ///< k weights after normalisation, RouterLayer::weightType
    const std::byte* logits = nullptr;  ///< E router logits, RouterLayer::logitType
    const float* scores = nullptr;      ///< E selection scores, or null
};

/// What a comparison reads: an immutable snapshot of one run. A mapped file, a live run and an
/// imported folder are the same to whoever reads. A growing run gives a new snapshot with a larger
/// generation and never changes an old one. All functions are const and may be called from any
/// thread at once; spans and views live as long as the Run. Row numbers are 0 … rowCount()−1 in
/// recording order, the same for every table.
class Run
{
public:
    virtual ~Run() = default;

    virtual const RunHeader& header() const = 0;
    virtual std::string source() const = 0; ///< file name or address, for people
    virtual std::uint64_t generation() const { return 0; }
    virtual bool complete() const = 0;
    /// Rows that should exist and do not (incomplete capture, gaps), when that number is known.
    virtual std::optional<std::uint64_t> missingRows() const = 0;

    virtual std::span<const Sample> samples() const = 0;
    virtual std::span<const Token> tokens(SampleIndex sample) const = 0;
    virtual std::span<const Event> events() const = 0;

    virtual RowIndex rowCount() const = 0;
    virtual Row row(RowIndex r) const = 0;
    /// One digest a tap, tap order.
    virtual std::span<const std::uint64_t> digests(RowIndex r) const = 0;
    virtual std::span<const Counts> counts(RowIndex r) const = 0;
    /// Empty at level digest.
    virtual std::span<const Statistics> statistics(RowIndex r) const = 0;

    /// The longest run of rows from rowBegin on that lies in one piece, at most to rowEnd. Errors:
    /// NotFound below level full; Damaged or Io when the file does not hold what it should.
    virtual Result<ValueView> values(TapIndex tap, RowIndex rowBegin, RowIndex rowEnd) const = 0;
    /// Requires header().logits.vocabulary > 0.
    virtual Result<TopKView> topK(RowIndex r) const = 0;
    virtual Result<RoutingView> routing(std::size_t router, RowIndex r) const = 0;

    /// Whether all that was read so far can be trusted: an error once the source has lost bytes
    /// under the reader (a file cut short while open). Ask after a long read.
    virtual Result<void> stillSound() const { return {}; }

    /// The tap's place, when there is one of that name.
    std::optional<TapIndex> findTap(std::string_view name) const;
    std::optional<SampleIndex> findSample(std::string_view id) const;
};

using RunPointer = std::shared_ptr<const Run>;

/// The tap that holds the full-vocabulary logits.
inline constexpr std::string_view headTapName = "lm_head.out";

/// Widens row r of a view to double, exactly (int64 excepted). `out` has view.width places.
void widenRow(const ValueView& view, RowIndex r, std::span<double> out);

} // namespace moire::trace
