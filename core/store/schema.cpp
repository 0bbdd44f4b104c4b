// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/schema.h"

#include "core/numeric/digest.h"

#include <cstring>
#include <utility>

namespace moire::store {

using numeric::DType;

namespace {

TableSpec recordTable(std::uint32_t number, const char* path, std::size_t bytes)
{
    TableSpec spec;
    spec.number = number;
    spec.path = path;
    spec.recordBytes = bytes;
    return spec;
}

TableSpec numberTable(std::uint32_t number, std::string path, ElementKind element, DType dtype,
                      std::uint64_t width, std::size_t elementBytes, std::size_t digestBytes)
{
    TableSpec spec;
    spec.number = number;
    spec.path = std::move(path);
    spec.element = element;
    spec.dtype = dtype;
    spec.width = width;
    spec.matrix = true;
    spec.recordBytes = width * elementBytes;
    spec.digestBytes = digestBytes;
    return spec;
}

TableSpec dtypeTable(std::uint32_t number, std::string path, DType dtype, std::uint64_t width)
{
    const std::size_t bytes = numeric::sizeOf(dtype);
    return numberTable(number, std::move(path), ElementKind::DType, dtype, width, bytes, bytes);
}

void addTopK(const trace::LogitsInfo& logits, std::vector<TableSpec>& tables)
{
    if (logits.vocabulary == 0)
        return;
    tables.push_back(dtypeTable(TopKIds, "/top_k/ids", DType::I32, logits.topK));
    tables.push_back(dtypeTable(TopKValues, "/top_k/values", DType::FP32, logits.topK));
    tables.push_back(dtypeTable(LogSumExp, "/top_k/log_sum_exp", DType::FP64, 1));
    tables.back().matrix = false;
    tables.push_back(dtypeTable(RemainingMass, "/top_k/remaining_mass", DType::FP64, 1));
    tables.back().matrix = false;
    tables.push_back(dtypeTable(AskedIds, "/top_k/asked_ids", DType::I32, logits.asked));
    tables.push_back(dtypeTable(AskedValues, "/top_k/asked_values", DType::FP32, logits.asked));
}

} // namespace

std::vector<TableSpec> runTables()
{
    std::vector<TableSpec> tables{
        numberTable(Text, "/text", ElementKind::DType, DType::U8, 1, 1, 1),
        recordTable(Run, "/run", sizeof(RunRecord)),
        recordTable(Taps, "/taps", sizeof(TapRecord)),
        numberTable(TapInputs, "/tap_inputs", ElementKind::U32, DType::I32, 1, 4, 4),
        recordTable(Routers, "/routers", sizeof(RouterRecord)),
        recordTable(EnvironmentFields, "/environment", sizeof(EnvironmentRecord)),
        recordTable(Samples, "/samples", sizeof(SampleRecord)),
        recordTable(Choices, "/choices", sizeof(TextRef)),
        recordTable(Tokens, "/tokens", sizeof(TokenRecord)),
        recordTable(Events, "/events", sizeof(EventRecord)),
        recordTable(Endings, "/endings", sizeof(EndingRecord)),
        recordTable(Rows, "/rows", sizeof(RowRecord)),
        recordTable(Commits, "/commit", sizeof(CommitRecord)),
        recordTable(Index, "/index", sizeof(IndexRecord))};
    tables[Text].matrix = false;
    tables[TapInputs].matrix = false;
    return tables;
}

std::vector<TableSpec> rowTables(const trace::RunHeader& header)
{
    const std::uint64_t taps = header.taps.size();
    std::vector<TableSpec> tables{recordTable(Rows, "/rows", sizeof(RowRecord))};
    tables.push_back(numberTable(Digests, "/digests", ElementKind::U64, DType::I64, taps, 8, 8));
    tables.push_back(numberTable(CountsTable, "/counts", ElementKind::Counts, DType::I32, taps,
                                 sizeof(trace::Counts), 4));
    if (header.level != trace::Level::Digest)
        tables.push_back(numberTable(StatisticsTable, "/statistics", ElementKind::Statistics,
                                     DType::FP32, taps, sizeof(trace::Statistics), 4));
    addTopK(header.logits, tables);
    for (std::size_t j = 0; j < header.routers.size(); ++j) {
        const trace::RouterLayer& router = header.routers[j];
        const std::string folder = "/routing/" + router.module;
        tables.push_back(
            dtypeTable(tableOfRouter(j, 0), folder + "/ids", DType::I32, router.chosen));
        tables.push_back(
            dtypeTable(tableOfRouter(j, 1), folder + "/weights", router.weightType, router.chosen));
        tables.push_back(
            dtypeTable(tableOfRouter(j, 2), folder + "/logits", router.logitType, router.experts));
        tables.push_back(dtypeTable(tableOfRouter(j, 3), folder + "/scores", DType::FP32,
                                    router.hasScores ? router.experts : 0));
    }
    for (TableSpec& table : tables)
        table.side = table.number >= CountsTable;
    if (header.level == trace::Level::Full)
        for (std::size_t t = 0; t < header.taps.size(); ++t)
            tables.push_back(dtypeTable(tableOfTap(header, t), "/values/" + header.taps[t].name,
                                        header.taps[t].dtype, header.taps[t].width));
    std::erase_if(tables, [](const TableSpec& table) { return table.width == 0; });
    return tables;
}

std::uint64_t sideDigest(const std::vector<TableSpec>& tables,
                         const std::function<const std::byte*(const TableSpec&)>& lineOf)
{
    std::uint64_t sum = 0;
    std::uint64_t place = 0;
    for (const TableSpec& table : tables)
        if (table.side)
            sum += numeric::digestTerm(
                digestFrom(lineOf(table), table.recordBytes, table.digestBytes, 0), place++);
    return sum;
}

namespace {

template <class Word>
std::uint64_t digestWords(const std::byte* bytes, std::size_t count, std::uint64_t first)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Word word;
        std::memcpy(&word, bytes + i * sizeof(Word), sizeof(Word));
        sum += numeric::digestTerm(word, first + i);
    }
    return sum;
}

} // namespace

std::uint64_t digestFrom(const std::byte* bytes, std::size_t size, std::size_t elementBytes,
                         std::uint64_t first)
{
    switch (elementBytes) {
    case 1:
        return digestWords<std::uint8_t>(bytes, size, first);
    case 2:
        return digestWords<std::uint16_t>(bytes, size / 2, first);
    case 4:
        return digestWords<std::uint32_t>(bytes, size / 4, first);
    default:
        return digestWords<std::uint64_t>(bytes, size / 8, first);
    }
}

} // namespace moire::store
