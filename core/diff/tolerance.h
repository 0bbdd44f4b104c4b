// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace moire::settings {
struct Setting;
}

namespace moire::diff {

/// One statement about a site, a row of logits, a MoE layer at a row, or a sample. Under all but
/// `bitwise` equal bits pass, NaN on both sides passes, and NaN or an infinity that the other side
/// does not have fails.
struct Criterion
{
    enum class Kind : std::uint8_t
    {
        Bitwise,  ///< "bitwise": all bits equal (values, where the dtypes differ)
        Ulp,      ///< "ulp<=2": the largest distance in last places; same dtypes only
        Abs,      ///< "abs<=1e-3": the largest |t − r|
        Rel,      ///< "rel<=1e-3": relative L2 of the row, ‖t − r‖ / ‖r‖
        Allclose, ///< "allclose(rtol, atol)": |t − r| ≤ atol + rtol·|r| for every element
        Kl,       ///< "kl<=1e-4": forward KL of the logits row in nats
        TopK, ///< "topk>=0.8", "topk[k=10]>=0.8": |A∩B| / K of the logits row, K = 5 unless given
        Routes, ///< "routes>=1": |A∩B| / k of a MoE layer's experts at a row
        Tokens, ///< "tokens>=0.99": share of a sample's tokens chosen alike, see COMPARING.md
        Floor,  ///< "floor(2)": relative L2 ≤ 2 × that of two repeats of the reference
    };
    Kind kind = Kind::Bitwise;
    double bound = 0; ///< N, x, k, or rtol
    double atol = 0;
    std::uint32_t topK = 5;
    std::string text; ///< in one spelling: "allclose(rtol=0.002, atol=0.01)"
};

/// What one can speak of with a criterion.
enum class Subject : std::uint8_t
{
    Site,   ///< any tap
    Logits, ///< lm_head.out only
    Router  ///< a router's logits' tap only
};
Subject subjectOf(Criterion::Kind kind);

/// Reads one criterion as people write it, spaces wherever they like. Errors: Invalid, the place is
/// the text.
Result<Criterion> parseCriterion(std::string_view text);

/// One pattern of tap names and what is asked of the taps like it.
struct ToleranceEntry
{
    std::string pattern;
    std::vector<Criterion> criteria; ///< all of them have to hold
    std::string source;              ///< where the numbers come from
    bool optional = false;           ///< it is no mistake when no tap is like the pattern
    std::uint32_t line = 0;          ///< in the profile; 0: not from a file
};

/// What difference is allowed, by tap pattern: the first entry whose pattern matches decides, and
/// the last one matches everything. Immutable.
class Tolerance
{
public:
    /// A profile in TOML or JSON: `name`, `source` and `[[tap]]` tables with `pattern`, `criterion`
    /// (text or a list of it), `source`, `optional`. Errors name line and key.
    static Result<Tolerance> read(const std::filesystem::path& path);
    static Result<Tolerance> parse(std::string_view text, const std::string& name);
    /// The same criteria for every tap that they can speak of: `--criterion`.
    static Tolerance everywhere(std::vector<Criterion> criteria);

    const std::string& name() const { return m_name; }
    const std::string& file() const { return m_file; } ///< for messages; empty without one
    const std::vector<ToleranceEntry>& entries() const { return m_entries; }
    /// The first entry whose pattern the tap's name matches.
    std::size_t entryOf(std::string_view tap) const;
    bool uses(Criterion::Kind kind) const;

private:
    static Result<Tolerance> of(const settings::Setting& root, const std::string& name);

    std::string m_name;
    std::string m_file;
    std::vector<ToleranceEntry> m_entries;
};

} // namespace moire::diff
