// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/hdf5_types.h"

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

namespace moire::store {

static_assert(sizeof(hid_t) == sizeof(std::int64_t));

using numeric::DType;

namespace {

Hdf5Handle ownType(hid_t type)
{
    return {type, [](std::int64_t id) { return static_cast<int>(H5Tclose(id)); }};
}

Hdf5Handle floatType(DType dtype)
{
    const numeric::FloatLayout layout = numeric::layoutOf(dtype);
    const auto mantissa = static_cast<std::size_t>(layout.mantissaBits);
    const auto exponent = static_cast<std::size_t>(layout.exponentBits);
    Hdf5Handle type = ownType(H5Tcopy(H5T_IEEE_F32LE));
    H5Tset_fields(type.id(), mantissa + exponent, mantissa, exponent, 0, mantissa);
    H5Tset_size(type.id(), numeric::sizeOf(dtype));
    H5Tset_ebias(type.id(), static_cast<std::size_t>(layout.bias));
    return type;
}

Hdf5Handle booleanType()
{
    Hdf5Handle type = ownType(H5Tenum_create(H5T_STD_I8LE));
    for (const std::int8_t value : {std::int8_t{0}, std::int8_t{1}})
        H5Tenum_insert(type.id(), value == 0 ? "FALSE" : "TRUE", &value);
    return type;
}

Hdf5Handle enumType(const std::vector<std::pair<std::string, std::uint8_t>>& members)
{
    Hdf5Handle type = ownType(H5Tenum_create(H5T_STD_U8LE));
    for (const auto& [name, value] : members)
        H5Tenum_insert(type.id(), name.c_str(), &value);
    return type;
}

/// Enum of the names that `nameOf` gives to 0 … last.
template <class Enum>
Hdf5Handle namedEnum(Enum last)
{
    std::vector<std::pair<std::string, std::uint8_t>> members;
    for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
        members.emplace_back(trace::nameOf(static_cast<Enum>(i)), static_cast<std::uint8_t>(i));
    return enumType(members);
}

Hdf5Handle dtypeEnum()
{
    std::vector<std::pair<std::string, std::uint8_t>> members;
    for (const DType dtype : numeric::allDTypes)
        members.emplace_back(numeric::nameOf(dtype), static_cast<std::uint8_t>(dtype));
    return enumType(members);
}

/// A compound type under construction.
class Compound
{
public:
    explicit Compound(std::size_t bytes)
        : m_type(ownType(H5Tcreate(H5T_COMPOUND, bytes)))
    {}
    Compound& add(const char* name, std::size_t offset, hid_t type)
    {
        H5Tinsert(m_type.id(), name, offset, type);
        return *this;
    }
    Compound& u32(const char* name, std::size_t offset) { return add(name, offset, H5T_STD_U32LE); }
    Compound& i32(const char* name, std::size_t offset) { return add(name, offset, H5T_STD_I32LE); }
    Compound& u64(const char* name, std::size_t offset) { return add(name, offset, H5T_STD_U64LE); }
    Compound& i64(const char* name, std::size_t offset) { return add(name, offset, H5T_STD_I64LE); }
    Compound& f32(const char* name, std::size_t offset)
    {
        return add(name, offset, H5T_IEEE_F32LE);
    }
    Compound& f64(const char* name, std::size_t offset)
    {
        return add(name, offset, H5T_IEEE_F64LE);
    }
    Compound& boolean(const char* name, std::size_t offset)
    {
        return add(name, offset, booleanType().id());
    }
    Compound& ref(const char* name, std::size_t offset);
    Hdf5Handle take() { return std::move(m_type); }

private:
    Hdf5Handle m_type;
};

Hdf5Handle refType()
{
    return Compound(sizeof(TextRef))
        .u64("offset", offsetof(TextRef, offset))
        .u64("length", offsetof(TextRef, length))
        .take();
}

Compound& Compound::ref(const char* name, std::size_t offset)
{
    return add(name, offset, refType().id());
}

Hdf5Handle runType()
{
    return Compound(sizeof(RunRecord))
        .add("level", offsetof(RunRecord, level), namedEnum(trace::Level::Full).id())
        .add("logits_dtype", offsetof(RunRecord, logitsType), dtypeEnum().id())
        .u32("vocabulary", offsetof(RunRecord, vocabulary))
        .u32("top_k", offsetof(RunRecord, topK))
        .u32("asked", offsetof(RunRecord, asked))
        .u64("rows_per_chunk", offsetof(RunRecord, rowsPerChunk))
        .take();
}

Hdf5Handle tapType()
{
    return Compound(sizeof(TapRecord))
        .ref("name", offsetof(TapRecord, name))
        .i32("layer", offsetof(TapRecord, layer))
        .add("kind", offsetof(TapRecord, kind), namedEnum(trace::TapKind::RotaryTable).id())
        .add("dtype", offsetof(TapRecord, dtype), dtypeEnum().id())
        .boolean("inputs_complete", offsetof(TapRecord, inputsComplete))
        .boolean("reads_earlier_rows", offsetof(TapRecord, readsEarlierRows))
        .u32("width", offsetof(TapRecord, width))
        .u32("slots", offsetof(TapRecord, slots))
        .u64("inputs_begin", offsetof(TapRecord, inputsBegin))
        .u32("inputs_count", offsetof(TapRecord, inputsCount))
        .i32("rank", offsetof(TapRecord, rank))
        .boolean("partial", offsetof(TapRecord, partial))
        .boolean("tp_sensitive", offsetof(TapRecord, tpSensitive))
        .take();
}

Hdf5Handle routerType()
{
    return Compound(sizeof(RouterRecord))
        .ref("module", offsetof(RouterRecord, module))
        .i32("layer", offsetof(RouterRecord, layer))
        .u32("experts", offsetof(RouterRecord, experts))
        .u32("chosen", offsetof(RouterRecord, chosen))
        .add("logit_dtype", offsetof(RouterRecord, logitType), dtypeEnum().id())
        .add("weight_dtype", offsetof(RouterRecord, weightType), dtypeEnum().id())
        .boolean("has_scores", offsetof(RouterRecord, hasScores))
        .take();
}

Hdf5Handle environmentType()
{
    const auto number = [](FieldKind kind) { return static_cast<std::uint8_t>(kind); };
    return Compound(sizeof(EnvironmentRecord))
        .ref("key", offsetof(EnvironmentRecord, key))
        .add("kind", offsetof(EnvironmentRecord, kind),
             enumType({{"text", number(FieldKind::Text)},
                       {"integer", number(FieldKind::Integer)},
                       {"real", number(FieldKind::Real)},
                       {"boolean", number(FieldKind::Boolean)}})
                 .id())
        .ref("text", offsetof(EnvironmentRecord, text))
        .i64("integer", offsetof(EnvironmentRecord, integer))
        .f64("real", offsetof(EnvironmentRecord, real))
        .take();
}

Hdf5Handle sampleType()
{
    return Compound(sizeof(SampleRecord))
        .ref("id", offsetof(SampleRecord, id))
        .ref("category", offsetof(SampleRecord, category))
        .ref("text", offsetof(SampleRecord, text))
        .ref("label", offsetof(SampleRecord, label))
        .ref("replay_source", offsetof(SampleRecord, replaySource))
        .u64("choices_begin", offsetof(SampleRecord, choicesBegin))
        .u32("choices_count", offsetof(SampleRecord, choicesCount))
        .u32("repeat", offsetof(SampleRecord, repeat))
        .take();
}

Hdf5Handle tokenType()
{
    return Compound(sizeof(TokenRecord))
        .u32("sample", offsetof(TokenRecord, sample))
        .i32("id", offsetof(TokenRecord, id))
        .i64("text_offset", offsetof(TokenRecord, textOffset))
        .u64("bytes_offset", offsetof(TokenRecord, bytesOffset))
        .u32("bytes_length", offsetof(TokenRecord, bytesLength))
        .boolean("response", offsetof(TokenRecord, response))
        .take();
}

Hdf5Handle rowType()
{
    return Compound(sizeof(RowRecord))
        .u32("sample", offsetof(RowRecord, sample))
        .u32("position", offsetof(RowRecord, position))
        .u32("step", offsetof(RowRecord, step))
        .u32("batch_slot", offsetof(RowRecord, batchSlot))
        .i32("score_id", offsetof(RowRecord, scoreId))
        .i32("score_rank", offsetof(RowRecord, scoreRank))
        .f32("score_logit", offsetof(RowRecord, scoreLogit))
        .add("phase", offsetof(RowRecord, phase), namedEnum(trace::Phase::Prefix).id())
        .add("construction", offsetof(RowRecord, construction),
             namedEnum(trace::Construction::Steps).id())
        .f64("score_log_prob", offsetof(RowRecord, scoreLogProb))
        .u64("roll_up", offsetof(RowRecord, rollUp))
        .u64("side", offsetof(RowRecord, side))
        .take();
}

Hdf5Handle commitType()
{
    Compound type(sizeof(CommitRecord));
    std::size_t offset = 0;
    const auto add = [&](const std::string& name) {
        type.u64(name.c_str(), offset);
        offset += sizeof(std::uint64_t);
    };
    for (const char* name : {"sequence", "state", "expected_rows", "expected_exact", "file_bytes"})
        add(name);
    const std::vector<TableSpec> tables = runTables();
    for (std::size_t i = 0; i < countedTables; ++i) {
        add(tables[i].path.substr(1) + "_count");
        add(tables[i].path.substr(1) + "_digest");
    }
    for (const char* name : {"index_count", "index_digest", "digest"})
        add(name);
    return type.take();
}

Hdf5Handle recordType(std::uint32_t table)
{
    switch (table) {
    case Run:
        return runType();
    case Taps:
        return tapType();
    case Routers:
        return routerType();
    case EnvironmentFields:
        return environmentType();
    case Samples:
        return sampleType();
    case Choices:
        return refType();
    case Tokens:
        return tokenType();
    case Events:
        return Compound(sizeof(EventRecord))
            .u64("row", offsetof(EventRecord, row))
            .ref("kind", offsetof(EventRecord, kind))
            .ref("text", offsetof(EventRecord, text))
            .take();
    case Endings:
        return Compound(sizeof(EndingRecord))
            .u32("sample", offsetof(EndingRecord, sample))
            .ref("stop_reason", offsetof(EndingRecord, stopReason))
            .ref("prediction", offsetof(EndingRecord, prediction))
            .take();
    case Rows:
        return rowType();
    case Commits:
        return commitType();
    default:
        return Compound(sizeof(IndexRecord))
            .u32("table", offsetof(IndexRecord, table))
            .u32("records", offsetof(IndexRecord, records))
            .u64("address", offsetof(IndexRecord, address))
            .take();
    }
}

} // namespace

Hdf5Handle elementType(DType dtype)
{
    switch (dtype) {
    case DType::FP32:
        return ownType(H5Tcopy(H5T_IEEE_F32LE));
    case DType::FP64:
        return ownType(H5Tcopy(H5T_IEEE_F64LE));
    case DType::I8:
        return ownType(H5Tcopy(H5T_STD_I8LE));
    case DType::I16:
        return ownType(H5Tcopy(H5T_STD_I16LE));
    case DType::I32:
        return ownType(H5Tcopy(H5T_STD_I32LE));
    case DType::I64:
        return ownType(H5Tcopy(H5T_STD_I64LE));
    case DType::U8:
        return ownType(H5Tcopy(H5T_STD_U8LE));
    case DType::Bool:
        return booleanType();
    default:
        return floatType(dtype);
    }
}

Hdf5Handle elementType(const TableSpec& table)
{
    switch (table.element) {
    case ElementKind::Record:
        return recordType(table.number);
    case ElementKind::Counts:
        return Compound(sizeof(trace::Counts))
            .u32("finite", offsetof(trace::Counts, finite))
            .u32("nan", offsetof(trace::Counts, nan))
            .u32("infinite", offsetof(trace::Counts, infinite))
            .take();
    case ElementKind::Statistics:
        return Compound(sizeof(trace::Statistics))
            .f32("min", offsetof(trace::Statistics, min))
            .f32("max", offsetof(trace::Statistics, max))
            .f32("mean", offsetof(trace::Statistics, mean))
            .f32("l2", offsetof(trace::Statistics, l2))
            .take();
    case ElementKind::U32:
        return ownType(H5Tcopy(H5T_STD_U32LE));
    case ElementKind::U64:
        return ownType(H5Tcopy(H5T_STD_U64LE));
    case ElementKind::DType:
        break;
    }
    return elementType(table.dtype);
}

} // namespace moire::store
