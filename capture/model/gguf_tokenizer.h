// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/model/gguf_file.h"
#include "capture/model/tokenizer.h"
#include "core/base/result.h"

namespace moire::capture {

/// The BPE tokenizer (of bytes, or of characters as SentencePiece's) that a GGUF file carries.
/// Errors: NotFound (the file has none), Unsupported (another kind, an unknown pre-tokenizer),
/// Damaged (lists of different lengths, ids out of range).
Result<BpeDefinition> bpeFromGguf(const GgufFile& file);

} // namespace moire::capture
