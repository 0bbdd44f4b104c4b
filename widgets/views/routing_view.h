// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/cursor_details.h"
#include "widgets/views/heat_canvas.h"
#include "widgets/views/ladder.h"
#include "widgets/views/state_view.h"

#include <QWidget>

class QBoxLayout;
class QStackedLayout;

namespace moire::widgets {

/// Experts replaced by layer and token, and the experts of both runs at the cursor.
class RoutingView : public QWidget
{
    Q_OBJECT
public:
    RoutingView(const Look& look, Cursor& cursor, CursorDetails& details,
                QWidget* parent = nullptr);

    /// Its parts stand below each other where it is narrow.
    QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refreshMap();
    void refreshExperts();
    void follow();
    void choose(std::size_t router, std::size_t column);

    const Look& m_look;
    Cursor& m_cursor;
    CursorDetails& m_details;
    HeatCanvas* m_map;
    Ladder* m_experts;
    StateView* m_state;
    StateView* m_expertsState;
    QBoxLayout* m_both = nullptr;
    QStackedLayout* m_stack;
    QStackedLayout* m_expertsStack;
    ComparedPointer m_mapped;
    std::size_t m_mappedSample = 0;
};

/// The experts that either run chose, ranked by slot, their weights as values.
std::vector<LadderEntry> expertLadder(const diff::RoutingDetail& detail);

} // namespace moire::widgets
