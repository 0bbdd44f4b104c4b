// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace moire::capture {

/// One multiple-choice question as a file has it.
struct Question
{
    std::string id; ///< may be empty
    std::string category;
    std::string text;
    std::vector<std::string> choices;
    std::size_t answer = 0; ///< place in choices
};

/// A category with its solved examples.
struct QuestionSet
{
    std::vector<Question> questions;
    std::vector<Question> solved;
};

/// As benchmark.h says. `letters`: how a file may name its choices. Errors: NotFound, Io, Invalid.
Result<std::vector<QuestionSet>> readMmlu(const std::filesystem::path& path,
                                          const std::vector<std::string>& letters);
Result<std::vector<QuestionSet>> readArc(const std::filesystem::path& path);

} // namespace moire::capture
