// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run_builder.h"
#include "core/wire/run_messages.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moire::wire {

/// Turns the messages of one run, in order, into the calls of a RunSink that the publisher's engine
/// made. A gap becomes an event "gap" with its rows and reason: the sink's rows go on without the
/// missing ones (the rows of events are put right), and a run with a gap ends as Broken, its sink
/// unfinished, so that it is not taken for whole. One thread.
class RunReceiver
{
public:
    /// Makes the sink once the header is known.
    using SinkMaker = std::function<Result<std::unique_ptr<trace::RunSink>>(const trace::RunHeader&,
                                                                            PlannedRows)>;
    explicit RunReceiver(SinkMaker maker);
    ~RunReceiver();

    /// Errors: Damaged (out of order, sizes, digests, numbers that do not follow each other); those
    /// of the sink.
    Result<void> take(const Message& message);

    enum class Ending
    {
        None,
        Finished,
        Broken
    };
    Ending ending() const { return m_ending; }
    /// Why it is Broken.
    const std::string& sentence() const { return m_sentence; }
    /// The state that `broken` named ("cancelled", "failed", "lost"); "" without one.
    const std::string& brokenState() const { return m_brokenState; }
    /// Which rows are missing and why, one sentence; "" when none are.
    std::string missing() const;
    std::uint64_t nextSequence() const { return m_next; }
    /// That the sink was given.
    std::uint64_t rows() const { return m_rows; }
    std::uint64_t lostRows() const { return m_lostRows; }
    std::size_t samples() const { return m_tokens.size(); }
    const std::optional<Begin>& begin() const { return m_begin; }
    trace::RunSink* sink() { return m_sink.get(); }

private:
    Result<void> takeIn(Begin& begin);
    Result<void> takeIn(SampleBegin& sample);
    Result<void> takeIn(TokensAdded& added);
    Result<void> takeIn(RowsAdded& added);
    Result<void> takeIn(trace::Event& event);
    Result<void> takeIn(SampleEnd& end);
    Result<void> takeIn(Finish& finish);
    Result<void> takeIn(Broken& broken);
    Result<void> takeIn(Gap& gap);
    Result<void> missRows(std::uint64_t count);
    Result<void> knownSample(trace::SampleIndex sample) const;
    trace::RowIndex rowInSink(trace::RowIndex row) const;

    SinkMaker m_maker;
    std::unique_ptr<trace::RunSink> m_sink;
    std::optional<Begin> m_begin;
    Ending m_ending = Ending::None;
    std::string m_run;
    std::string m_sentence;
    std::string m_brokenState;
    std::vector<std::size_t> m_tokens; ///< of each sample so far
    std::vector<Gap> m_gaps;
    std::uint64_t m_next = 0;
    std::uint64_t m_nextRow = 0; ///< as the publisher numbers them
    std::uint64_t m_rows = 0;
    std::uint64_t m_lostRows = 0;
    bool m_afterGap = false; ///< and no row has come since
};

} // namespace moire::wire
