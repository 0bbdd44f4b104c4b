// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"
#include "tests/app/diff/made_run.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace moire::live::test {

/// A run as the calls that an engine makes of it: samples of a batch go on together, and the token
/// that a row chose follows the row.
class Script
{
public:
    /// As test::makeRun() makes it.
    Script(const moire::test::MadeModel& model, const std::vector<moire::test::MadeSample>& samples,
           std::uint64_t seed, const moire::test::Touch& touch = {});

    const trace::RunHeader& header() const { return m_header; }
    /// The calls but finish().
    std::size_t size() const { return m_calls.size(); }
    /// Makes calls [begin, end); a call that fails ends the process.
    void play(trace::RunSink& sink, std::size_t begin, std::size_t end) const;
    void playAll(trace::RunSink& sink) const; ///< and finish()
    static trace::Environment closing();
    /// All of it, from a RunBuilder.
    trace::RunPointer run(const std::string& source) const;

private:
    trace::RunHeader m_header;
    std::vector<std::function<Result<void>(trace::RunSink&)>> m_calls;
};

/// Two samples of 4 and 3 prompt tokens, 6 and 4 response tokens.
std::vector<moire::test::MadeSample> twoSamples();

} // namespace moire::live::test
