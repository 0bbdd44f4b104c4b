// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/dialogs/live_side_form.h"
#include "widgets/models/live_plan.h"
#include "widgets/plot/look.h"

#include <QDialog>
#include <QTimer>

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace moire::widgets {

/// Asks for a live comparison: two daemons, or a daemon and a file, and what they are to run. Tells
/// what it would take while it is filled in.
class LiveDialog : public QDialog
{
    Q_OBJECT
public:
    LiveDialog(const Look& look, const LivePlan& plan, QWidget* parent = nullptr);
    LivePlan plan() const;

private:
    QWidget* makeSides();
    QWidget* makeShared();
    void check();
    void estimate();
    void showEstimate(LiveSideForm* form, const Result<wire::Estimate>& estimate);

    const Look& m_look;
    LiveSideForm* m_reference;
    LiveSideForm* m_target;
    QPlainTextEdit* m_text;
    QLineEdit* m_promptsFile;
    QSpinBox* m_maxNew;
    QLineEdit* m_taps;
    QComboBox* m_level;
    QComboBox* m_delivery;
    QLabel* m_hint;
    QPushButton* m_start = nullptr;
    QTimer m_settle; ///< an estimate is asked for once typing rests
};

} // namespace moire::widgets
