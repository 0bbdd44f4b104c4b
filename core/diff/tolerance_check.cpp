// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/diff/tolerance_check.h"

#include "core/base/text.h"
#include "core/diff/noise_floor.h"
#include "core/settings/settings_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace moire::diff {

using settings::settingError;

namespace {

/// A name that criteria can be about, and what it is.
struct Named
{
    std::string name;
    bool logits = false;
    bool router = false;
};

std::vector<Named> namesOf(const trace::Run& reference, const trace::Run& target)
{
    std::vector<Named> names;
    for (const trace::Run* run : {&reference, &target}) {
        for (const trace::Tap& tap : run->header().taps)
            names.push_back({tap.name, tap.name == trace::headTapName, false});
        for (const trace::RouterLayer& router : run->header().routers)
            names.push_back({router.module + ".out", false, true});
        if (run->header().logits.vocabulary > 0)
            names.push_back({std::string(trace::headTapName), true, false});
    }
    return names;
}

bool speaksOf(const Criterion& criterion, const Named& named)
{
    switch (subjectOf(criterion.kind)) {
    case Subject::Logits:
        return named.logits;
    case Subject::Router:
        return named.router;
    case Subject::Site:
        break;
    }
    return true;
}

bool needsValues(Criterion::Kind kind)
{
    constexpr std::array fromDigests{Criterion::Kind::Bitwise, Criterion::Kind::TopK,
                                     Criterion::Kind::Routes, Criterion::Kind::Tokens};
    return std::find(fromDigests.begin(), fromDigests.end(), kind) == fromDigests.end();
}

Result<void> checkEntry(const ToleranceEntry& entry, const std::vector<Named>& names,
                        const std::string& file)
{
    const auto matches = [&](const Named& named) {
        return base::globMatches(entry.pattern, named.name);
    };
    const std::string pattern = "“" + base::visibleText(entry.pattern) + "”";
    if (std::none_of(names.begin(), names.end(), matches))
        return settingError(file, entry.line,
                            "the pattern " + pattern + " matches no tap of either run",
                            "List the taps with: moire-diff info FILE; an entry with optional = "
                            "true need not match");
    for (const Criterion& criterion : entry.criteria)
        if (std::none_of(names.begin(), names.end(), [&](const Named& named) {
                return matches(named) && speaksOf(criterion, named);
            }))
            return settingError(
                file, entry.line,
                "“" + criterion.text + "” speaks of "
                    + (subjectOf(criterion.kind) == Subject::Logits ? "the logits, lm_head.out"
                                                                    : "routers")
                    + ", and no tap like " + pattern + " is one",
                "Leave it out, or capture runs that hold "
                    + std::string(subjectOf(criterion.kind) == Subject::Logits ? "logits"
                                                                               : "routing")
                    + "; list what they hold with: moire-diff info FILE");
    return {};
}

} // namespace

Result<void> checkTolerance(const trace::Run& reference, const trace::Run& target,
                            const ComparisonOptions& options)
{
    if (options.tolerance == nullptr)
        return {};
    const Tolerance& tolerance = *options.tolerance;
    const std::string place = tolerance.file().empty() ? tolerance.name() : tolerance.file();
    const std::vector<Named> names = namesOf(reference, target);
    for (const ToleranceEntry& entry : tolerance.entries()) {
        for (const Criterion& criterion : entry.criteria) {
            if (criterion.kind == Criterion::Kind::Floor && options.floor == nullptr)
                return settingError(place, entry.line,
                                    "“" + criterion.text + "” needs a noise floor",
                                    "Give a second capture of the reference's configuration: "
                                    "--repeat REF2");
            if (options.firstOnly && needsValues(criterion.kind))
                return settingError(place, entry.line,
                                    "“" + criterion.text
                                        + "” needs the values, and only digests are looked at",
                                    "Leave --first out");
        }
        if (!entry.optional)
            if (auto checked = checkEntry(entry, names, place); !checked)
                return checked;
    }
    return {};
}

std::vector<const Criterion*> elementwiseCriteria(const trace::Run& reference,
                                                  const Alignment& alignment,
                                                  const Tolerance* tolerance)
{
    std::vector<const Criterion*> criteria;
    if (tolerance == nullptr || !tolerance->uses(Criterion::Kind::Allclose))
        return criteria;
    for (const TapPair& pair : alignment.taps) {
        const std::string& name = reference.header().taps[indexOf(pair.reference)].name;
        const auto& asked = tolerance->entries()[tolerance->entryOf(name)].criteria;
        const auto found = std::find_if(asked.begin(), asked.end(), [](const Criterion& c) {
            return c.kind == Criterion::Kind::Allclose;
        });
        criteria.push_back(found == asked.end() ? nullptr : &*found);
    }
    return criteria;
}

ElementwiseCell checkElements(const SiteValues& values, const Criterion& criterion)
{
    ElementwiseCell cell;
    // An expert that the target did not choose has nothing to be held against.
    values.eachDifferent([&](double r, double t, double difference) {
        if ((r == t && !(std::fabs(difference) > 0)) || (std::isnan(r) && std::isnan(t)))
            return;
        const double distance = std::fabs(difference);
        const double allowed = criterion.atol + criterion.bound * std::fabs(r);
        if (!(distance <= allowed) || !std::isfinite(distance))
            ++cell.beyond;
        const double ratio = distance == 0 ? 0 : distance / allowed;
        cell.largest = std::max(
            cell.largest, std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio);
    });
    return cell;
}

} // namespace moire::diff
