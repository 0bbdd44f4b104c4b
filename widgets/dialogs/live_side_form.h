// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/daemon_link.h"
#include "widgets/models/live_plan.h"
#include "widgets/plot/look.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace moire::widgets {

/// The half of a live comparison's form that belongs to one side: where the run comes from and what
/// it computes with. Connects by itself once an address stands there.
class LiveSideForm : public QWidget
{
    Q_OBJECT
public:
    LiveSideForm(const Look& look, const QString& title, const QColor& colour,
                 QWidget* parent = nullptr);

    void setSide(const SidePlan& side);
    SidePlan side() const;
    /// At least so wide are the names of the fields.
    void setLabelWidth(int pixels);
    /// A file is named, or the daemon is connected and one of its models is chosen.
    bool isReady() const;
    DaemonLink& link() { return m_link; }
    /// What a run would take, or why it cannot be.
    void showEstimate(const QString& text, bool trouble);

Q_SIGNALS:
    void changed();

private:
    void build(const QString& title, const QColor& colour);
    void buildDaemon();
    void browse(QLineEdit* edit, const QString& title, const QString& filter);
    void connectNow();
    void showSource();
    void showLink();
    void fillModels();
    DaemonAddress daemon() const;

    const Look& m_look;
    DaemonLink m_link;
    QFormLayout* m_form;
    QComboBox* m_source;
    QLineEdit* m_file;
    QLineEdit* m_address;
    QToolButton* m_keys;
    QLineEdit* m_key;
    QLineEdit* m_serverKey;
    QCheckBox* m_insecure;
    QLabel* m_state;
    QComboBox* m_model;
    QComboBox* m_policy;
    QComboBox* m_arithmetic;
    QLineEdit* m_options;
    QLabel* m_estimate;
    QString m_wantedModel; ///< to be chosen once the daemon has told its models
};

} // namespace moire::widgets
