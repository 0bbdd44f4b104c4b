// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/exports.h"

#include "core/report/format.h"
#include "core/report/output_file.h"

#include <QFileDialog>
#include <QFileInfo>

#include <filesystem>

namespace moire::gui {

namespace {

/// A name without an ending gets that of the chosen filter.
void endAsChosen(QFileDialog* dialog)
{
    QObject::connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.section(QLatin1String("*."), 1).chopped(1));
    });
}

} // namespace

Exports::Exports(QWidget& window)
    : QObject(&window)
    , m_window(window)
    , m_job(this)
{}

QFileDialog* Exports::makeDialog(const QString& title, const QString& filter, const QString& file)
{
    auto* dialog = new QFileDialog(&m_window, title, QString(), filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QFileInfo(file).suffix());
    dialog->selectFile(file);
    return dialog;
}

void Exports::askForReport(const widgets::ComparedPointer& compared)
{
    auto* dialog = makeDialog(QStringLiteral("Export report"),
                              QStringLiteral("Web page (*.html);;JSON (*.json);;Table (*.csv);;"
                                             "Markdown (*.md);;JUnit (*.xml);;Text (*.txt)"),
                              QStringLiteral("report.html"));
    endAsChosen(dialog);
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, compared](const QString& file) { writeReport(compared, file); });
    dialog->open();
}

bool Exports::isCapture(const QString& file)
{
    for (const QString& capture : {m_captures.reference, m_captures.target}) {
        std::error_code ignored; // a file that is not there is none of the captures
        if (capture.isEmpty()
            || !std::filesystem::equivalent(capture.toStdString(), file.toStdString(), ignored))
            continue;
        tell(file, Error{Errc::Invalid, "is one of the captures compared", file.toStdString(),
                         "Name another file"});
        return true;
    }
    return false;
}

void Exports::writeReport(const widgets::ComparedPointer& compared, const QString& file)
{
    if (isCapture(file))
        return;
    const auto format = report::formatOfFile(file.toStdString());
    if (!format)
        return tell(file, format.error());
    Q_EMIT noticed(QStringLiteral("Writing %1…").arg(file));
    m_job.start(
        [compared, format = *format, path = file.toStdString()](std::stop_token) {
            return report::writeFile(path,
                                     report::reportText(format, compared->report,
                                                        *compared->reference, *compared->target));
        },
        [this, file](const Result<void>& written) { tell(file, written); });
}

void Exports::askForPicture(const QString& title, const Drawing& drawing)
{
    auto* dialog = makeDialog(title,
                              QStringLiteral("Picture (*.png);;Vector page (*.pdf);;"
                                             "Vector drawing (*.svg)"),
                              QStringLiteral("moire.png"));
    endAsChosen(dialog);
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, drawing](const QString& file) { writePicture(drawing, file); });
    dialog->open();
}

void Exports::writePicture(const Drawing& drawing, const QString& file)
{
    if (isCapture(file))
        return;
    m_job.start(
        [drawing, file](std::stop_token) -> Result<void> {
            const auto bytes = encoded(drawing, file);
            if (!bytes)
                return bytes.error();
            return report::writeFile(file.toStdString(), *bytes);
        },
        [this, file](const Result<void>& written) { tell(file, written); });
}

void Exports::tell(const QString& file, const Result<void>& written)
{
    Q_EMIT noticed(written ? QStringLiteral("Wrote %1").arg(file)
                           : QString::fromStdString(written.error().text()));
}

} // namespace moire::gui
