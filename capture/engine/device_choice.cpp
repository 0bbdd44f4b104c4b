// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/device_choice.h"

#include "core/numeric/simd_target.h"

#include <ATen/Context.h>
#include <ATen/Version.h>

#include <charconv>
#include <fstream>

namespace moire::capture {

namespace env = trace::env;

namespace {

/// LibTorch's HIP build answers to the name cuda; its configuration tells which it is.
bool isHipBuild()
{
    return at::show_config().find("HIP Runtime") != std::string::npos;
}

/// The value of the first line "key : value" of /proc/cpuinfo.
std::string cpuInfo(std::string_view key)
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (line.starts_with(key) && colon != std::string::npos && colon + 2 <= line.size())
            return line.substr(colon + 2);
    }
    return {};
}

std::string cpuVendor()
{
    const std::string vendor = cpuInfo("vendor_id");
    if (vendor == "AuthenticAMD")
        return "AMD";
    if (vendor == "GenuineIntel")
        return "Intel";
    return vendor.empty() ? "unknown" : vendor;
}

std::string_view nameOf(DeviceChoice::Kind kind)
{
    switch (kind) {
    case DeviceChoice::Kind::Cpu:
        return "cpu";
    case DeviceChoice::Kind::Cuda:
        return "cuda";
    case DeviceChoice::Kind::Hip:
        return "hip";
    }
    return "cpu";
}

} // namespace

Result<DeviceChoice> DeviceChoice::parse(std::string_view text)
{
    DeviceChoice choice;
    if (text == "cpu")
        return choice;
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const bool indexed = colon != std::string_view::npos;
    const std::string_view digits = indexed ? text.substr(colon + 1) : "0";
    const auto [end, trouble] =
        std::from_chars(digits.data(), digits.data() + digits.size(), choice.index);
    const bool isNumber =
        trouble == std::errc() && end == digits.data() + digits.size() && choice.index >= 0;
    if ((kind != "cuda" && kind != "hip") || !isNumber)
        return Error{Errc::Invalid,
                     "unknown device '" + std::string(text) + "'",
                     {},
                     "Devices are cpu, cuda, cuda:N, hip and hip:N"};
    choice.kind = kind == "cuda" ? Kind::Cuda : Kind::Hip;
    if (!at::globalContext().hasCUDA() || isHipBuild() != (choice.kind == Kind::Hip))
        return Error{Errc::Unsupported,
                     "the LibTorch in use finds no device for '" + std::string(text) + "'",
                     {},
                     "Use --device cpu, or build against a LibTorch for that device"};
    return choice;
}

std::string DeviceChoice::text() const
{
    const std::string name(nameOf(kind));
    return kind == Kind::Cpu ? name : name + ":" + std::to_string(index);
}

void describeDevice(const DeviceChoice& device, trace::Environment& environment)
{
    if (device.kind != DeviceChoice::Kind::Cpu) {
        environment.set(env::vendor,
                        std::string(device.kind == DeviceChoice::Kind::Cuda ? "NVIDIA" : "AMD"));
        environment.set(env::device, device.text());
        return;
    }
    environment.set(env::vendor, cpuVendor());
    environment.set(env::device, cpuInfo("model name"));
    environment.set(env::arch, std::string(numeric::currentSimdTarget()));
}

} // namespace moire::capture
