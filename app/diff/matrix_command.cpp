// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/commands.h"
#include "app/diff/exit_status.h"
#include "app/diff/output.h"
#include "app/diff/several_runs.h"
#include "app/terminal/arguments.h"
#include "app/terminal/work_watch.h"
#include "core/diff/run_matrix.h"
#include "core/report/matrix_report.h"

namespace moire::app {

int matrixCommand(int argc, const char* const* argv)
{
    constexpr int fewest = 2;
    CLI::App arguments("Compares every capture with every other.", "moire-diff matrix");
    SeveralArguments given;
    describeSeveral(arguments, given, fewest);
    arguments.footer("The diagonal holds the noise floor where repeats of one configuration are\n"
                     "among the captures.\n"
                     "Exit status: 0 all bitwise equal, 1 not, 2 trouble, 3 not comparable.\n"
                     "\n"
                     "Example:\n  moire-diff matrix h100.moire h100b.moire mi300x.moire --html -o "
                     "matrix.html");
    if (const auto status = parseArguments(arguments, argc, argv))
        return *status;
    const auto format = documentFormat(given);
    if (!format)
        return tell(format.error());
    auto output = Output::open(given.output, given.files);
    if (!output)
        return tell(output.error());
    const auto runs = openRuns(given.files);
    if (!runs)
        return tell(runs.error());
    Result<diff::RunMatrix> matrix = diff::RunMatrix{};
    {
        WorkWatch watch("comparing", given.quiet ? ProgressLine::Quiet : ProgressLine::Shown);
        matrix = diff::runMatrix(*runs, given.alignment, given.threads, watch.stopToken(),
                                 watch.progress());
    }
    if (!matrix)
        return tell(matrix.error());
    const int status =
        output->write(*format == report::Format::Json   ? report::matrixJson(*matrix)
                      : *format == report::Format::Html ? report::matrixHtml(*matrix)
                                                        : report::matrixText(*matrix));
    const int differs = matrix->clusters.size() == 1 ? exitEqual : exitDivergent;
    return status == exitEqual ? differs : status;
}

} // namespace moire::app
