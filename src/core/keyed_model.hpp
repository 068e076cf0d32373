// What works for one key after another: a filter or a small bank of them, unpacked from the record of
// a key and packed again. A record holds only what decides how the model goes on, without what follows from it.
//
// Labels have one code for all keys: class c is a number from 0 to classes - 1. But a model numbers
// its classes in the order in which it learns them (the first two are the ends of its margin, and
// of equal outputs the class learned first is predicted), so a record ends with that order: of each
// class its rank, -1 where the key has not learned it. What is shown are the margin and, where there
// may be more than two classes, one number for each class. A filter has its outputs in that order. A
// bank combines classes in the order in which the key met them, with a spare one for the next where
// any may come: until the third class its margin predicts and they are learned in the background,
// from then on it is the other way round, which a bank apart does by dropping its margin.
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

    // What is learned: numbers, or labels of so many classes, if `open` of any that may come.
    struct Targets {
        bool labels = false;
        std::size_t classes = 0;
        bool open = false;
    };
    KeyedModel(Engine design, Targets targets);

    std::size_t features() const {
        return std::visit([](const auto& engine) { return engine.features(); }, engine_);
    }
    std::size_t engine_outputs() const {
        return std::visit([](const auto& engine) { return engine.outputs(); }, engine_);
    }
    // How many numbers are shown of a row.
    std::size_t outputs() const { return ranked() ? 1 + classes() : engine_outputs(); }
    std::size_t targets() const { return labels_ ? 1 : outputs(); }  // numbers of a row's target
    std::size_t classes() const { return ranks_.size(); }
    bool labels() const { return labels_; }
    bool late() const { return late_; }
    bool is_bank() const { return std::holds_alternative<Bank>(engine_); }
    // The engine, as a model of its own has it.
    Engine engine() const;
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

    // Labels that come late. Of a row that comes, a bank puts down what it made of it, in `most_made`
    // numbers at most; a filter needs nothing.
    struct MadeOfRow {
        double* values;
        std::size_t size;
    };
    std::size_t most_made() const;
    // Predicts a row and lets its time pass; returns how many numbers were put down.
    std::size_t arrive(const double* x, double discount, double* yhat, std::int32_t* ranks,
                       double* made);
    // `since` is what has passed since the row came: the log of discounts, for a bank rows. Returns
    // how many labels there were if rows that wait are to be predicted once more (Bank::remake), else 0.
    std::int64_t learn_late(const double* x, const double* y, double since, MadeOfRow made);
    void remake(const double* x, MadeOfRow made) const;

    // Further features that were always 0, classes that were never met, for which a bank has so many
    // outputs more, and room in the record for what a bank knows of late labels.
    struct Growth {
        std::size_t features, classes, outputs;
        bool late;
    };
    void grow(const Growth& growth);
    Growth growth_to(const KeyedModel& wider) const;

private:
    std::size_t packed_size() const {
        return is_bank() ? bank().packed_size(late_) : std::get<Filter>(engine_).packed_size();
    }
    std::size_t made_size() const;
    void widen(MadeOfRow made) const;
    Bank& bank() { return std::get<Bank>(engine_); }
    const Bank& bank() const { return std::get<Bank>(engine_); }
    // Whether classes have outputs of their own, in the order in which the key met them.
    bool ranked() const { return labels_ && is_bank() && bank().design().targets.size() > 1; }
    std::size_t met() const;
    void turn_to_classes();
    void code(double label, double* y);
    void show_ranks(std::int32_t* to) const;
    void show(const double* yhat, const std::int32_t* ranks, double* shown) const;
    void learn_bank(const double* X, std::size_t n, const double* Y, double* yhat,
                    std::int32_t* ranks);

    Engine engine_;
    bool labels_, open_, late_ = false;
    std::vector<double> ranks_;
    std::vector<double> coded_;          // labels as the engine learns them
    mutable std::vector<double> ahead_;  // what a bank predicts, before it is shown
    mutable std::vector<double> made_;   // what a bank made of a row that waited
};

}  // namespace dfop
