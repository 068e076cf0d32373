// One prediction from two combinations of the same experts, for labels that come late.
//   At once: judges experts by what they predict of a row when its label comes. It sees first who
//     has learned a new concept, but believes those who follow a last label that is not there yet
//     when a row must be predicted.
//   As made: judges all by what they predicted when the row came.
// The two count as exp(-eta * their recent loss), both by their predictions as they were made. As
// long as no label came late they are the same, and there is only the first.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "combiner.hpp"
#include "room.hpp"

namespace dfop {

class LateCombiner {
public:
    using Block = Combiner::Block;

    LateCombiner(Coding coding, std::size_t outputs, std::size_t experts)
        : at_once_(coding, outputs, experts) {}

    std::size_t outputs() const { return at_once_.outputs(); }
    void add_outputs(std::size_t count);
    void drop_last_output();
    void bound_labels(std::size_t rows, std::size_t width, const unsigned char* seen,
                      double* labels, Range& range) const {
        at_once_.bound_labels(rows, width, seen, labels, range);
    }
    Range range() const { return at_once_.range(); }

    // As a Combiner; `made` begins with NaN where it is not known what was predicted.
    void learn(const Block&);
    void predict(const Block&) const;
    // How much is put down of a row and output: candidates, what each combination predicted, and of
    // a number what the mixture predicts without room and with it, and how many labels there were.
    std::size_t made_of_output() const {
        return at_once_.candidates() + kBoth + 1 + 3 * is_number();
    }

    // Of one row: whether it came before the first label, and what was put down then says nothing
    // about who predicts well; and to take what is put down now instead.
    bool came_first(const Made& made) const {
        return !std::isnan(made.values[0]) && put_down(made, 0)[0] < 1.0;
    }
    void take(const Made& now, const Made& made) const;

    // Whether a label came late.
    bool late() const { return !as_made_.empty(); }
    void open_late();

    std::vector<double> expert_weights(std::size_t output) const;

    template <class Self, class Visitor>
    static void fields(bool late, std::size_t experts, Self* self, Visitor&& visit) {
        Combiner::fields(experts, self ? &self->at_once_ : nullptr, visit);
        if (!late) return;
        auto part = part_of(visit, "late");
        Combiner::fields(experts, self ? &self->as_made_[0] : nullptr, part);
        part.array({"both", {kBoth}, 0.0, kLargestLoss},
                   [=](std::size_t i) -> auto& { return self->losses_[i]; });
        part.array({"both rows", {}, 0.0, kLargestLoss},
                   [=](std::size_t) -> auto& { return self->loss_rows_; });
        part.array({"labels", {}, 0.0, kMostRows},
                   [=](std::size_t) -> auto& { return self->labels_; });
        Room::fields(self ? &self->room_ : nullptr, part_of(part, "room"));
    }
    template <class Self, class Visitor>
    static void output_fields(bool late, Coding coding, std::size_t experts, std::size_t o,
                              Self* self, Visitor&& visit) {
        Combiner::output_fields(coding, experts, o, self ? &self->at_once_ : nullptr, visit);
        if (late)
            Combiner::output_fields(coding, experts, o, self ? &self->as_made_[0] : nullptr,
                                    part_of(visit, "late"));
    }
    void settle();
    void settle_output(std::size_t o);

    // As a Combiner; without room for what there is once a label came late, or with it.
    std::size_t packed_size(bool late) const;
    double* pack(double* to, bool late) const;
    const double* unpack(const double* from, bool late);

private:
    static constexpr std::size_t kBoth = 2;
    static constexpr double kLargestLoss = 1e9;
    static constexpr double kTaken =
        0.5;  // put down once there were labels, of a row that came before

    void close_late();
    void learn_row(const Block&);
    bool same_now(const Block&) const;
    void learn_both(const Block&);
    void judge(const Block&);
    void rescale(double ratio);
    void put_down_room(const Block&) const;
    double* put_down(const Made& made, std::size_t o) const {
        return made.of(0, o) + at_once_.candidates() + kBoth;
    }
    void give_room();
    void weigh();
    bool is_number() const { return at_once_.coding() == Coding::number; }

    Combiner at_once_;
    std::vector<Combiner> as_made_;       // one, once a label came late
    std::array<double, kBoth> losses_{};  // discounted sums
    double loss_rows_ = 0.0;              // discounted count
    std::array<double, kBoth> shares_{0.5, 0.5};
    double labels_ = 0.0;  // learned since one came late
    Room room_;
};

}  // namespace dfop
