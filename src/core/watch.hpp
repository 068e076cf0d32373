// What the monitor of a model watches for sudden change, row by row: the errors (alarm.hpp) and
// the inputs (input_alarm.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "alarm.hpp"
#include "fields.hpp"
#include "frozen_line.hpp"
#include "input_alarm.hpp"

namespace dfop {

class Watch {
public:
    // Of a model with so many features. `outputs` are numbers whose jumps are looked for: 0 for labels.
    Watch(std::size_t features, std::size_t outputs)
        : alarm_(outputs > 0), line_(outputs > 0 ? features : 0, outputs), inputs_(features),
          gaps_(features, InputAlarm::kPlain) {}

    std::size_t features() const { return inputs_.features(); }
    std::size_t outputs() const { return line_.outputs(); }
    double outliers() const { return alarm_.outliers(); }

    // Which columns are numbers, and where these are missing: see InputAlarm.
    void set_gaps(std::vector<std::int64_t> gaps) { gaps_ = std::move(gaps); }

    // A row that comes, and what is predicted of it: nothing yet before the first target. Returns whether
    // the inputs have changed; `inputs` tells which.
    bool arrive(const double* x, const double* predicted) {
        if (alarm_.rows() == 0.0) return false;
        if (outputs() > 0) line_.learn(x, predicted);
        return inputs_.update(x, gaps_.data());
    }
    const InputAlarm& inputs() const { return inputs_; }

    // The errors of a row whose target has come.
    Alarm::Result judge(const double* x, const double* predicted, const double* error,
                        std::size_t count) {
        const double size = norm(error, count);
        const double after = alarm_.waits() ? line_.away(x, predicted, error) : 0.0;
        const Alarm::Result result = alarm_.update(size, after);
        if (result.shock) line_.freeze(error, size);
        return result;
    }

    void add_features(std::size_t count) {
        if (outputs() > 0) line_.add_features(count);
        inputs_.add_features(count);
        gaps_.resize(features(), InputAlarm::kPlain);
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, Self* self, Visitor&& visit) {
        Alarm::fields(outputs > 0, self ? &self->alarm_ : nullptr, part_of(visit, "alarm"));
        FrozenLine::fields(outputs > 0 ? features : 0, outputs, self ? &self->line_ : nullptr,
                           part_of(visit, "frozen"));
        InputAlarm::fields(features, self ? &self->inputs_ : nullptr, part_of(visit, "inputs"));
    }
    void settle() {
        settle_part("alarm", [&] { alarm_.settle(); });
        settle_part("frozen", [&] { line_.settle(); });
        settle_part("inputs", [&] { inputs_.settle(); });
    }

private:
    // Further outputs whose error is 0 change no bit, and squares never overflow.
    static double norm(const double* error, std::size_t count) {
        double largest = 0.0, sum = 0.0;
        for (std::size_t o = 0; o < count; ++o) largest = std::max(largest, std::abs(error[o]));
        if (count == 1 || largest == 0.0) return largest;
        for (std::size_t o = 0; o < count; ++o) {
            const double share = error[o] / largest;
            sum += share * share;
        }
        return largest * std::sqrt(sum);
    }

    Alarm alarm_;
    FrozenLine line_;
    InputAlarm inputs_;
    std::vector<std::int64_t> gaps_;
};

}  // namespace dfop
