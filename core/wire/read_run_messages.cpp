// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/checked.h"
#include "core/numeric/digest.h"
#include "core/wire/field_reader.h"
#include "core/wire/protocol.h"
#include "core/wire/row_frames.h"
#include "core/wire/run_messages.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace moire::wire {

namespace {

Error damaged(const std::string& sentence)
{
    return {Errc::Damaged, sentence, {}, {}};
}

Result<trace::Environment> environmentOf(const Fields& fields)
{
    const auto list = listField(fields, "environment");
    if (!list)
        return list.error();
    trace::Environment environment;
    for (const Fields& entry : **list) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string())
            return damaged("an environment has an entry that is no pair of key and value");
        const auto& key = entry[0].get_ref<const std::string&>();
        const Fields& value = entry[1];
        if (value.is_boolean())
            environment.set(key, value.get<bool>());
        else if (value.is_number_integer())
            environment.set(key, value.get<std::int64_t>());
        else if (value.is_number_float())
            environment.set(key, value.get<double>());
        else if (value.is_string())
            environment.set(key, value.get<std::string>());
        else if (value.is_binary())
            environment.set(key, std::string(value.get_binary().begin(), value.get_binary().end()));
        else
            return damaged("the environment's \"" + key + "\" has a value of no known kind");
    }
    return environment;
}

/// Fields that hold a word or number of the file format.
void readDType(FieldReader& reader, const char* name, numeric::DType& to)
{
    std::string word;
    reader.read(name, word);
    if (!reader.sound())
        return;
    if (const auto dtype = numeric::dtypeFromName(word))
        to = *dtype;
    else
        reader.fail(damaged("a dtype is called \"" + word + '"'));
}

Result<trace::Tap> tapOf(const Fields& fields, std::size_t taps)
{
    trace::Tap tap;
    std::uint32_t kind = 0;
    std::vector<std::uint32_t> inputs;
    FieldReader reader(fields);
    readDType(reader, "dtype", tap.dtype);
    reader.read("name", tap.name)
        .read("layer", tap.layer)
        .read("kind", kind)
        .read("width", tap.width)
        .read("slots", tap.slots)
        .read("inputs", inputs)
        .read("complete", tap.inputsComplete)
        .read("earlier", tap.readsEarlierRows)
        .read("rank", tap.rank)
        .read("partial", tap.partial)
        .read("sensitive", tap.tpSensitive);
    if (const auto known = trace::tapKindFromNumber(kind))
        tap.kind = *known;
    else
        reader.fail(damaged("a tap has a kind of no meaning"));
    for (const std::uint32_t input : inputs) {
        if (input >= taps)
            reader.fail(damaged("a tap reads another that is not there"));
        tap.inputs.push_back(trace::TapIndex{input});
    }
    return reader.result(std::move(tap));
}

Result<trace::RouterLayer> routerOf(const Fields& fields)
{
    trace::RouterLayer router;
    FieldReader reader(fields);
    readDType(reader, "logits", router.logitType);
    readDType(reader, "weights", router.weightType);
    return reader.read("module", router.module)
        .read("layer", router.layer)
        .read("experts", router.experts)
        .read("chosen", router.chosen)
        .read("scores", router.hasScores)
        .result(std::move(router));
}

Result<std::vector<std::string>> vocabularyOf(const Message& message)
{
    std::uint32_t count = 0;
    FieldReader reader(message.fields);
    if (!reader.read("vocabulary", count).sound())
        return reader.error();
    std::vector<std::string> vocabulary;
    if (count == 0)
        return vocabulary;
    if (message.frames.size() != 2 || message.frames[0].size() != count * sizeof(std::uint64_t))
        return damaged("a vocabulary has frames of the wrong size");
    const std::span<const std::byte> bytes = message.frames[1].bytes;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t end = 0;
        std::memcpy(&end, message.frames[0].bytes.data() + i * sizeof end, sizeof end);
        if (end < begin || end > bytes.size())
            return damaged("a vocabulary's entries do not follow each other");
        vocabulary.emplace_back(reinterpret_cast<const char*>(bytes.data()) + begin, end - begin);
        begin = end;
    }
    return vocabulary;
}

Result<RunMessage> beginOf(const Message& message)
{
    const Fields& fields = message.fields;
    Begin begin;
    int format = 0;
    std::string level;
    FieldReader reader(fields);
    reader.read("format", format)
        .read("level", level)
        .read("planned", begin.planned.rows)
        .read("exact", begin.planned.exact);
    if (!reader.sound())
        return reader.error();
    if (format != runFormat)
        return Error{Errc::Unsupported,
                     "the run has format " + std::to_string(format) + " on the wire, known is "
                         + std::to_string(runFormat),
                     {},
                     "Take the same version of moire on both sides"};
    const auto knownLevel = trace::levelFromName(level);
    if (!knownLevel)
        return damaged("the run has a level of no meaning");
    begin.header.level = *knownLevel;
    auto environment = environmentOf(fields);
    const auto taps = listField(fields, "taps");
    const auto routers = listField(fields, "routers");
    auto vocabulary = vocabularyOf(message);
    const auto logits = fields.find("logits");
    if (!environment)
        return environment.error();
    if (!taps)
        return taps.error();
    if (!routers)
        return routers.error();
    if (!vocabulary)
        return vocabulary.error();
    if (logits == fields.end())
        return damaged("the message \"begin\" has no map \"logits\"");
    begin.header.environment = std::move(*environment);
    begin.header.vocabulary = std::move(*vocabulary);
    for (const Fields& entry : **taps) {
        auto tap = tapOf(entry, (*taps)->size());
        if (!tap)
            return tap.error();
        begin.header.taps.push_back(std::move(*tap));
    }
    for (const Fields& entry : **routers) {
        auto router = routerOf(entry);
        if (!router)
            return router.error();
        begin.header.routers.push_back(std::move(*router));
    }
    trace::LogitsInfo& info = begin.header.logits;
    FieldReader logitsReader(*logits);
    readDType(logitsReader, "dtype", info.dtype);
    logitsReader.read("vocabulary", info.vocabulary)
        .read("top", info.topK)
        .read("asked", info.asked);
    if (!logitsReader.sound())
        return logitsReader.error();
    return RunMessage(std::move(begin));
}

Result<std::vector<trace::Token>> tokensOf(const Fields& fields)
{
    const auto found = fields.find("tokens");
    if (found == fields.end())
        return damaged("a message has no map \"tokens\"");
    std::vector<std::int32_t> ids;
    std::vector<std::int64_t> offsets;
    std::vector<std::uint64_t> ends;
    bool response = false;
    FieldReader reader(*found);
    reader.read("ids", ids).read("offsets", offsets).read("ends", ends).read("response", response);
    if (!reader.sound())
        return reader.error();
    const auto bytes = bytesField(*found, "bytes");
    if (!bytes)
        return bytes.error();
    if (offsets.size() != ids.size() || ends.size() != ids.size())
        return damaged("tokens come with lists of different lengths");
    std::vector<trace::Token> tokens;
    tokens.reserve(ids.size());
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ends[i] < begin || ends[i] > bytes->size())
            return damaged("the bytes of tokens do not follow each other");
        tokens.push_back({.id = ids[i],
                          .response = response,
                          .textOffset = offsets[i],
                          .bytes = bytes->substr(begin, ends[i] - begin)});
        begin = ends[i];
    }
    return tokens;
}

Result<RunMessage> sampleOf(const Message& message)
{
    SampleBegin begin;
    std::uint32_t index = 0;
    FieldReader reader(message.fields);
    reader.read("sample", index)
        .read("name", begin.sample.id)
        .read("repeat", begin.sample.repeat)
        .read("category", begin.sample.category)
        .read("text", begin.sample.text)
        .read("choices", begin.sample.choices)
        .read("label", begin.sample.label)
        .read("replay", begin.sample.replaySource);
    if (!reader.sound())
        return reader.error();
    auto prompt = tokensOf(message.fields);
    if (!prompt)
        return prompt.error();
    begin.index = trace::SampleIndex{index};
    begin.prompt = std::move(*prompt);
    return RunMessage(std::move(begin));
}

Result<RunMessage> addedTokensOf(const Message& message)
{
    TokensAdded added;
    std::uint32_t index = 0;
    FieldReader reader(message.fields);
    if (!reader.read("sample", index).read("first", added.first).sound())
        return reader.error();
    auto tokens = tokensOf(message.fields);
    if (!tokens)
        return tokens.error();
    added.sample = trace::SampleIndex{index};
    added.tokens = std::move(*tokens);
    return RunMessage(std::move(added));
}

/// What `frames` lists, an entry a frame.
Result<std::vector<std::pair<std::string, std::uint32_t>>> layoutOf(const Message& message)
{
    const auto list = listField(message.fields, "frames");
    if (!list)
        return list.error();
    std::vector<std::pair<std::string, std::uint32_t>> layout;
    for (const Fields& entry : **list) {
        const bool sound = entry.is_array() && entry.size() == 3 && entry[0].is_string()
                           && entry[1].is_number_unsigned() && entry[2].is_number_unsigned();
        const std::uint64_t first = sound ? entry[1].get<std::uint64_t>() : 0;
        const std::uint64_t count = sound ? entry[2].get<std::uint64_t>() : 0;
        if (!sound || first >= maxFrames || count > message.frames.size() - layout.size())
            return damaged("rows come with a list of frames that makes no sense");
        for (std::uint64_t i = 0; i < count; ++i)
            layout.emplace_back(entry[0].get<std::string>(), static_cast<std::uint32_t>(first + i));
    }
    if (layout.size() != message.frames.size())
        return damaged("rows come with other frames than they name");
    return layout;
}

Result<std::vector<trace::Row>> recordsOf(std::span<const std::byte> bytes)
{
    std::vector<trace::Row> rows;
    rows.reserve(bytes.size() / rowRecordBytes);
    for (; !bytes.empty(); bytes = bytes.subspan(rowRecordBytes)) {
        auto row = readRecord(bytes.first<rowRecordBytes>());
        if (!row)
            return row.error();
        rows.push_back(*row);
    }
    return rows;
}

Result<void> checkRollUps(const trace::RowBlock& block, std::size_t taps, trace::RowIndex first)
{
    for (std::size_t r = 0; r < block.rows.size(); ++r)
        if (numeric::wordsDigest(block.digests.data() + r * taps, taps) != block.rows[r].rollUp)
            return damaged("row " + std::to_string(first + r)
                           + " has tap digests that are not those of its roll-up");
    return {};
}

Result<RunMessage> rowsOf(const Message& message, const trace::RunHeader& header)
{
    RowsAdded added;
    std::uint32_t count = 0;
    FieldReader reader(message.fields);
    if (!reader.read("first", added.first).read("count", count).sound())
        return reader.error();
    const auto layout = layoutOf(message);
    if (!layout)
        return layout.error();
    std::map<std::pair<std::string_view, std::uint32_t>, const RowFrame*> expected;
    const std::vector<RowFrame> known = rowFramesOf(header, {});
    for (const RowFrame& frame : known)
        expected.emplace(std::pair(frame.kind, frame.index), &frame);
    added.block.values.resize(header.taps.size());
    added.block.routing.resize(header.routers.size());
    for (std::size_t i = 0; i < layout->size(); ++i) {
        const auto& [kind, index] = (*layout)[i];
        const auto found = expected.find({kind, index});
        const std::string name = '"' + kind + "\" " + std::to_string(index);
        if (found == expected.end())
            return damaged("rows come with a frame " + name + " that is unknown or comes twice");
        const RowFrame& frame = *found->second;
        expected.erase(found);
        const std::span<const std::byte> bytes = message.frames[i].bytes;
        const auto size = base::checkedMultiply(frame.rowBytes, count);
        if (!size || bytes.size() != *size)
            return damaged("rows come with a frame " + name + " of the wrong size");
        if (frame.kind != frame::rows) {
            setBytes(added.block, frame, bytes);
            continue;
        }
        auto rows = recordsOf(bytes);
        if (!rows)
            return rows.error();
        added.block.rows = std::move(*rows);
    }
    for (const auto& [place, frame] : expected)
        if (frame->kind != frame::values && frame->rowBytes > 0)
            return damaged("rows come without their frame \"" + std::string(frame->kind) + "\" "
                           + std::to_string(frame->index));
    if (auto checked = checkRollUps(added.block, header.taps.size(), added.first); !checked)
        return checked.error();
    return RunMessage(std::move(added));
}

Result<RunMessage> sampleEndOf(const Message& message)
{
    SampleEnd end;
    std::uint32_t index = 0;
    FieldReader reader(message.fields);
    reader.read("sample", index).read("stop", end.stopReason).read("prediction", end.prediction);
    end.sample = trace::SampleIndex{index};
    if (!reader.sound())
        return reader.error();
    return RunMessage(std::move(end));
}

Result<RunMessage> gapOf(const Message& message)
{
    Gap gap;
    FieldReader reader(message.fields);
    reader.read("from", gap.from)
        .read("to", gap.to)
        .read("first", gap.firstRow)
        .read("count", gap.rows)
        .read("sentence", gap.sentence);
    if (!reader.sound())
        return reader.error();
    if (gap.to <= gap.from)
        return damaged("a gap ends before it begins");
    return RunMessage(std::move(gap));
}

} // namespace

Result<MessagePlace> placeOf(const Message& message)
{
    MessagePlace place;
    return FieldReader(message.fields)
        .read("run", place.run)
        .read("seq", place.sequence)
        .result(std::move(place));
}

Result<RunMessage> readRunMessage(const Message& message, const trace::RunHeader* header)
{
    const std::string_view kind = message.type();
    FieldReader reader(message.fields);
    if (kind == type::begin)
        return beginOf(message);
    if (header == nullptr)
        return damaged("a run's messages come before its \"begin\"");
    if (kind == type::rows)
        return rowsOf(message, *header);
    if (kind == type::tokens)
        return addedTokensOf(message);
    if (kind == type::sample)
        return sampleOf(message);
    if (kind == type::sampleEnd)
        return sampleEndOf(message);
    if (kind == type::gap)
        return gapOf(message);
    if (kind == type::event) {
        trace::Event event;
        reader.read("row", event.row).read("kind", event.kind).read("text", event.text);
        return reader.result(RunMessage(std::move(event)));
    }
    if (kind == type::broken) {
        Broken broken;
        reader.read("state", broken.state).read("sentence", broken.sentence);
        return reader.result(RunMessage(std::move(broken)));
    }
    if (kind != type::finish)
        return damaged("a run has a message of the unknown type \"" + std::string(kind) + '"');
    auto closing = environmentOf(message.fields);
    if (!closing)
        return closing.error();
    return RunMessage(Finish{std::move(*closing)});
}

} // namespace moire::wire
