// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QDialog>

namespace moire::widgets {

/// All actions of a window with their keys.
class KeysDialog : public QDialog
{
    Q_OBJECT
public:
    KeysDialog(const Look& look, const QList<QAction*>& actions, QWidget* parent = nullptr);
};

} // namespace moire::widgets
