// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/first_kinds.h"

#include "core/report/number.h"

namespace moire::report {

std::string siteText(const diff::Divergence& divergence)
{
    std::string text = divergence.sample + '/' + std::to_string(divergence.position);
    if (!divergence.tap.empty())
        text += '/' + divergence.tap;
    if (divergence.element)
        text += '/' + std::to_string(*divergence.element);
    return text;
}

std::string sideText(const FirstKind& kind, const std::optional<double>& value,
                     const std::optional<std::uint64_t>& bits, numeric::DType dtype)
{
    if (!value)
        return "–";
    if (holdsIds(kind))
        return shortest(*value);
    std::string text = valueText(*value, dtype);
    if (bits)
        text += ' ' + bitsText(*bits, dtype);
    return text;
}

} // namespace moire::report
