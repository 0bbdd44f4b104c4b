// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/json_measure.h"

#include <map>
#include <string>

namespace moire::report {

namespace {

Json numbers(const std::map<std::string, double>& named)
{
    Json out = Json::object();
    for (const auto& [name, value] : named)
        out[stringOf(name)] = numberOf(value);
    return out;
}

Json byPosition(const std::vector<std::optional<double>>& values)
{
    Json out = Json::array();
    for (const auto& value : values)
        out.push_back(value ? numberOf(*value) : Json());
    return out;
}

} // namespace

Json measureObject(const diff::Measure& m)
{
    Json out;
    out["name"] = stringOf(m.name);
    out["family"] = stringOf(m.family);
    out["value"] = m.value ? numberOf(*m.value) : Json();
    out["unit"] = stringOf(m.unit);
    out["n"] = m.n;
    out["interval"] = m.interval ? Json{{"low", numberOf(m.interval->low)},
                                        {"high", numberOf(m.interval->high)},
                                        {"method", stringOf(m.interval->method)}}
                                 : Json();
    if (!m.whyNoInterval.empty())
        out["why_no_interval"] = stringOf(m.whyNoInterval);
    if (!m.parameters.empty())
        out["parameters"] = numbers(m.parameters);
    if (!m.percentiles.empty())
        out["percentiles"] = numbers(m.percentiles);
    if (!m.byPosition.empty())
        out["by_position"] = byPosition(m.byPosition);
    for (const auto& [layer, value] : m.byLayer)
        out["by_layer"][std::to_string(layer)] = numberOf(value);
    if (!m.byGroup.empty())
        out["by_group"] = numbers(m.byGroup);
    if (!m.matrix.empty())
        out["matrix"] = m.matrix;
    if (!m.at.empty())
        out["at"] = stringOf(m.at);
    if (!m.whyNull.empty())
        out["why_null"] = stringOf(m.whyNull);
    return out;
}

} // namespace moire::report
