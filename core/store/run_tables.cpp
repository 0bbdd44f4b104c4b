// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/run_tables.h"

#include "core/base/checked.h"
#include "core/store/target_path.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace moire::store {

namespace {

/// Decodes the tables one after another. What is found wrong is kept, the first counts; after it
/// nothing more is read.
class Decoder
{
public:
    explicit Decoder(CaptureFile& file)
        : m_file(file)
        , m_specs(runTables())
        , m_textBudget(file.size())
    {}

    Result<RunTables> decode()
    {
        m_text = bytesOf(Text);
        decodeRun();
        decodeTaps();
        decodeRouters();
        decodeEnvironment();
        if (!m_error)
            if (auto checked = checkHeader(m_tables.header); !checked)
                fail(m_specs[Taps], checked.error().sentence);
        decodeSamples();
        decodeTokens();
        decodeEvents();
        decodeEndings();
        if (m_error)
            return *m_error;
        return std::move(m_tables);
    }

private:
    void fail(const TableSpec& table, const std::string& sentence)
    {
        if (!m_error)
            m_error = m_file.damaged(sentence, table.path);
    }

    std::vector<std::byte> bytesOf(std::size_t table)
    {
        if (m_error)
            return {};
        auto bytes = m_file.records(m_specs[table]);
        if (bytes)
            return std::move(*bytes);
        m_error = bytes.error();
        return {};
    }

    /// Calls `use` with every record of a table until something is wrong.
    template <class Record, class Use>
    void forEach(std::size_t table, Use&& use)
    {
        const std::vector<std::byte> bytes = bytesOf(table);
        m_current = table;
        for (std::size_t at = 0; at < bytes.size() && !m_error; at += sizeof(Record)) {
            Record record;
            std::memcpy(&record, bytes.data() + at, sizeof record);
            use(record);
        }
    }

    /// Texts may be shared, but all together they are no longer than the file: so a small file
    /// cannot ask for much memory.
    std::string text(TextRef ref)
    {
        if (!base::rangeFits(ref.offset, ref.length, m_text.size()) || ref.length > m_textBudget) {
            fail(m_specs[m_current], "a text lies outside /text");
            return {};
        }
        m_textBudget -= ref.length;
        return {reinterpret_cast<const char*>(m_text.data()) + ref.offset,
                static_cast<std::size_t>(ref.length)};
    }

    template <class T>
    T known(std::optional<T> value, const char* what)
    {
        if (!value)
            fail(m_specs[m_current], std::string("holds an unknown ") + what);
        return value.value_or(T{});
    }
    numeric::DType dtype(std::uint8_t number)
    {
        const auto found = numeric::dtypeFromNumber(number);
        if (!found)
            fail(m_specs[m_current], "holds an unknown element type");
        return found.value_or(numeric::DType::FP32);
    }

    void decodeRun();
    void decodeTaps();
    void decodeRouters();
    void decodeEnvironment();
    void decodeSamples();
    void decodeTokens();
    void decodeEvents();
    void decodeEndings();

    CaptureFile& m_file;
    std::vector<TableSpec> m_specs;
    std::vector<std::byte> m_text;
    std::uint64_t m_textBudget;
    std::size_t m_current = 0; ///< table being decoded
    RunTables m_tables;
    std::optional<Error> m_error;
};

void Decoder::decodeRun()
{
    std::size_t records = 0;
    forEach<RunRecord>(Run, [&](const RunRecord& record) {
        ++records;
        m_tables.header.level = known(trace::levelFromNumber(record.level), "level");
        m_tables.header.logits = {record.vocabulary, record.topK, dtype(record.logitsType),
                                  record.asked};
        m_tables.rowsPerChunk = record.rowsPerChunk;
    });
    if (records != 1 || m_tables.rowsPerChunk == 0)
        fail(m_specs[Run], "does not have its one record");
}

void Decoder::decodeTaps()
{
    const std::vector<std::byte> inputs = bytesOf(TapInputs);
    std::uint64_t inputBudget = inputs.size() / sizeof(std::uint32_t);
    const std::uint64_t inputCount = inputBudget;
    forEach<TapRecord>(Taps, [&](const TapRecord& record) {
        trace::Tap tap;
        tap.name = text(record.name);
        tap.layer = record.layer;
        tap.kind = known(trace::tapKindFromNumber(record.kind), "kind of tap");
        tap.dtype = dtype(record.dtype);
        tap.width = record.width;
        tap.slots = record.slots;
        tap.inputsComplete = record.inputsComplete != 0;
        tap.readsEarlierRows = record.readsEarlierRows != 0;
        tap.rank = record.rank;
        tap.partial = record.partial != 0;
        tap.tpSensitive = record.tpSensitive != 0;
        if (!base::rangeFits(record.inputsBegin, record.inputsCount, inputCount)
            || record.inputsCount > inputBudget)
            return fail(m_specs[Taps], "names inputs outside /tap_inputs");
        inputBudget -= record.inputsCount;
        tap.inputs.resize(record.inputsCount);
        if (!tap.inputs.empty())
            std::memcpy(tap.inputs.data(),
                        inputs.data() + record.inputsBegin * sizeof(std::uint32_t),
                        tap.inputs.size() * sizeof(std::uint32_t));
        m_tables.header.taps.push_back(std::move(tap));
    });
}

void Decoder::decodeRouters()
{
    forEach<RouterRecord>(Routers, [&](const RouterRecord& record) {
        trace::RouterLayer router;
        router.module = text(record.module);
        router.layer = record.layer;
        router.experts = record.experts;
        router.chosen = record.chosen;
        router.logitType = dtype(record.logitType);
        router.weightType = dtype(record.weightType);
        router.hasScores = record.hasScores != 0;
        m_tables.header.routers.push_back(std::move(router));
    });
}

void Decoder::decodeEnvironment()
{
    forEach<EnvironmentRecord>(EnvironmentFields, [&](const EnvironmentRecord& record) {
        const std::string key = text(record.key);
        trace::Environment& environment = m_tables.header.environment;
        switch (record.kind) {
        case static_cast<std::uint8_t>(FieldKind::Text):
            return environment.set(key, text(record.text));
        case static_cast<std::uint8_t>(FieldKind::Integer):
            return environment.set(key, record.integer);
        case static_cast<std::uint8_t>(FieldKind::Real):
            return environment.set(key, record.real);
        case static_cast<std::uint8_t>(FieldKind::Boolean):
            return environment.set(key, record.integer != 0);
        default:
            return fail(m_specs[EnvironmentFields], "holds an unknown kind of field");
        }
    });
}

void Decoder::decodeSamples()
{
    std::vector<std::string> choices;
    forEach<TextRef>(Choices, [&](const TextRef& ref) { choices.push_back(text(ref)); });
    std::uint64_t choiceBudget = choices.size();
    forEach<SampleRecord>(Samples, [&](const SampleRecord& record) {
        trace::Sample sample;
        sample.id = text(record.id);
        sample.repeat = record.repeat;
        sample.category = text(record.category);
        sample.text = text(record.text);
        sample.label = text(record.label);
        sample.replaySource = text(record.replaySource);
        if (!base::rangeFits(record.choicesBegin, record.choicesCount, choices.size())
            || record.choicesCount > choiceBudget)
            return fail(m_specs[Samples], "names choices outside /choices");
        choiceBudget -= record.choicesCount;
        const auto first = choices.begin() + static_cast<std::ptrdiff_t>(record.choicesBegin);
        sample.choices.assign(first, first + record.choicesCount);
        m_tables.samples.push_back(std::move(sample));
    });
}

void Decoder::decodeTokens()
{
    m_tables.tokens.resize(m_tables.samples.size());
    std::vector<std::string>& vocabulary = m_tables.header.vocabulary;
    forEach<TokenRecord>(Tokens, [&](const TokenRecord& record) {
        if (record.sample == noSample) {
            if (record.id < 0 || static_cast<std::size_t>(record.id) != vocabulary.size())
                return fail(m_specs[Tokens],
                            "holds a vocabulary that is not in the order of its ids");
            return vocabulary.push_back(text({record.bytesOffset, record.bytesLength}));
        }
        if (record.sample >= m_tables.samples.size())
            return fail(m_specs[Tokens], "names a sample that is not there");
        trace::Token token;
        token.id = record.id;
        token.response = record.response != 0;
        token.textOffset = record.textOffset;
        token.bytes = text({record.bytesOffset, record.bytesLength});
        m_tables.tokens[record.sample].push_back(std::move(token));
    });
}

void Decoder::decodeEvents()
{
    forEach<EventRecord>(Events, [&](const EventRecord& record) {
        trace::Event event;
        event.row = record.row;
        event.kind = text(record.kind);
        event.text = text(record.text);
        m_tables.events.push_back(std::move(event));
    });
}

void Decoder::decodeEndings()
{
    forEach<EndingRecord>(Endings, [&](const EndingRecord& record) {
        if (record.sample >= m_tables.samples.size())
            return fail(m_specs[Endings], "names a sample that is not there");
        trace::Sample& sample = m_tables.samples[record.sample];
        sample.stopReason = text(record.stopReason);
        sample.prediction = text(record.prediction);
    });
}

} // namespace

Result<RunTables> readRunTables(CaptureFile& file)
{
    return Decoder(file).decode();
}

} // namespace moire::store
