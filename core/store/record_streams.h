// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/store/schema.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace moire::store {

/// Tables 0 … 10 on their way into a file: records gathered since the last commit, counts and
/// running table digests.
class RecordStreams
{
public:
    struct Stream
    {
        std::vector<std::byte> gathered;
        std::uint64_t written = 0; ///< records in the file
        CountAndDigest total{};    ///< records in all, and their digest
    };

    RecordStreams();
    void addHeader(const trace::RunHeader& header, std::uint64_t rowsPerChunk);
    void addEnvironment(const trace::Environment& environment);
    void addSample(const trace::Sample& sample);
    void addTokens(trace::SampleIndex sample, const std::vector<trace::Token>& tokens);
    void addEvent(const trace::Event& event);
    void addEnding(trace::SampleIndex sample, std::string_view stopReason,
                   std::string_view prediction);

    const std::vector<TableSpec>& tables() const { return m_tables; }
    Stream& stream(std::size_t table) { return m_streams[table]; }
    std::size_t gatheredBytes() const;

private:
    void addToken(std::uint32_t sample, const trace::Token& token);
    TextRef addText(std::string_view text);
    void addBytes(std::size_t table, const std::byte* bytes, std::size_t size);
    template <class Record>
    void add(std::size_t table, const Record& record)
    {
        addBytes(table, reinterpret_cast<const std::byte*>(&record), sizeof record);
    }

    std::vector<TableSpec> m_tables;
    std::array<Stream, Rows> m_streams;
};

} // namespace moire::store
