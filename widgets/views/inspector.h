// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/class_matrix.h"
#include "widgets/views/cursor_details.h"
#include "widgets/views/element_table.h"
#include "widgets/views/fact_table.h"
#include "widgets/views/panel.h"
#include "widgets/views/section_label.h"
#include "widgets/views/ulp_histogram.h"

namespace moire::widgets {

/// One site from close by: worst element with its bits, measures, origin, ulps, classes.
class Inspector : public QWidget
{
    Q_OBJECT
public:
    Inspector(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent = nullptr);

    /// Locked, it keeps its site while the cursor goes elsewhere.
    void setLocked(bool locked);
    bool isLocked() const { return m_locked; }

Q_SIGNALS:
    /// The site shown: "fact / 0 / layers.3.mlp.down_proj".
    void titleChanged(const QString& title);
    /// There is nothing to show, and why (title, sentence, what to do); empty title: there is.
    void stateChanged(const QString& title, const QString& sentence, const QString& hint);

private:
    void refresh();
    void showDetail(const diff::Site& site, const diff::SiteDetail& detail);
    void showDigestsOnly(const diff::Site& site);
    void showRoute(const diff::Site& site);
    void showState(const diff::Site* site);

    Cursor& m_cursor;
    CursorDetails& m_details;
    FactTable* m_worst;
    FactTable* m_measures;
    FactTable* m_route;
    SectionLabel* m_histogramTitle;
    UlpHistogram* m_histogram;
    SectionLabel* m_matrixTitle;
    ClassMatrix* m_matrix;
    SectionLabel* m_elementsTitle;
    ElementTable* m_elements;
    bool m_locked = false;
};

/// What the inspector says of a site's measures; `detail` null: what the grid alone knows;
/// `measured` false: values are still being compared.
std::vector<FactTable::Fact> siteFacts(const diff::Site& site, const diff::SiteDetail* detail,
                                       bool measured);
/// What a router's site says of the experts: who took whose place, by what margin, and whether
/// equal router logits left the choice open. Empty where nothing was recorded.
std::vector<FactTable::Fact> routeFacts(const diff::RoutingDetail& detail);
/// The worst element: number, values, bits and fields.
std::vector<FactTable::Fact> elementFacts(const diff::SiteDetail& detail);

} // namespace moire::widgets
