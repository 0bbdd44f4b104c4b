// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/site_link.h"
#include "widgets/plot/look.h"

#include <QDialog>

#include <optional>

class QLabel;
class QLineEdit;

namespace moire::widgets {

/// Asks for a site, a token or a tap; says in place when there is no such thing.
class GoToDialog : public QDialog
{
    Q_OBJECT
public:
    GoToDialog(const Look& look, ComparedPointer compared, const Place& from,
               QWidget* parent = nullptr);
    /// Set once the dialog was accepted.
    const std::optional<Place>& place() const { return m_place; }

public Q_SLOTS:
    void accept() override;

private:
    ComparedPointer m_compared;
    Place m_from;
    QLineEdit* m_edit;
    QLabel* m_trouble;
    std::optional<Place> m_place;
};

} // namespace moire::widgets
