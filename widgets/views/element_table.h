// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/element_model.h"
#include "widgets/plot/look.h"

#include <QTableView>

namespace moire::widgets {

/// The worst elements of a site. As high as its rows; columns are as wide as their numbers, which
/// get smaller together where that is too much: none is ever elided.
class ElementTable : public QTableView
{
    Q_OBJECT
public:
    explicit ElementTable(const Look& look, QWidget* parent = nullptr);
    void setElements(std::vector<diff::ElementPair> elements, numeric::DType referenceType,
                     numeric::DType targetType);
    int rows() const { return m_model.rowCount(); }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();
    /// Widths that the columns need in a font of that size.
    std::vector<int> widthsWith(int pixels) const;

    const Look& m_look;
    ElementModel m_model;
};

} // namespace moire::widgets
