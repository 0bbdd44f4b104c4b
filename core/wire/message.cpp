// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/wire/message.h"

#include "core/base/text.h"
#include "core/wire/cbor_scan.h"
#include "core/wire/protocol.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace moire::wire {

const MessageLimits clientLimits{maxHeaderBytes, maxHeaderItems, maxFrameBytes, maxFrames};
const MessageLimits daemonLimits{maxRequestHeaderBytes, maxRequestHeaderItems, maxRequestFrameBytes,
                                 maxFrames};

namespace {

struct ReasonOfCode
{
    Errc code;
    std::string_view reason;
};

/// The first of a code is what it is sent as, the first of a reason what it is read as.
constexpr std::array reasonsOfCodes{
    ReasonOfCode{Errc::NotFound, reason::notFound},
    ReasonOfCode{Errc::Invalid, reason::invalid},
    ReasonOfCode{Errc::Damaged, reason::invalid},
    ReasonOfCode{Errc::Unsupported, reason::unsupported},
    ReasonOfCode{Errc::Unsupported, reason::version},
    ReasonOfCode{Errc::NoSpace, reason::noSpace},
    ReasonOfCode{Errc::Invalid, reason::tooLarge},
    ReasonOfCode{Errc::Io, reason::notAuthorised},
    ReasonOfCode{Errc::Io, reason::busy},
    ReasonOfCode{Errc::Io, reason::noHello},
    ReasonOfCode{Errc::Cancelled, reason::stopping},
};

Error lacking(const Fields& fields, const char* name, const char* what)
{
    std::string message = "a message";
    if (const auto found = fields.find("t"); found != fields.end() && found->is_string())
        message = "the message \"" + base::visibleText(found->get_ref<const std::string&>()) + '"';
    return {Errc::Damaged, message + " has no " + what + " \"" + name + '"', {}, {}};
}

Result<const Fields*> fieldOf(const Fields& fields, const char* name, const char* what)
{
    if (fields.is_object())
        if (const auto found = fields.find(name); found != fields.end())
            return &*found;
    return lacking(fields, name, what);
}

bool isEncodable(const Fields& fields)
{
    if (fields.is_string())
        return base::isValidUtf8(fields.get_ref<const std::string&>());
    return !fields.is_structured() || std::all_of(fields.begin(), fields.end(), isEncodable);
}

/// Text as JSON holds it: a byte string where it is not UTF-8, which CBOR's text has to be.
void makeEncodable(Fields& fields)
{
    if (fields.is_string()) {
        const std::string& text = fields.get_ref<const std::string&>();
        if (!base::isValidUtf8(text))
            fields = Fields::binary({text.begin(), text.end()});
    } else if (fields.is_structured()) {
        for (Fields& field : fields)
            makeEncodable(field);
    }
}

std::optional<std::string> stringOf(const Fields& field)
{
    if (field.is_string())
        return field.get<std::string>();
    if (!field.is_binary())
        return std::nullopt;
    const auto& bytes = field.get_binary();
    return std::string(bytes.begin(), bytes.end());
}

std::optional<std::int64_t> integerOf(const Fields& field, std::int64_t least, std::int64_t most)
{
    if (!field.is_number_integer())
        return std::nullopt;
    const auto value = field.get<std::int64_t>(); // the scan has kept it within 64 bits
    if (value < least || value > most)
        return std::nullopt;
    return value;
}

} // namespace

Frame Frame::of(std::vector<std::byte> bytes)
{
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {owner, *owner};
}

std::size_t Packed::bytes() const
{
    std::size_t sum = header.size();
    for (const Frame& frame : frames)
        sum += frame.size();
    return sum;
}

std::string_view Message::type() const
{
    if (!fields.is_object())
        return {};
    const auto found = fields.find("t");
    return found != fields.end() && found->is_string()
               ? std::string_view(found->get_ref<const std::string&>())
               : std::string_view();
}

std::vector<std::byte> encodeFields(const Fields& fields)
{
    std::vector<std::uint8_t> cbor;
    if (isEncodable(fields)) {
        Fields::to_cbor(fields, cbor);
    } else {
        Fields encodable = fields;
        makeEncodable(encodable);
        Fields::to_cbor(encodable, cbor);
    }
    const auto bytes = std::as_bytes(std::span(cbor));
    return {bytes.begin(), bytes.end()};
}

Result<Fields> decodeFields(std::span<const std::byte> cbor, const MessageLimits& limits)
{
    if (cbor.size() > limits.headerBytes)
        return Error{Errc::Invalid,
                     "a message's header is larger than " + std::to_string(limits.headerBytes)
                         + " bytes",
                     {},
                     {}};
    if (auto sound = scanCbor(cbor, limits.headerItems); !sound)
        return sound.error();
    const auto* begin = reinterpret_cast<const std::uint8_t*>(cbor.data());
    Fields fields = Fields::from_cbor(begin, begin + cbor.size(), true, false);
    if (!fields.is_object())
        return Error{Errc::Damaged, "a message's header is no CBOR map with text keys", {}, {}};
    return fields;
}

Packed pack(const Message& message)
{
    return {Frame::of(encodeFields(message.fields)), message.frames};
}

Result<Message> unpack(const Packed& packed, const MessageLimits& limits)
{
    if (packed.frames.size() > limits.frames)
        return Error{Errc::Invalid, "a message has too many frames", {}, {}};
    for (const Frame& frame : packed.frames)
        if (frame.size() > limits.frameBytes)
            return Error{Errc::Invalid,
                         "a message's frame is larger than " + std::to_string(limits.frameBytes)
                             + " bytes",
                         {},
                         {}};
    auto fields = decodeFields(packed.header.bytes, limits);
    if (!fields)
        return fields.error();
    Message message{std::move(*fields), packed.frames};
    if (message.type().empty())
        return lacking(message.fields, "t", "text");
    return message;
}

Result<std::string> textField(const Fields& fields, const char* name)
{
    const auto field = fieldOf(fields, name, "text");
    if (!field)
        return field.error();
    auto text = stringOf(**field);
    if (!text)
        return lacking(fields, name, "text");
    return std::move(*text);
}

Result<std::string> bytesField(const Fields& fields, const char* name)
{
    const auto field = fieldOf(fields, name, "byte string");
    if (!field)
        return field.error();
    if (!(*field)->is_binary())
        return lacking(fields, name, "byte string");
    return std::move(*stringOf(**field));
}

Result<const Fields*> listField(const Fields& fields, const char* name)
{
    const auto field = fieldOf(fields, name, "list");
    if (field && !(*field)->is_array())
        return lacking(fields, name, "list");
    return field;
}

Result<std::vector<std::string>> textsField(const Fields& fields, const char* name)
{
    const auto list = listField(fields, name);
    if (!list)
        return list.error();
    std::vector<std::string> texts;
    for (const Fields& entry : **list) {
        auto text = stringOf(entry);
        if (!text)
            return lacking(fields, name, "list of texts");
        texts.push_back(std::move(*text));
    }
    return texts;
}

Result<std::vector<std::int64_t>> integersField(const Fields& fields, const char* name,
                                                std::int64_t least, std::int64_t most)
{
    const auto list = listField(fields, name);
    if (!list)
        return list.error();
    std::vector<std::int64_t> numbers;
    numbers.reserve((*list)->size());
    for (const Fields& entry : **list) {
        const auto number = integerOf(entry, least, most);
        if (!number)
            return lacking(fields, name, "list of sensible integers");
        numbers.push_back(*number);
    }
    return numbers;
}

Result<std::int64_t> integerField(const Fields& fields, const char* name, std::int64_t least,
                                  std::int64_t most)
{
    const auto field = fieldOf(fields, name, "integer");
    if (!field)
        return field.error();
    const auto number = integerOf(**field, least, most);
    if (!number)
        return lacking(fields, name, "sensible integer");
    return *number;
}

Result<double> numberField(const Fields& fields, const char* name)
{
    const auto field = fieldOf(fields, name, "number");
    if (!field)
        return field.error();
    if (!(*field)->is_number())
        return lacking(fields, name, "number");
    return (*field)->get<double>();
}

Result<bool> flagField(const Fields& fields, const char* name)
{
    const auto field = fieldOf(fields, name, "bool");
    if (!field)
        return field.error();
    if (!(*field)->is_boolean())
        return lacking(fields, name, "bool");
    return (*field)->get<bool>();
}

Message refusal(std::string_view reason, const Error& error)
{
    const std::string place = error.place.empty() ? std::string() : error.place + ": ";
    return {Fields{{"t", type::refused},
                   {"reason", reason},
                   {"sentence", place + error.sentence},
                   {"hint", error.hint}},
            {}};
}

Error errorOf(const Message& refused)
{
    const auto sentence = textField(refused.fields, "sentence");
    const auto hint = textField(refused.fields, "hint");
    const auto why = textField(refused.fields, "reason");
    Error error{Errc::Internal,
                sentence ? *sentence : "the daemon refused without a reason",
                {},
                hint ? *hint : std::string()};
    for (const ReasonOfCode& known : reasonsOfCodes)
        if (why && known.reason == *why) {
            error.code = known.code;
            break;
        }
    return error;
}

std::string_view reasonOf(Errc code)
{
    for (const ReasonOfCode& known : reasonsOfCodes)
        if (known.code == code)
            return known.reason;
    return reason::internal;
}

} // namespace moire::wire
