// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/environment_model.h"
#include "widgets/plot/look.h"

#include <QDialog>

namespace moire::widgets {

/// Both environments side by side; fields that differ are marked.
class EnvironmentDialog : public QDialog
{
    Q_OBJECT
public:
    EnvironmentDialog(const Look& look, const diff::Report& report, QWidget* parent = nullptr);

private:
    EnvironmentModel m_model;
};

} // namespace moire::widgets
