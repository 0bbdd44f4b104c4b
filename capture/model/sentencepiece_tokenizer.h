// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/tokenizer.h"
#include "core/base/result.h"

#include <filesystem>

namespace moire::capture {

inline constexpr auto sentencePieceFile = "tokenizer.model";

/// The tokenizer.model of a folder, run by the sentencepiece library. Control tokens in a text are
/// recognised, as transformers does; before every text "<s>" is put unless tokenizer_config.json
/// says otherwise (add_bos_token, add_eos_token). Errors: Damaged, Io.
Result<std::shared_ptr<const Tokenizer>> openSentencePiece(const std::filesystem::path& folder);

} // namespace moire::capture
