// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/core/diff/plain_run.h"

#include <QtGlobal>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace moire::diff::test {

namespace {

/// Kinds of two words are written with an underscore.
trace::TapKind kindOf(std::string name)
{
    std::replace(name.begin(), name.end(), '_', ' ');
    for (std::uint64_t number = 0; const auto kind = trace::tapKindFromNumber(number); ++number)
        if (nameOf(*kind) == name)
            return *kind;
    qFatal("no kind %s", name.c_str());
}

double numberOf(const std::string& word)
{
    if (word == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    return std::strtod(word.c_str(), nullptr);
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);)
        parts.push_back(part);
    return parts;
}

template <class T>
std::vector<T> numbers(const std::string& text)
{
    std::vector<T> all;
    std::istringstream in(text);
    for (std::string word; in >> word;)
        all.push_back(static_cast<T>(numberOf(word)));
    return all;
}

void readTap(std::istringstream& in, PlainRun& run)
{
    trace::Tap tap;
    std::string kind;
    std::string dtype;
    in >> tap.name >> kind >> tap.layer >> dtype >> tap.width;
    tap.kind = kindOf(kind);
    tap.dtype = numeric::dtypeFromName(dtype).value();
    for (std::string word; in >> word;) {
        if (word == "complete")
            tap.inputsComplete = true;
        else if (word == "earlier")
            tap.readsEarlierRows = true;
        else if (word == "slots")
            in >> tap.slots;
        else if (word != "in")
            tap.inputs.push_back(static_cast<trace::TapIndex>(run.tapAt(word)));
    }
    run.header.taps.push_back(tap);
}

void readRouter(std::istringstream& in, PlainRun& run)
{
    trace::RouterLayer router;
    in >> router.module >> router.layer >> router.experts >> router.chosen;
    run.header.routers.push_back(router);
}

void readSample(std::istringstream& in, const std::string& rest, PlainRun& run)
{
    trace::Sample sample;
    in >> sample.id;
    if (const std::size_t mark = sample.id.find('#'); mark != std::string::npos) {
        sample.repeat = static_cast<std::uint32_t>(std::stoul(sample.id.substr(mark + 1)));
        sample.id.erase(mark);
    }
    if (std::string category; in >> category && category != ":")
        sample.category = category;
    run.samples.push_back(sample);
    run.tokens.emplace_back();
    const auto parts = split(rest, '|');
    for (std::size_t part = 0; part < parts.size(); ++part)
        for (const auto id : numbers<std::int32_t>(parts[part]))
            run.tokens.back().push_back({id, part == 1, -1, 't' + std::to_string(id)});
}

void readRow(std::istringstream& in, const std::string& rest, PlainRun& run)
{
    PlainRun::Row row;
    row.sample = run.samples.size() - 1;
    in >> row.position;
    if (std::string phase; in >> phase && phase != ":") {
        row.phase = phase == "decode"   ? trace::Phase::Decode
                    : phase == "forced" ? trace::Phase::Forced
                                        : trace::Phase::Prefill;
        row.construction = row.phase == trace::Phase::Prefill ? trace::Construction::Once
                                                              : trace::Construction::Steps;
    }
    const auto parts = split(rest, '@');
    for (const std::string& values : split(parts[0], ';'))
        row.values.push_back(numbers<double>(values));
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto fields = split(parts[i], ':');
        row.routing.push_back({numbers<std::int32_t>(fields.at(0)), numbers<float>(fields.at(1)),
                               numbers<float>(fields.at(2))});
    }
    run.rows.push_back(row);
}

} // namespace

PlainRun textRun(std::string_view text)
{
    PlainRun run;
    for (const std::string& line : split(std::string(text), '\n')) {
        std::istringstream in(line);
        std::string word;
        if (!(in >> word))
            continue;
        const std::size_t colon = line.find(':');
        const std::string rest = colon == std::string::npos ? "" : line.substr(colon + 1);
        if (word == "tap") {
            readTap(in, run);
        } else if (word == "router") {
            readRouter(in, run);
        } else if (word == "level") {
            in >> word;
            run.header.level = trace::levelFromName(word).value();
        } else if (word == "env") {
            std::string value;
            in >> word >> value;
            run.header.environment.set(word, value);
        } else if (word == "logits") {
            in >> run.header.logits.vocabulary >> run.header.logits.topK >> word;
            for (std::int32_t id = 0; word == "asked" && in >> id;)
                run.asked.push_back(id);
            run.header.logits.asked = static_cast<std::uint32_t>(run.asked.size());
            run.header.logits.dtype = run.header.taps[run.tapAt(trace::headTapName)].dtype;
        } else if (word == "sample") {
            readSample(in, rest, run);
        } else if (word == "row") {
            readRow(in, rest, run);
        } else {
            qFatal("unknown line: %s", line.c_str());
        }
    }
    return run;
}

} // namespace moire::diff::test
