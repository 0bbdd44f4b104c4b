// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/diff/report.h"
#include "core/trace/run.h"

/// A report and the two runs it is about, made by hand: every kind of entry once, with values that
/// are easily checked. One sample of four tokens, "ab" 'space' "<b>" and a broken byte; two taps of
/// width 2 and the head of width 4; the tokens part at position 3.
namespace moire::report::test {

diff::Report handMadeReport();
/// `lastToken`: id of the token at position 3 (7 in the reference, 8 in the target).
trace::RunPointer handMadeRun(std::int32_t lastToken);

/// An equal comparison without routers.
diff::Report equalReport();

} // namespace moire::report::test
