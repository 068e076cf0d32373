// Sudden change of the errors: they rise and stay high (two CUSUMs, rise.hpp), or they jump and the
// model follows so fast that only a row or two tell of it.
//
// A shock is a row whose error is rare by the tail of those before (error_tail.hpp). It lasts if a
// model frozen before the row is still off by half of it, on the same side, in the median of the 8
// rows after. c is the share of shocks that last: about 0 where errors are independent, large where a
// level walks, and there an innovation that lasts is nothing new. A shock that lasts and stands out
// of the errors before it rings if its probability is below 1e-3, where c > .1 below 1e-5. One below
// 1e-5 that does not last, after which errors are as they were, or which dwarfs them, is an outlier: it is
// counted, it does not ring, and its rows leave the CUSUMs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "error_tail.hpp"
#include "fields.hpp"
#include "rise.hpp"

namespace dfop {

enum class Ring : unsigned char { none, errors, jump };

class Alarm {
public:
    static constexpr std::size_t kAfter = 8;

    // Without `shocks` only errors that stay high ring: a label is either wrong or not.
    explicit Alarm(bool shocks) : shocks_(shocks) {}

    struct Result {
        Ring ring = Ring::none;
        std::size_t rows = 0;  // since the change, this row included
        bool shock = false;    // the model must be frozen as it was before this row
    };

    // The size of one row's error (the norm, of several outputs). `after` is how far the frozen model is
    // off, in the direction of the error at the shock; it is read while `waits`.
    Result update(double size, double after) {
        const double bounded = size < kLargestSquare ? size : kLargestSquare;
        rows_ = std::min(rows_ + 1.0, kMostRows);
        quiet_ = std::max(quiet_ - 1.0, 0.0);
        const bool may_ring = rows_ > kFirstRows && quiet_ == 0.0;
        Result result;
        const double usual = tail_.usual();
        const double p = shocks_ ? tail_.update(bounded) : 1.0;
        if (waits()) result = look_back(after);
        if (may_ring && result.ring == Ring::none && p < kShock && more_urgent(p)) {
            if (!severe()) sizes_before_ = sizes_, squares_before_ = squares_;
            shock_ = {p, bounded, usual, 0.0, {}};
            result.shock = true;
        }
        sizes_.update(bounded, may_ring);
        squares_.update(bounded, may_ring);
        if (result.ring == Ring::none && !severe()) result = by_rise(result);
        if (result.ring != Ring::none) restart();
        return result;
    }

    bool waits() const { return shock_.p < 1.0; }
    double rows() const { return rows_; }
    double outliers() const { return outliers_; }

    template <class Self, class Visitor>
    static void fields(bool shocks, Self* self, Visitor&& visit) {
        const auto number = [&](const char* name, double low, double high, auto member) {
            visit.array({name, {}, low, high}, [=](std::size_t) -> auto& { return self->*member; });
        };
        number("rows", 0.0, kMostRows, &Alarm::rows_);
        number("quiet", 0.0, kMostRows, &Alarm::quiet_);
        Rise::fields(self ? &self->sizes_ : nullptr, part_of(visit, "sizes"));
        Rise::fields(self ? &self->squares_ : nullptr, part_of(visit, "squares"));
        if (!shocks) return;
        number("outliers", 0.0, kMostRows, &Alarm::outliers_);
        number("shocks", 0.0, kMostRows, &Alarm::shocks_met_);
        number("lasting", 0.0, 1.0, &Alarm::lasting_);
        ErrorTail::fields(self ? &self->tail_ : nullptr, part_of(visit, "tail"));
        Shock::fields(self ? &self->shock_ : nullptr, part_of(visit, "shock"));
        Rise::fields(self ? &self->sizes_before_ : nullptr, part_of(visit, "sizes_before"));
        Rise::fields(self ? &self->squares_before_ : nullptr, part_of(visit, "squares_before"));
    }

    void settle() const {
        settle_part("sizes", [&] { sizes_.settle(); });
        settle_part("squares", [&] { squares_.settle(); });
        settle_part("sizes_before", [&] { sizes_before_.settle(); });
        settle_part("squares_before", [&] { squares_before_.settle(); });
        settle_part("shock", [&] { shock_.settle(); });
    }

private:
    static constexpr double kFirstRows = 300.0;
    static constexpr double kShock = 1e-2, kRare = 1e-3, kSevere = 1e-5;
    static constexpr double kMoreUrgent = 0.1;  // than the shock that is looked back at
    static constexpr double kLasts = 0.5;       // of the error at the shock
    static constexpr double kOftenLasting = 0.1, kMemory = 200.0;
    static constexpr double kUsual = 3.0;        // times the size of errors before the shock
    static constexpr double kCalmWalk = 2.0;     // the same, for how far the level goes in a row
    static constexpr double kDwarfed = 1.0 / 6;  // of the error at the shock

    struct Shock {
        double p = 1.0, size = 0.0, usual = 0.0, count = 0.0;
        std::array<double, kAfter> after{};

        template <class Self, class Visitor>
        static void fields(Self* self, Visitor&& visit) {
            visit.array({"p", {}, 0.0, 1.0}, [=](std::size_t) -> auto& { return self->p; });
            visit.array({"size", {}, 0.0, kLargestSquare},
                        [=](std::size_t) -> auto& { return self->size; });
            visit.array({"usual", {}, 0.0, kLargestSquare},
                        [=](std::size_t) -> auto& { return self->usual; });
            visit.array({"count", {}, 0.0, kAfter - 1.0},
                        [=](std::size_t) -> auto& { return self->count; });
            visit.array({"after", {kAfter}, -kLargestSquare, kLargestSquare},
                        [=](std::size_t i) -> auto& { return self->after[i]; });
        }
        void settle() const { hold(count == std::floor(count), "count: no whole number"); }
    };

    const Bursts& bursts() const { return shocks_ ? kBurstsOfNumbers : kBurstsOfLabels; }
    bool severe() const { return shock_.p < kSevere; }
    bool more_urgent(double p) const {
        return !waits() || (p < kRare && p < kMoreUrgent * shock_.p);
    }

    static double median(std::array<double, kAfter> values) {
        std::sort(values.begin(), values.end());
        return 0.5 * values[kAfter / 2 - 1] + 0.5 * values[kAfter / 2];
    }

    Result look_back(double after) {
        shock_.after[static_cast<std::size_t>(shock_.count)] =
            std::isfinite(after) ? std::clamp(after, -kLargestSquare, kLargestSquare) : 0.0;
        shock_.count += 1.0;
        if (shock_.count < static_cast<double>(kAfter)) return {};
        const double left = median(shock_.after);
        const bool lasts = left >= kLasts * shock_.size, clear = left >= kUsual * shock_.usual;
        const bool rings =
            lasts && clear && shock_.p < (lasting_ > kOftenLasting ? kSevere : kRare);
        shocks_met_ += 1.0;
        lasting_ +=
            std::max(1.0 / kMemory, 1.0 / (shocks_met_ + 2.0)) * ((lasts ? 1.0 : 0.0) - lasting_);
        if (severe() && !lasts && is_calm()) {
            outliers_ += 1.0;
            sizes_ = sizes_before_, squares_ = squares_before_;
        }
        shock_ = {};
        return {rings ? Ring::jump : Ring::none, rings ? kAfter + 1 : 0, false};
    }

    // Whether the frozen model is about as good after the shock as before: all errors but one are, or they
    // are small beside the shock, which fell into a burst. Where a level walks no frozen model stays good,
    // but it goes no faster away from it than before.
    bool is_calm() const {
        std::array<double, kAfter> sizes = shock_.after;
        if (lasting_ > kOftenLasting) {
            for (std::size_t i = kAfter - 1; i > 0; --i) sizes[i] -= sizes[i - 1];
            sizes[0] = sizes[kAfter - 1];
        }
        for (double& size : sizes) size = std::abs(size);
        if (lasting_ > kOftenLasting) return median(sizes) < kCalmWalk * shock_.usual;
        std::sort(sizes.begin(), sizes.end());
        return sizes[kAfter - 2] < std::max(kUsual * shock_.usual, kDwarfed * shock_.size);
    }

    Result by_rise(Result result) const {
        for (const Rise* rise : {&sizes_, &squares_})
            if (rise->rings())
                result = {Ring::errors,
                          std::max(result.rows, static_cast<std::size_t>(rise->rising())), false};
        return result;
    }

    void restart() {
        sizes_.restart();
        squares_.restart();
        shock_ = {};
        quiet_ = Rise::kQuietRows;
    }

    bool shocks_;
    double rows_ = 0.0, quiet_ = 0.0, outliers_ = 0.0;
    double shocks_met_ = 0.0, lasting_ = 0.5;
    Rise sizes_{shocks_ ? kSizes : kSizesOfLabels, bursts()}, squares_{kSquares, bursts()};
    Rise sizes_before_ = sizes_, squares_before_ = squares_;
    ErrorTail tail_;
    Shock shock_;
};

}  // namespace dfop
