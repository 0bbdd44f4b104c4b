// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/base/text.h"
#include "core/diff/inspect.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace moire::diff {

namespace {

std::optional<std::uint32_t> wholeNumber(std::string_view text)
{
    std::uint32_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return number;
}

Error notASite(std::string_view text)
{
    return {Errc::Invalid, "this is not the name of a site", std::string(text),
            "Write sample/position/tap or sample/position/tap/element"};
}

} // namespace

Result<SiteName> parseSite(std::string_view text)
{
    // The last part between two slashes that is a number, with a sample (whose id may be empty)
    // before and a tap after it.
    std::size_t end = text.rfind('/');
    while (end != std::string_view::npos && end > 0) {
        const std::size_t begin = text.rfind('/', end - 1);
        if (begin == std::string_view::npos)
            break;
        const auto position = wholeNumber(text.substr(begin + 1, end - begin - 1));
        if (!position) {
            end = begin;
            continue;
        }
        SiteName site{std::string(text.substr(0, begin)), *position, {}, {}};
        std::string_view tap = text.substr(end + 1);
        if (const std::size_t slash = tap.rfind('/'); slash != std::string_view::npos) {
            site.element = wholeNumber(tap.substr(slash + 1));
            if (!site.element)
                return notASite(text);
            tap = tap.substr(0, slash);
        }
        if (tap.empty())
            return notASite(text);
        site.tap = tap;
        return site;
    }
    return notASite(text);
}

std::string sampleWords(std::string_view id)
{
    constexpr std::string_view word = "sample";
    return (id.starts_with(word) ? std::string() : std::string(word) + ' ') + base::visibleText(id);
}

std::string textOf(const SiteName& site)
{
    std::string text = site.sample + '/' + std::to_string(site.position) + '/' + site.tap;
    if (site.element)
        text += '/' + std::to_string(*site.element);
    return text;
}

} // namespace moire::diff
