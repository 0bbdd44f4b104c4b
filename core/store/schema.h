// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/trace/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// FORMAT.md as types: the bytes of every record, the numbers of every table.
namespace moire::store {

inline constexpr std::array<unsigned char, 8> magic{0x89, 'M', 'O', 'I', 'R', 'E', '\r', '\n'};
inline constexpr std::uint32_t formatVersion = 1;
inline constexpr std::size_t userBlockBytes = 512;
inline constexpr std::size_t chunkAlignment = 64;

struct UserBlock
{
    std::array<unsigned char, 8> magic;
    std::uint32_t version;
    std::uint32_t size;
    std::uint64_t commitAddress;
    std::uint64_t indexAddress;
    std::uint64_t indexRecords;
    std::uint64_t commitBytes;
    std::uint64_t digest;
};
inline constexpr std::size_t userBlockDigested = 6; ///< words before `digest`
static_assert(sizeof(UserBlock) == 56);

/// Table numbers of FORMAT.md, sections 4 and 5.
enum Table : std::uint32_t
{
    Text,
    Run,
    Taps,
    TapInputs,
    Routers,
    EnvironmentFields,
    Samples,
    Choices,
    Tokens,
    Events,
    Endings,
    Rows,
    Commits,
    Index,
    Digests = 16,
    CountsTable,
    StatisticsTable,
    TopKIds,
    TopKValues,
    LogSumExp,
    RemainingMass,
    AskedIds,
    AskedValues,
    FirstRouter = 32,
    IndexLink = 0xFFFFFFFFU
};
inline constexpr std::size_t countedTables = Rows + 1; ///< those with a count in the commit
inline constexpr std::uint32_t tablesPerRouter = 4;

struct TextRef
{
    std::uint64_t offset;
    std::uint64_t length;
};
struct RunRecord
{
    std::uint8_t level, logitsType;
    std::array<std::uint8_t, 2> gap;
    std::uint32_t vocabulary, topK, asked;
    std::uint64_t rowsPerChunk;
};
struct TapRecord
{
    TextRef name;
    std::int32_t layer;
    std::uint8_t kind, dtype, inputsComplete, readsEarlierRows;
    std::uint32_t width, slots;
    std::uint64_t inputsBegin;
    std::uint32_t inputsCount;
    std::int32_t rank;
    std::uint8_t partial, tpSensitive;
    std::array<std::uint8_t, 6> gap;
};
struct RouterRecord
{
    TextRef module;
    std::int32_t layer;
    std::uint32_t experts, chosen;
    std::uint8_t logitType, weightType, hasScores, gap;
};
enum class FieldKind : std::uint8_t
{
    Text,
    Integer,
    Real,
    Boolean
};
struct EnvironmentRecord
{
    TextRef key;
    std::uint8_t kind;
    std::array<std::uint8_t, 7> gap;
    TextRef text;
    std::int64_t integer;
    double real;
};
struct SampleRecord
{
    TextRef id, category, text, label, replaySource;
    std::uint64_t choicesBegin;
    std::uint32_t choicesCount, repeat;
};
inline constexpr std::uint32_t noSample = 0xFFFFFFFFU; ///< a token record of the vocabulary
struct TokenRecord
{
    std::uint32_t sample;
    std::int32_t id;
    std::int64_t textOffset;
    std::uint64_t bytesOffset;
    std::uint32_t bytesLength;
    std::uint8_t response;
    std::array<std::uint8_t, 3> gap;
};
struct EventRecord
{
    std::uint64_t row;
    TextRef kind, text;
};
struct EndingRecord
{
    std::uint32_t sample, gap;
    TextRef stopReason, prediction;
};
struct RowRecord
{
    std::uint32_t sample, position, step, batchSlot;
    std::int32_t scoreId, scoreRank;
    float scoreLogit;
    std::uint8_t phase, construction;
    std::array<std::uint8_t, 2> gap;
    double scoreLogProb;
    std::uint64_t rollUp, side;
};
struct CountAndDigest
{
    std::uint64_t count, digest;
};
struct CommitRecord
{
    std::uint64_t sequence, state, expectedRows, expectedExact, fileBytes;
    std::array<CountAndDigest, countedTables> tables;
    CountAndDigest index;
    std::uint64_t digest;
};
inline constexpr std::size_t commitDigested = 31; ///< words before `digest`
struct IndexRecord
{
    std::uint32_t table, records;
    std::uint64_t address;
};
static_assert(sizeof(RunRecord) == 24 && sizeof(TapRecord) == 56 && sizeof(RouterRecord) == 32
              && sizeof(EnvironmentRecord) == 56 && sizeof(SampleRecord) == 96
              && sizeof(TokenRecord) == 32 && sizeof(EventRecord) == 40
              && sizeof(EndingRecord) == 40 && sizeof(RowRecord) == 56
              && sizeof(CommitRecord) == 256 && sizeof(IndexRecord) == 16);

/// What a table's elements are in HDF5; a plain dtype where it is an element of numbers.
enum class ElementKind : std::uint8_t
{
    Record,     ///< the compound type of the table's own number
    Counts,     ///< {finite, nan, infinite}
    Statistics, ///< {min, max, mean, l2}
    U32,
    U64,
    DType
};

/// One dataset: its path, and how a record (a line of a row table) is made up.
struct TableSpec
{
    std::uint32_t number = 0;
    std::string path;
    ElementKind element = ElementKind::Record;
    numeric::DType dtype = numeric::DType::U8; ///< where element is DType
    std::uint64_t width = 1;                   ///< elements a line
    bool matrix = false;                       ///< two-dimensional
    std::size_t recordBytes = 0;               ///< bytes a line
    std::size_t digestBytes = 8;               ///< element size for digests
    bool side = false;                         ///< part of a row's side digest
};

/// Tables 0 … 13, in order.
std::vector<TableSpec> runTables();
/// The row tables that a run with this header has, in table order: /rows first.
std::vector<TableSpec> rowTables(const trace::RunHeader& header);
inline std::uint32_t tableOfTap(const trace::RunHeader& header, std::size_t tap)
{
    return static_cast<std::uint32_t>(FirstRouter + tablesPerRouter * header.routers.size() + tap);
}
inline std::uint32_t tableOfRouter(std::size_t router, std::uint32_t which)
{
    return static_cast<std::uint32_t>(FirstRouter + tablesPerRouter * router + which);
}

/// Side digest of one row: `lineOf` gives that row's bytes in a table.
std::uint64_t sideDigest(const std::vector<TableSpec>& tables,
                         const std::function<const std::byte*(const TableSpec&)>& lineOf);

/// Σ of digestTerm over `bytes` as elements of `elementBytes`, the first being number `first`.
std::uint64_t digestFrom(const std::byte* bytes, std::size_t size, std::size_t elementBytes,
                         std::uint64_t first);

} // namespace moire::store
