// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/dialogs/about_box.h"

#include <QCoreApplication>
#include <QIcon>
#include <QMessageBox>

namespace moire::widgets {

void showAboutBox(QWidget& window)
{
    constexpr int pictureEdge = 48;
    auto* box = new QMessageBox(
        QMessageBox::NoIcon, QStringLiteral("About Moire"),
        QStringLiteral("<b>Moire %1</b><p>Lays two runs of one language model over each other and "
                       "shows where they first part.</p><p>The window is free software under the "
                       "GNU General Public License, version 3 or later.</p>")
            .arg(QCoreApplication::applicationVersion()),
        QMessageBox::Close, &window);
    box->setIconPixmap(window.windowIcon().pixmap(pictureEdge));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

} // namespace moire::widgets
