// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/output.h"

#include "app/diff/exit_status.h"

#include <filesystem>

namespace moire::app {

Result<Output> Output::open(const std::string& path, const std::vector<std::string>& inputs)
{
    Output output;
    if (path.empty() || path == "-")
        return output;
    // Overwriting a capture with a report about it would be a cruel answer to a typing error.
    for (const std::string& input : inputs) {
        std::error_code ignored;
        if (std::filesystem::equivalent(path, input, ignored))
            return Error{Errc::Invalid, "is one of the files to read", path,
                         "Name another file to write"};
    }
    auto file = report::OutputFile::create(path);
    if (!file)
        return file.error();
    output.m_file = std::move(*file);
    return output;
}

int Output::write(std::string_view document)
{
    if (!m_file)
        return print(document);
    if (const auto done = m_file->write(document); !done)
        return tell(done.error());
    if (const auto done = m_file->commit(); !done)
        return tell(done.error());
    return exitEqual;
}

} // namespace moire::app
