// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/study.h"

#include <string>
#include <string_view>

/// Several targets against one reference, in each format. Equal studies give equal bytes.
namespace moire::report {

inline constexpr std::string_view studySchema = "moire-study/1";

/// One sentence: what was studied, and which targets nothing beats in cost and agreement.
std::string studyVerdict(const diff::StudyReport& study);

/// Whether people are shown that row: ids with brackets (other K, other taps) stand in the JSON
/// only.
bool isShown(const diff::StudyRow& row);

/// Whether a number is a change, which is written with its sign.
enum class Signed
{
    No,
    Yes
};

/// "80.88 % [80, 81.2]", "–" where not known; a change as "+3.1 % [+1, +5.2]".
std::string estimateText(const diff::Estimate& estimate, std::string_view unit, Signed kind);

/// "394 rows of 5 samples", and how many of them are not used because another target lacks them.
std::string sharedText(const diff::StudyReport& study, std::size_t target);

/// K5 of forward KL: "+12.5 %", "–" where not known.
std::string gainForCost(const diff::StudyReport& study, std::size_t target);

std::string studyText(const diff::StudyReport& study, std::size_t baseline);

/// As core/report/study.schema.json has it.
std::string studyJson(const diff::StudyReport& study, std::size_t baseline);

std::string studyHtml(const diff::StudyReport& study, std::size_t baseline);

} // namespace moire::report
