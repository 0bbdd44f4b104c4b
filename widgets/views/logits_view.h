// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/position_plot.h"
#include "widgets/views/cursor_details.h"
#include "widgets/views/fact_table.h"
#include "widgets/views/state_view.h"

#include <QWidget>

class QBoxLayout;
class QStackedLayout;

namespace moire::widgets {

/// Measures of the logits row at the cursor, and KL by position over the sample.
class LogitsView : public QWidget
{
    Q_OBJECT
public:
    LogitsView(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent = nullptr);

    /// Its parts stand below each other where it is narrow.
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void refreshPlot();

    Cursor& m_cursor;
    CursorDetails& m_details;
    FactTable* m_facts;
    StateView* m_state;
    QBoxLayout* m_layout = nullptr;
    QWidget* m_side = nullptr;
    QStackedLayout* m_stack;
    PositionPlot* m_plot;
    ComparedPointer m_plottedOf;            ///< keeps m_plotted alive
    const SampleEntry* m_plotted = nullptr; ///< whose curve is shown
};

} // namespace moire::widgets
