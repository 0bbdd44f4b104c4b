// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/map_hover.h"

#include "core/base/shortened.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

namespace moire::report {

namespace {

using nlohmann::json;

constexpr std::size_t mostNames = 1500;
constexpr std::size_t mostSamples = 1000;
constexpr std::size_t mostRuns = 4000;
constexpr std::size_t mostOfName = 120;

std::string shownName(const std::string& name)
{
    return base::shortened(base::visibleText(name), mostOfName);
}

/// As JSON inside a script element: nothing in it can end the element.
std::string embedded(const json& value)
{
    std::string out;
    for (const char c : value.dump(-1, ' ', true, json::error_handler_t::replace)) {
        if (c == '<')
            out += "\\u003c";
        else if (c == '>')
            out += "\\u003e";
        else if (c == '&')
            out += "\\u0026";
        else
            out += c;
    }
    return out;
}

/// Columns whose positions follow one another: the first column and its position. Empty when there
/// are too many.
json positionRuns(const MapColumns& columns)
{
    json runs = json::array();
    for (std::size_t i = 0; i < columns.positions.size(); ++i) {
        if (i > 0 && columns.positions[i] == columns.positions[i - 1] + 1)
            continue;
        if (runs.size() == mostRuns)
            return json::array();
        runs.push_back({i, columns.positions[i]});
    }
    return runs;
}

} // namespace

std::string mapHover(const PooledMap& map, const MapColumns& columns,
                     const std::vector<std::string>& rowNames, std::string_view equalWords,
                     std::string_view quantity)
{
    json data;
    data["rows"] = map.rowCount;
    data["columns"] = map.columnCount;
    data["quantity"] = quantity;
    for (const std::string& name : rowNames)
        if (rowNames.size() <= mostNames)
            data["names"].push_back(shownName(name));
    if (columns.groups.size() <= mostSamples)
        for (const MapColumns::Group& group : columns.groups)
            data["samples"].push_back({group.begin, shownName(group.sample)});
    data["positions"] = positionRuns(columns);
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        const auto palette = paletteOf(theme);
        json& colours = data[theme == Theme::Light ? "light" : "dark"];
        for (std::size_t i = cellEqual; i < palette.size(); ++i)
            colours.push_back(cssColour(palette[i]));
    }
    data["words"] = {equalWords, map.unmeasuredWords()};
    for (const std::string& text : map.levelTexts)
        data["words"].push_back(text);
    return "<script type=\"application/json\" class=\"cells\">" + embedded(data) + "</script>\n";
}

} // namespace moire::report
