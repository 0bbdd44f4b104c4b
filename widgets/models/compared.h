// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"
#include "widgets/models/divergences.h"
#include "widgets/models/measure.h"

#include <QString>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace moire::widgets {

/// A token as the strips show it.
struct TokenCell
{
    QString text; ///< one line; spaces as ·, line breaks as \n
    std::int32_t id = -1;
    bool response = false;
    bool comparable = true; ///< false behind the place where the texts part
};

/// One compared sample with its place in the report. A column is a token position.
struct SampleEntry
{
    QString id;
    QString category;
    trace::SampleIndex reference{};
    std::optional<trace::SampleIndex> target;
    std::size_t rowBegin = 0, rowEnd = 0; ///< in report.rows, half-open
    std::optional<std::uint32_t> split;   ///< first position whose tokens differ
    std::vector<TokenCell> referenceTokens, targetTokens;
    std::vector<diff::TokenBlock> blocks;  ///< tokens that stand for each other; may be empty
    std::vector<std::int64_t> rowOfColumn; ///< row pair at a token position, −1: none
    std::vector<float> klCells;            ///< per token position, of the logits row
    std::vector<std::size_t> flips;        ///< positions whose best token differs
    std::vector<std::size_t> routeChanges; ///< positions at which some expert set differs

    std::size_t columns() const { return rowOfColumn.size(); }
    /// The row pair at a position, when there is one.
    std::optional<std::size_t> rowAt(std::size_t column) const;
    /// Why there is no row: cell::notComparable or cell::notRecorded.
    float emptyCell(std::size_t column) const;
};

/// Two opened runs and their report, made once off the GUI thread, immutable and shared by all
/// views.
struct Compared
{
    trace::RunPointer reference, target;
    diff::Report report;
    QString referencePath, targetPath;
    bool measured = true; ///< false: compared by digests, tokens and top-K tables so far
    std::vector<SampleEntry> samples;
    std::array<DecadeRange, allHeatMeasures.size()> ranges;
    Divergences divergences;
    std::optional<std::size_t> headTap;              ///< tap pair of lm_head.out
    std::unordered_map<std::int32_t, QString> words; ///< token ids that occur → text
    double seconds = 0;                              ///< that opening and comparing took
    std::uint64_t gaps = 0;                          ///< gaps and drops that either run tells of
    std::uint64_t bytes = 0;                         ///< of values that were compared, both sides

    DecadeRange range(HeatMeasure measure) const
    {
        return ranges[static_cast<std::size_t>(measure)];
    }
    /// The sample that a row pair belongs to.
    std::size_t sampleOfRow(std::size_t rowPair) const;
    /// Cell of the logits row under Kl.
    float klCell(std::size_t rowPair) const;
};
using ComparedPointer = std::shared_ptr<const Compared>;

/// Indexes a report for the views. `report` must have been made from these two runs.
std::shared_ptr<Compared> indexReport(trace::RunPointer reference, trace::RunPointer target,
                                      diff::Report report);

/// A token's bytes as the strips and ladders show them.
QString tokenText(const std::string& bytes, std::int32_t id);

/// What a token id stands for, as far as the two runs' samples show it; else "<id>".
QString tokenText(const Compared& compared, std::int32_t id);

} // namespace moire::widgets
