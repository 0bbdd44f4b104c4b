// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/tokenizer.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace moire::capture {

inline constexpr auto sentencePieceFile = "tokenizer.model";

/// What a token is, in the numbers of SentencePiece and GGUF; others (bytes) are told by their
/// spelling.
enum PieceType : std::int64_t
{
    NormalPiece = 1,
    UnknownPiece = 2,
    ControlPiece = 3,
    UserDefinedPiece = 4,
    UnusedPiece = 5,
};

/// Takes unused tokens out of a vocabulary and makes control and user-defined ones added tokens.
/// `types`: by id.
void applyPieceTypes(BpeDefinition& definition, const std::vector<std::int64_t>& types);

/// The tokenizer.model of a folder: a BPE with scores. (The sentencepiece library is not used: its
/// Debian build brings a protobuf of its own, which crashes beside LibTorch's.) Control tokens in a
/// text are recognised, as transformers does; "<s>" is put before every text unless
/// tokenizer_config.json says otherwise (add_bos_token, add_eos_token). Errors: Damaged, Io;
/// Unsupported names what the model uses (unigram, a table of normalised characters, …).
Result<BpeDefinition> bpeFromSentencePiece(const std::filesystem::path& folder);

} // namespace moire::capture
