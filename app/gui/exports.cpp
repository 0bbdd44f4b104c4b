// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/exports.h"

#include "core/report/html.h"
#include "core/report/output_file.h"

#include <QFileDialog>
#include <QFileInfo>

#include <filesystem>

namespace moire::gui {

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
    auto* dialog = makeDialog(QStringLiteral("Export report"), QStringLiteral("Web page (*.html)"),
                              QStringLiteral("report.html"));
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, compared](const QString& file) { writeReport(compared, file); });
    dialog->open();
}

void Exports::writeReport(const widgets::ComparedPointer& compared, const QString& file)
{
    for (const std::string& capture : {compared->reference->source(), compared->target->source()}) {
        std::error_code ignored; // a file that is not there is none of the captures
        if (std::filesystem::equivalent(capture, file.toStdString(), ignored))
            return tell(file, Error{Errc::Invalid, "is one of the captures compared",
                                    file.toStdString(), "Name another file for the report"});
    }
    Q_EMIT noticed(QStringLiteral("Writing %1…").arg(file));
    m_job.start(
        [compared, path = file.toStdString()](std::stop_token) {
            return report::writeFile(
                path, report::htmlText(compared->report, *compared->reference, *compared->target));
        },
        [this, file](const Result<void>& written) { tell(file, written); });
}

void Exports::askForPicture(const QString& title, const QImage& picture)
{
    auto* dialog =
        makeDialog(title, QStringLiteral("Picture (*.png)"), QStringLiteral("moire.png"));
    connect(dialog, &QFileDialog::fileSelected, this,
            [this, picture](const QString& file) { writePicture(picture, file); });
    dialog->open();
}

void Exports::writePicture(const QImage& picture, const QString& file)
{
    m_job.start(
        [picture, file](std::stop_token) -> Result<void> {
            if (!picture.save(file, "PNG"))
                return Error{Errc::Io, "the picture could not be written", file.toStdString(),
                             "choose a folder that can be written to"};
            return {};
        },
        [this, file](const Result<void>& written) { tell(file, written); });
}

void Exports::tell(const QString& file, const Result<void>& written)
{
    Q_EMIT noticed(written ? QStringLiteral("Wrote %1").arg(file)
                           : QString::fromStdString(written.error().text()));
}

} // namespace moire::gui
