// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moire::wire {

/// A message's header as it is read and written: a CBOR map with text keys (PROTOCOL.md, 2).
using Fields = nlohmann::json;

/// Bytes that somebody keeps alive; copying shares them.
struct Frame
{
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;

    static Frame of(std::vector<std::byte> bytes);
    std::size_t size() const { return bytes.size(); }
};

/// A message as it travels: the header's CBOR, then raw frames.
struct Packed
{
    Frame header;
    std::vector<Frame> frames;

    /// Of header and frames: what the message takes from a stream's credit.
    std::size_t bytes() const;
};

/// A message with its header decoded.
struct Message
{
    Fields fields;
    std::vector<Frame> frames;

    std::string_view type() const; ///< "" when there is none
};

/// What a receiver takes of headers and frames before it decodes.
struct MessageLimits
{
    std::size_t headerBytes;
    std::size_t headerItems;
    std::size_t frameBytes;
    std::size_t frames;
};
extern const MessageLimits clientLimits; ///< what a client takes from a daemon
extern const MessageLimits daemonLimits; ///< what a daemon takes from a client

Packed pack(const Message& message);
/// Errors: Damaged (no CBOR map, nested too deeply, indefinite lengths, tags, trailing bytes, no
/// `t`), Invalid (beyond a limit). Never takes more memory than a small multiple of the header's
/// size.
Result<Message> unpack(const Packed& packed, const MessageLimits& limits);

/// The same for a header alone. Text that is not UTF-8 travels as a byte string.
std::vector<std::byte> encodeFields(const Fields& fields);
Result<Fields> decodeFields(std::span<const std::byte> cbor, const MessageLimits& limits);

// Fields of a header that is needed. Errors: Damaged names the field and the message's type.
/// Text, or the bytes of a text that is not UTF-8.
Result<std::string> textField(const Fields& fields, const char* name);
Result<std::string> bytesField(const Fields& fields, const char* name);
Result<std::vector<std::string>> textsField(const Fields& fields, const char* name);
Result<const Fields*> listField(const Fields& fields, const char* name);
/// Every entry in [least, most].
Result<std::vector<std::int64_t>> integersField(const Fields& fields, const char* name,
                                                std::int64_t least, std::int64_t most);
Result<std::int64_t> integerField(const Fields& fields, const char* name, std::int64_t least,
                                  std::int64_t most);
Result<double> numberField(const Fields& fields, const char* name);
Result<bool> flagField(const Fields& fields, const char* name);

/// A `refused` reply as an Error and back; the reasons are PROTOCOL.md's.
Message refusal(std::string_view reason, const Error& error);
Error errorOf(const Message& refused);
/// The reason that fits an error best.
std::string_view reasonOf(Errc code);

} // namespace moire::wire
