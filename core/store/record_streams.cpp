// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/record_streams.h"

#include <variant>

namespace moire::store {

namespace {

std::uint8_t flag(bool value)
{
    return value ? 1 : 0;
}

template <class Enum>
std::uint8_t number(Enum value)
{
    return static_cast<std::uint8_t>(value);
}

} // namespace

RecordStreams::RecordStreams()
    : m_tables(runTables())
{}

void RecordStreams::addBytes(std::size_t table, const std::byte* bytes, std::size_t size)
{
    const TableSpec& spec = m_tables[table];
    Stream& stream = m_streams[table];
    const std::uint64_t before = stream.total.count * spec.recordBytes / spec.digestBytes;
    stream.total.digest += digestFrom(bytes, size, spec.digestBytes, before);
    stream.total.count += size / spec.recordBytes;
    stream.gathered.insert(stream.gathered.end(), bytes, bytes + size);
}

TextRef RecordStreams::addText(std::string_view text)
{
    if (text.empty())
        return {0, 0};
    const TextRef ref{m_streams[Text].total.count, text.size()};
    addBytes(Text, reinterpret_cast<const std::byte*>(text.data()), text.size());
    return ref;
}

void RecordStreams::addHeader(const trace::RunHeader& header, std::uint64_t rowsPerChunk)
{
    add(Run, RunRecord{number(header.level),
                       number(header.logits.dtype),
                       {},
                       header.logits.vocabulary,
                       header.logits.topK,
                       header.logits.asked,
                       rowsPerChunk});
    for (const trace::Tap& tap : header.taps) {
        const std::uint64_t inputsBegin = m_streams[TapInputs].total.count;
        for (const trace::TapIndex input : tap.inputs)
            add(TapInputs, static_cast<std::uint32_t>(input));
        add(Taps, TapRecord{addText(tap.name),
                            tap.layer,
                            number(tap.kind),
                            number(tap.dtype),
                            flag(tap.inputsComplete),
                            flag(tap.readsEarlierRows),
                            tap.width,
                            tap.slots,
                            inputsBegin,
                            static_cast<std::uint32_t>(tap.inputs.size()),
                            tap.rank,
                            flag(tap.partial),
                            flag(tap.tpSensitive),
                            {}});
    }
    for (const trace::RouterLayer& router : header.routers)
        add(Routers, RouterRecord{addText(router.module), router.layer, router.experts,
                                  router.chosen, number(router.logitType),
                                  number(router.weightType), flag(router.hasScores), 0});
    for (std::size_t id = 0; id < header.vocabulary.size(); ++id)
        addToken(noSample,
                 trace::Token{static_cast<std::int32_t>(id), false, -1, header.vocabulary[id]});
    addEnvironment(header.environment);
}

void RecordStreams::addEnvironment(const trace::Environment& environment)
{
    for (const auto& [key, value] : environment.fields()) {
        EnvironmentRecord record{addText(key), 0, {}, {}, 0, 0};
        if (const auto* text = std::get_if<std::string>(&value)) {
            record.kind = number(FieldKind::Text);
            record.text = addText(*text);
        } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
            record.kind = number(FieldKind::Integer);
            record.integer = *integer;
        } else if (const auto* real = std::get_if<double>(&value)) {
            record.kind = number(FieldKind::Real);
            record.real = *real;
        } else {
            record.kind = number(FieldKind::Boolean);
            record.integer = std::get<bool>(value) ? 1 : 0;
        }
        add(EnvironmentFields, record);
    }
}

void RecordStreams::addSample(const trace::Sample& sample)
{
    const std::uint64_t choicesBegin = m_streams[Choices].total.count;
    for (const std::string& choice : sample.choices)
        add(Choices, addText(choice));
    add(Samples, SampleRecord{addText(sample.id), addText(sample.category), addText(sample.text),
                              addText(sample.label), addText(sample.replaySource), choicesBegin,
                              static_cast<std::uint32_t>(sample.choices.size()), sample.repeat});
}

void RecordStreams::addTokens(trace::SampleIndex sample, const std::vector<trace::Token>& tokens)
{
    for (const trace::Token& token : tokens)
        addToken(static_cast<std::uint32_t>(sample), token);
}

void RecordStreams::addToken(std::uint32_t sample, const trace::Token& token)
{
    const TextRef bytes = addText(token.bytes);
    add(Tokens, TokenRecord{sample,
                            token.id,
                            token.textOffset,
                            bytes.offset,
                            static_cast<std::uint32_t>(bytes.length),
                            flag(token.response),
                            {}});
}

void RecordStreams::addEvent(const trace::Event& event)
{
    add(Events, EventRecord{event.row, addText(event.kind), addText(event.text)});
}

void RecordStreams::addEnding(trace::SampleIndex sample, std::string_view stopReason,
                              std::string_view prediction)
{
    add(Endings, EndingRecord{static_cast<std::uint32_t>(sample), 0, addText(stopReason),
                              addText(prediction)});
}

std::size_t RecordStreams::gatheredBytes() const
{
    std::size_t bytes = 0;
    for (const Stream& stream : m_streams)
        bytes += stream.gathered.size();
    return bytes;
}

} // namespace moire::store
