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

namespace moire::wire {

/// Turns the messages of one run, in order, into the calls of a RunSink that the publisher's engine
/// made. A gap becomes an event "gap" with its rows and reason. One thread.
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
    std::uint64_t nextSequence() const { return m_next; }
    std::uint64_t rows() const { return m_rows; }
    std::uint64_t lostRows() const { return m_lostRows; }
    const std::optional<Begin>& begin() const { return m_begin; }
    trace::RunSink* sink() { return m_sink.get(); }

private:
    SinkMaker m_maker;
    std::unique_ptr<trace::RunSink> m_sink;
    std::optional<Begin> m_begin;
    Ending m_ending = Ending::None;
    std::string m_sentence;
    std::uint64_t m_next = 0;
    std::uint64_t m_rows = 0;
    std::uint64_t m_lostRows = 0;
};

} // namespace moire::wire
