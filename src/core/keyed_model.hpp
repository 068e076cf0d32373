// What works for one key after another: a filter or a small bank of them, unpacked from the record of
// a key and packed again. A record holds only what decides how the model goes on, without what follows from it.
//
// Labels have one code for all keys: class c is a number from 0 to classes - 1. But a model numbers
// its classes in the order in which it learns them (the first two are the ends of its margin, and
// of equal outputs the class learned first is predicted), so a record ends with that order: of each
// class its rank, -1 where the key has not learned it. Outputs are the margin and, where there may be
// more than two classes, one for each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "bank.hpp"

namespace dfop {

class KeyedModel {
public:
    using Engine = std::variant<Filter, Bank>;

    // `labels`: of so many classes; without, numbers are learned.
    KeyedModel(Engine design, bool labels, std::size_t classes);

    std::size_t features() const {
        return std::visit([](const auto& engine) { return engine.features(); }, engine_);
    }
    std::size_t outputs() const {
        return std::visit([](const auto& engine) { return engine.outputs(); }, engine_);
    }
    std::size_t targets() const { return labels_ ? 1 : outputs(); }  // numbers of a row's target
    std::size_t classes() const { return ranks_.size(); }
    bool labels() const { return labels_; }
    const Engine& engine() const { return engine_; }
    // Whether time may pass between a row and its label.
    bool takes_late() const { return std::holds_alternative<Filter>(engine_); }
    const std::vector<double>& ranks() const { return ranks_; }

    std::size_t record_size() const { return packed_size() + ranks_.size(); }
    void pack(double* record) const;
    void unpack(const double* record);
    // Of the record of a filter, without unpacking it: on how many rows a limit acted.
    double limited_rows(const double* record) const { return record[packed_size() - 1]; }
    void check() const;  // refuses a state that no model can have had

    // Rows of one key, each predicted before it is learned. `ranks` are those of the classes before
    // each row.
    void learn(const double* X, std::size_t n, const double* Y, PerRow discount, PerRow gain,
               double* yhat, std::int32_t* ranks);
    void predict(const double* x, double* yhat, std::int32_t* ranks) const;
    void forget(double discount) { std::get<Filter>(engine_).forget(discount, 0.0); }

    // As if they had been there, always 0, and never met.
    void grow(std::size_t features, std::size_t classes);

private:
    std::size_t packed_size() const {
        return std::visit([](const auto& engine) { return engine.packed_size(); }, engine_);
    }
    void code(double label, double* y);
    void show_ranks(std::int32_t* to) const;

    Engine engine_;
    bool labels_;
    std::vector<double> ranks_;
    std::vector<double> coded_;  // labels as the filter learns them
};

}  // namespace dfop
