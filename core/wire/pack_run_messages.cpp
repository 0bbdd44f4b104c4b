// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/protocol.h"
#include "core/wire/row_frames.h"
#include "core/wire/run_messages.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace moire::wire {

namespace {

Fields headerOf(const MessagePlace& place, std::string_view type)
{
    return {{"t", type}, {"run", place.run}, {"seq", place.sequence}};
}

Packed packed(const Fields& fields, std::vector<Frame> frames = {})
{
    return {Frame::of(encodeFields(fields)), std::move(frames)};
}

Fields environmentFields(const trace::Environment& environment)
{
    Fields list = Fields::array();
    for (const auto& [key, value] : environment.fields())
        list.push_back({key, std::visit([](const auto& held) { return Fields(held); }, value)});
    return list;
}

Fields tapFields(const trace::Tap& tap)
{
    Fields inputs = Fields::array();
    for (const trace::TapIndex input : tap.inputs)
        inputs.push_back(indexOf(input));
    return {{"name", tap.name},
            {"layer", tap.layer},
            {"kind", static_cast<unsigned>(tap.kind)},
            {"dtype", numeric::nameOf(tap.dtype)},
            {"width", tap.width},
            {"slots", tap.slots},
            {"inputs", std::move(inputs)},
            {"complete", tap.inputsComplete},
            {"earlier", tap.readsEarlierRows},
            {"rank", tap.rank},
            {"partial", tap.partial},
            {"sensitive", tap.tpSensitive}};
}

Fields routerFields(const trace::RouterLayer& router)
{
    return {{"module", router.module},
            {"layer", router.layer},
            {"experts", router.experts},
            {"chosen", router.chosen},
            {"logits", numeric::nameOf(router.logitType)},
            {"weights", numeric::nameOf(router.weightType)},
            {"scores", router.hasScores}};
}

/// Tokens of one kind; `response` says which when there are none.
Fields tokenFields(std::span<const trace::Token> tokens)
{
    Fields ids = Fields::array();
    Fields offsets = Fields::array();
    Fields ends = Fields::array();
    std::vector<std::uint8_t> bytes;
    for (const trace::Token& token : tokens) {
        ids.push_back(token.id);
        offsets.push_back(token.textOffset);
        bytes.insert(bytes.end(), token.bytes.begin(), token.bytes.end());
        ends.push_back(bytes.size());
    }
    return {{"ids", std::move(ids)},
            {"response", !tokens.empty() && tokens.front().response},
            {"offsets", std::move(offsets)},
            {"ends", std::move(ends)},
            {"bytes", Fields::binary(std::move(bytes))}};
}

/// The vocabulary as two frames: where each entry ends, and all their bytes.
std::vector<Frame> vocabularyFrames(const std::vector<std::string>& vocabulary)
{
    if (vocabulary.empty())
        return {};
    std::vector<std::byte> ends(vocabulary.size() * sizeof(std::uint64_t));
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        const auto entry = std::as_bytes(std::span(vocabulary[i]));
        bytes.insert(bytes.end(), entry.begin(), entry.end());
        const std::uint64_t end = bytes.size();
        std::memcpy(ends.data() + i * sizeof end, &end, sizeof end);
    }
    return {Frame::of(std::move(ends)), Frame::of(std::move(bytes))};
}

Frame recordsOf(const trace::RowBlock& block, std::size_t begin, std::size_t end)
{
    std::vector<std::byte> records((end - begin) * rowRecordBytes);
    for (std::size_t i = begin; i < end; ++i)
        writeRecord(block.rows[i],
                    std::span<std::byte, rowRecordBytes>(
                        records.data() + (i - begin) * rowRecordBytes, rowRecordBytes));
    return Frame::of(std::move(records));
}

/// [[kind, index, n]]: frames of one kind and following indices are said at once.
Fields layoutOf(const std::vector<RowFrame>& frames)
{
    Fields layout = Fields::array();
    for (std::size_t begin = 0, end = 0; begin < frames.size(); begin = end) {
        for (end = begin + 1; end < frames.size() && frames[end].kind == frames[begin].kind
                              && frames[end].index == frames[end - 1].index + 1;)
            ++end;
        layout.push_back({frames[begin].kind, frames[begin].index, end - begin});
    }
    return layout;
}

} // namespace

Packed packBegin(const MessagePlace& place, const trace::RunHeader& header, PlannedRows planned)
{
    Fields fields = headerOf(place, type::begin);
    fields["format"] = runFormat;
    fields["level"] = trace::nameOf(header.level);
    fields["environment"] = environmentFields(header.environment);
    fields["taps"] = Fields::array();
    for (const trace::Tap& tap : header.taps)
        fields["taps"].push_back(tapFields(tap));
    fields["routers"] = Fields::array();
    for (const trace::RouterLayer& router : header.routers)
        fields["routers"].push_back(routerFields(router));
    fields["logits"] = {{"vocabulary", header.logits.vocabulary},
                        {"top", header.logits.topK},
                        {"dtype", numeric::nameOf(header.logits.dtype)},
                        {"asked", header.logits.asked}};
    fields["planned"] = planned.rows;
    fields["exact"] = planned.exact;
    fields["vocabulary"] = header.vocabulary.size();
    return packed(fields, vocabularyFrames(header.vocabulary));
}

Packed packSample(const MessagePlace& place, trace::SampleIndex index, const trace::Sample& sample,
                  std::span<const trace::Token> prompt)
{
    Fields fields = headerOf(place, type::sample);
    fields["sample"] = indexOf(index);
    fields["name"] = sample.id;
    fields["repeat"] = sample.repeat;
    fields["category"] = sample.category;
    fields["text"] = sample.text;
    fields["choices"] = sample.choices;
    fields["label"] = sample.label;
    fields["replay"] = sample.replaySource;
    fields["tokens"] = tokenFields(prompt);
    return packed(fields);
}

Packed packTokens(const MessagePlace& place, trace::SampleIndex sample, std::uint32_t first,
                  std::span<const trace::Token> tokens)
{
    Fields fields = headerOf(place, type::tokens);
    fields["sample"] = indexOf(sample);
    fields["first"] = first;
    fields["tokens"] = tokenFields(tokens);
    return packed(fields);
}

Packed packRows(const MessagePlace& place, const trace::RunHeader& header,
                std::shared_ptr<const trace::RowBlock> block, std::size_t begin, std::size_t end,
                trace::RowIndex first, const ValueChoice& values)
{
    const std::vector<RowFrame> layout = rowFramesOf(header, values);
    Fields fields = headerOf(place, type::rows);
    fields["first"] = first + begin;
    fields["count"] = end - begin;
    fields["frames"] = layoutOf(layout);
    std::vector<Frame> frames;
    frames.reserve(layout.size());
    frames.push_back(recordsOf(*block, begin, end));
    for (std::size_t i = 1; i < layout.size(); ++i)
        frames.push_back(
            {block, bytesOf(*block, layout[i])
                        .subspan(begin * layout[i].rowBytes, (end - begin) * layout[i].rowBytes)});
    return packed(fields, std::move(frames));
}

Packed packEvent(const MessagePlace& place, const trace::Event& event)
{
    Fields fields = headerOf(place, type::event);
    fields["row"] = event.row;
    fields["kind"] = event.kind;
    fields["text"] = event.text;
    return packed(fields);
}

Packed packSampleEnd(const MessagePlace& place, trace::SampleIndex sample,
                     const std::string& stopReason, const std::string& prediction)
{
    Fields fields = headerOf(place, type::sampleEnd);
    fields["sample"] = indexOf(sample);
    fields["stop"] = stopReason;
    fields["prediction"] = prediction;
    return packed(fields);
}

Packed packFinish(const MessagePlace& place, const trace::Environment& closing)
{
    Fields fields = headerOf(place, type::finish);
    fields["environment"] = environmentFields(closing);
    return packed(fields);
}

Packed packBroken(const MessagePlace& place, std::string_view state, const std::string& sentence)
{
    Fields fields = headerOf(place, type::broken);
    fields["state"] = state;
    fields["sentence"] = sentence;
    return packed(fields);
}

Packed packGap(const std::string& run, const Gap& gap)
{
    Fields fields = headerOf({run, gap.from}, type::gap);
    fields["from"] = gap.from;
    fields["to"] = gap.to;
    fields["first"] = gap.firstRow;
    fields["count"] = gap.rows;
    fields["sentence"] = gap.sentence;
    return packed(fields);
}

std::size_t rowsPerMessage(const trace::RunHeader& header, const ValueChoice& values)
{
    std::uint64_t rowBytes = 0;
    for (const RowFrame& frame : rowFramesOf(header, values))
        rowBytes += frame.rowBytes;
    return std::max<std::uint64_t>(1, rowsMessageBytes / rowBytes);
}

} // namespace moire::wire
