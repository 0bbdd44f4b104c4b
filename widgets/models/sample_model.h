// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/compared.h"

#include <QAbstractListModel>

namespace moire::widgets {

/// The compared samples, one a row, in the order of the reference or by first divergence. Display:
/// the id. GUI thread; reads an immutable Compared only.
class SampleModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Role
    {
        SampleRole = Qt::UserRole, ///< std::size_t as qulonglong: place in Compared::samples
        SummaryRole,               ///< QString: "splits at 37", "bits differ only", …
        MeasureRole,               ///< QString: "KL 3.6e-4"
        CategoryRole,              ///< QString
    };
    enum class Order
    {
        AsRecorded,
        FirstDivergence
    };

    explicit SampleModel(QObject* parent = nullptr)
        : QAbstractListModel(parent)
    {}

    void setCompared(ComparedPointer compared);
    void setOrder(Order order);
    Order order() const { return m_order; }
    /// The model row of a sample.
    QModelIndex indexOfSample(std::size_t sample) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    void sort();

    ComparedPointer m_compared;
    Order m_order = Order::AsRecorded;
    std::vector<std::size_t> m_samples; ///< model row → sample
};

} // namespace moire::widgets
