// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/capture/recorded_file.h"

#include "core/store/mapped_run.h"
#include "core/store/writer.h"

#include <system_error>

namespace moire::app {

namespace env = trace::env;
namespace fs = std::filesystem;

std::string counted(std::uint64_t number, const char* thing)
{
    return std::to_string(number) + ' ' + thing + (number == 1 ? "" : "s");
}

std::string summaryOf(std::uint64_t rows, std::size_t samples, std::size_t taps)
{
    return counted(rows, "row") + " of " + counted(samples, "sample") + ", " + counted(taps, "tap");
}

fs::path ownName(const trace::Environment& environment)
{
    std::string stem = environment.text(env::modelName) + '-' + environment.text(env::policy) + '-'
                       + environment.text(env::arithmetic);
    for (char& c : stem)
        if (c == '/' || c == ' ' || c == '\0')
            c = '-';
    for (unsigned number = 1;; ++number) {
        const fs::path path =
            stem + (number == 1 ? std::string() : '-' + std::to_string(number)) + ".moire";
        std::error_code ignored;
        if (!fs::exists(path, ignored) && !fs::exists(store::partialPathOf(path), ignored))
            return path;
    }
}

Result<void> checkOutput(const RunArguments& arguments)
{
    std::error_code ignored;
    if (arguments.output && arguments.reference
        && fs::equivalent(*arguments.output, *arguments.reference, ignored))
        return Error{Errc::Invalid, "the output is the reference itself", *arguments.output,
                     "Choose another name with -o"};
    return {};
}

Error leftBy(Error error, const fs::path& part, std::uint64_t rows, std::uint64_t planned)
{
    if (error.code == Errc::Cancelled)
        error = {Errc::Cancelled,
                 "stopped on request after "
                     + (planned > 0 ? std::to_string(rows) + " of " + counted(planned, "row")
                                    : counted(rows, "row")),
                 {},
                 error.hint};
    std::error_code ignored;
    if (part.empty() || !fs::exists(part, ignored))
        return error;
    if (rows == 0) {
        fs::remove(part, ignored);
        return error;
    }
    const auto left = store::MappedRun::open(part);
    if (!error.hint.empty())
        error.hint += ". ";
    error.hint += left ? "What was recorded is in " + part.string() + ", which opens as incomplete"
                       : "What reached the disk is in " + part.string() + ", which does not open";
    return error;
}

} // namespace moire::app
