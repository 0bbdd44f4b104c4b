// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/requests.h"

#include "core/wire/field_reader.h"
#include "core/wire/protocol.h"

#include <utility>

namespace moire::wire {

namespace {

constexpr auto fileKey = "file";

Fields toFields(const OptionValue& value)
{
    return std::visit(
        [](const auto& held) -> Fields {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, FilePlace>)
                return {{fileKey, held.place}};
            else
                return held;
        },
        value);
}

Result<OptionValue> toOption(const std::string& name, const Fields& field, std::size_t files)
{
    const Error wrong{Errc::Invalid,
                      "the option \"" + name + "\" has a value of no known kind",
                      {},
                      "Text, a number, a bool, a list of texts or {file: place} are taken"};
    if (field.is_string())
        return OptionValue(field.get<std::string>());
    if (field.is_boolean())
        return OptionValue(field.get<bool>());
    if (field.is_number_integer())
        return OptionValue(field.get<std::int64_t>());
    if (field.is_number_float())
        return OptionValue(field.get<double>());
    if (field.is_array()) {
        std::vector<std::string> texts;
        for (const Fields& entry : field) {
            if (!entry.is_string())
                return wrong;
            texts.push_back(entry.get<std::string>());
        }
        return OptionValue(std::move(texts));
    }
    if (field.is_binary()) {
        const auto& bytes = field.get_binary();
        return OptionValue(std::string(bytes.begin(), bytes.end()));
    }
    if (!field.is_object())
        return wrong;
    const auto place = integerField(field, fileKey, 0, static_cast<std::int64_t>(files) - 1);
    if (!place)
        return Error{
            Errc::Invalid, "the option \"" + name + "\" names a file that did not come", {}, {}};
    return OptionValue(FilePlace{static_cast<std::uint32_t>(*place)});
}

} // namespace

Message toMessage(const RunRequest& request, std::string_view type)
{
    Message message{{{"t", type},
                     {"model", request.model},
                     {"options", Fields::object()},
                     {"files", Fields::array()}},
                    {}};
    if (!request.ticket.empty())
        message.fields["ticket"] = request.ticket;
    for (const auto& [name, value] : request.options)
        message.fields["options"][name] = toFields(value);
    for (const NamedFile& file : request.files) {
        message.fields["files"].push_back(file.name);
        message.frames.push_back(file.content);
    }
    return message;
}

Result<RunRequest> toRunRequest(const Message& message)
{
    FieldReader reader(message.fields);
    RunRequest request;
    reader.read("model", request.model);
    if (message.fields.contains("ticket"))
        reader.read("ticket", request.ticket);
    if (!reader.sound())
        return reader.error();
    if (const auto files = message.fields.find("files"); files != message.fields.end()) {
        const auto names = textsField(message.fields, "files");
        if (!names)
            return names.error();
        if (names->size() != message.frames.size())
            return Error{Errc::Damaged, "a request names other files than came with it", {}, {}};
        for (std::size_t i = 0; i < names->size(); ++i)
            request.files.push_back({(*names)[i], message.frames[i]});
    }
    const auto options = message.fields.find("options");
    if (options == message.fields.end())
        return request;
    if (!options->is_object())
        return Error{Errc::Damaged, "a request's options are no map", {}, {}};
    for (const auto& [name, field] : options->items()) {
        auto value = toOption(name, field, request.files.size());
        if (!value)
            return value.error();
        request.options.emplace(name, std::move(*value));
    }
    return request;
}

Fields toFields(const ModelEntry& value)
{
    return {{"name", value.name},
            {"kind", value.kind},
            {"architecture", value.architecture},
            {"bytes", value.bytes},
            {"problem", value.problem}};
}

Result<ModelEntry> toModelEntry(const Fields& fields)
{
    ModelEntry value;
    return FieldReader(fields)
        .read("name", value.name)
        .read("kind", value.kind)
        .read("architecture", value.architecture)
        .read("bytes", value.bytes)
        .read("problem", value.problem)
        .result(std::move(value));
}

Fields toFields(const TapEntry& value)
{
    return {
        {"name", value.name}, {"dtype", value.dtype}, {"width", value.width}, {"kind", value.kind}};
}

Result<TapEntry> toTapEntry(const Fields& fields)
{
    TapEntry value;
    return FieldReader(fields)
        .read("name", value.name)
        .read("dtype", value.dtype)
        .read("width", value.width)
        .read("kind", value.kind)
        .result(std::move(value));
}

Fields toFields(const Estimate& value)
{
    return {{"t", type::estimate},      {"rows", value.rows}, {"bytes", value.bytes},
            {"seconds", value.seconds}, {"taps", value.taps}, {"samples", value.samples}};
}

Result<Estimate> toEstimate(const Fields& fields)
{
    Estimate value;
    return FieldReader(fields)
        .read("rows", value.rows)
        .read("bytes", value.bytes)
        .read("seconds", value.seconds)
        .read("taps", value.taps)
        .read("samples", value.samples)
        .result(std::move(value));
}

Fields toFields(const Queued& value)
{
    return {{"t", type::queued},
            {"run", value.run},
            {"place", value.place},
            {"rows", value.rows},
            {"bytes", value.bytes}};
}

Result<Queued> toQueued(const Fields& fields)
{
    Queued value;
    return FieldReader(fields)
        .read("run", value.run)
        .read("place", value.place)
        .read("rows", value.rows)
        .read("bytes", value.bytes)
        .result(std::move(value));
}

Fields toFields(const RunState& value)
{
    return {{"t", type::runState},        {"run", value.run},       {"model", value.model},
            {"state", value.state},       {"rows", value.rows},     {"planned", value.planned},
            {"messages", value.messages}, {"bytes", value.bytes},   {"place", value.place},
            {"seconds", value.seconds},   {"waited", value.waited}, {"spooled", value.spooled},
            {"sentence", value.sentence}};
}

Result<RunState> toRunState(const Fields& fields)
{
    RunState value;
    return FieldReader(fields)
        .read("run", value.run)
        .read("model", value.model)
        .read("state", value.state)
        .read("rows", value.rows)
        .read("planned", value.planned)
        .read("messages", value.messages)
        .read("bytes", value.bytes)
        .read("place", value.place)
        .read("seconds", value.seconds)
        .read("waited", value.waited)
        .read("spooled", value.spooled)
        .read("sentence", value.sentence)
        .result(std::move(value));
}

Fields toFields(const Feed& value)
{
    return {{"t", type::feed},         {"run", value.run}, {"sample", indexOf(value.sample)},
            {"first", value.first},    {"ids", value.ids}, {"end", value.end},
            {"stop", value.stopReason}};
}

Result<Feed> toFeed(const Fields& fields)
{
    Feed value;
    std::uint32_t sample = 0;
    FieldReader reader(fields);
    reader.read("run", value.run)
        .read("sample", sample)
        .read("first", value.first)
        .read("ids", value.ids)
        .read("end", value.end)
        .read("stop", value.stopReason);
    value.sample = trace::SampleIndex{sample};
    return reader.result(std::move(value));
}

Fields toFields(const DaemonStatus& value)
{
    return {{"t", type::status},
            {"program", value.program},
            {"epoch", value.epoch},
            {"uptime", value.uptime},
            {"state", value.state},
            {"run", value.run},
            {"queue", value.queue},
            {"clients", value.clients},
            {"streams", value.streams},
            {"held", value.held},
            {"hold-limit", value.holdLimit},
            {"spool", value.spool},
            {"spool-limit", value.spoolLimit},
            {"waited", value.waited},
            {"memory", value.memory},
            {"device", value.device},
            {"refusals", value.refusals}};
}

Result<DaemonStatus> toDaemonStatus(const Fields& fields)
{
    DaemonStatus value;
    return FieldReader(fields)
        .read("program", value.program)
        .read("epoch", value.epoch)
        .read("uptime", value.uptime)
        .read("state", value.state)
        .read("run", value.run)
        .read("queue", value.queue)
        .read("clients", value.clients)
        .read("streams", value.streams)
        .read("held", value.held)
        .read("hold-limit", value.holdLimit)
        .read("spool", value.spool)
        .read("spool-limit", value.spoolLimit)
        .read("waited", value.waited)
        .read("memory", value.memory)
        .read("device", value.device)
        .read("refusals", value.refusals)
        .result(std::move(value));
}

Fields toFields(const Welcome& value)
{
    return {{"t", type::welcome},       {"version", value.version},  {"program", value.program},
            {"epoch", value.epoch},     {"stream", value.stream},    {"data", value.data},
            {"session", value.session}, {"secure", value.secure},    {"streams", value.streams},
            {"message", value.message}, {"features", value.features}};
}

Result<Welcome> toWelcome(const Fields& fields)
{
    Welcome value;
    return FieldReader(fields)
        .read("version", value.version)
        .read("program", value.program)
        .read("epoch", value.epoch)
        .read("stream", value.stream)
        .read("data", value.data)
        .read("session", value.session)
        .read("secure", value.secure)
        .read("streams", value.streams)
        .read("message", value.message)
        .read("features", value.features)
        .result(std::move(value));
}

} // namespace moire::wire
