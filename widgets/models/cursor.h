// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/compared.h"

#include <QObject>

#include <optional>

namespace moire::widgets {

/// A place that all views share: a sample, a token position in it, a tap.
struct Place
{
    std::size_t sample = 0;
    std::size_t column = 0; ///< token position
    std::size_t tap = 0;    ///< tap pair
    friend auto operator<=>(const Place&, const Place&) = default;
};

/// The one cursor of a window. GUI thread.
class Cursor : public QObject
{
    Q_OBJECT
public:
    explicit Cursor(QObject* parent = nullptr)
        : QObject(parent)
    {}

    /// Forgets the place and stands at the first site of `compared` (null: nothing to point at).
    void setCompared(ComparedPointer compared);
    /// The same runs, measured further: the place stays.
    void refine(ComparedPointer compared);
    const ComparedPointer& compared() const { return m_compared; }
    const Place& place() const { return m_place; }

    /// Goes there; every part is clamped to what exists.
    void moveTo(Place place);
    void moveTo(SitePlace site);
    void moveColumn(std::size_t column);
    void moveTap(std::size_t tap);
    void moveSample(std::size_t sample);

    const SampleEntry* sample() const;
    /// The row pair under the cursor, when that position was recorded on both sides.
    std::optional<std::size_t> rowPair() const;
    /// Where the cursor stands in the order of divergences: behind every row before its position.
    SitePlace sitePlace() const;

Q_SIGNALS:
    void moved();

private:
    ComparedPointer m_compared;
    Place m_place;
};

} // namespace moire::widgets
