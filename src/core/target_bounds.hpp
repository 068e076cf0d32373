// What a number to learn counts as, and whether all that was learned of it must be given up.
//
// A label far outside all those believed teaches nothing: one wild number (a broken sensor, -9999 for
// nothing) must not decide what thousands of rows have taught, nor widen the range in which errors are
// measured. But the first labels have nobody to be judged by, and a target may really move. So a run of
// labels, the first ones and every one of far ones in a row, is judged as a whole once it is long enough.
// The same number all along is a state apart: a sensor that is out, a machine that stands still. It lasts
// as long as labels stay away, is predicted as the last label again, leaves what was learned as it was,
// and is known at once when its number comes again. Of other runs some show that what was learned before
// is of another target (the first labels held wild ones; all are elsewhere now): then learning begins anew
// from the labels of the run. Whoever went on could not be precise again for as long as a filter
// remembers. It begins anew, too, where a run shows that a target is back that had gone far apart (a
// sensor that drew by chance for a while).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "fields.hpp"
#include "filter.hpp"

namespace dfop {

// The range [low, high] of the labels believed so far. A label is believed if it is not more than `room`
// ranges outside. One that is not, after a quiet time, doubles the room; one that is takes some of
// it back. Labels that never changed believe whatever comes.
//
// What is learned of several targets is learned of the same rows by the same experts, so that none can
// begin anew alone, nor be left out of a row: of them a far label counts as the nearest one believed, and
// one that has moved is believed where it is now.
class TargetBounds {
public:
    static constexpr std::size_t kRun = 12;

    struct Taken {
        double label;  // what it counts as
        bool taught;   // whether it is learned at all
        bool anew;     // all that was learned before it is to be given up
    };

    // Whether the next label may complete a run.
    bool due() const { return std::max(run_labels_, back_) == static_cast<double>(kRun - 1); }

    // What is predicted instead of what experts say: NaN but in a state apart.
    double instead() const {
        return apart_ > 0.0 ? last_ : std::numeric_limits<double>::quiet_NaN();
    }

    Taken take(double label, bool only_target) {
        const bool first = settled_ == 0.0;
        if (!first && believes(label)) {
            believe(label);
            const bool anew = is_back(label);
            return {label, true, anew};
        }
        back_ = 0.0;
        last_ = label;
        if (!first && known_ > 0.0 && label == state_) {
            apart_ = 1.0;
            run_labels_ = 0.0;
            return {std::clamp(label, low_, high_), !only_target, false};
        }
        if (!first) doubt();
        run_[static_cast<std::size_t>(run_labels_)] = label;
        run_labels_ += 1.0;
        bool anew = false, moved = false;
        if (run_labels_ == static_cast<double>(kRun)) {
            moved = first ? judge_first() : judge_far(only_target);
            anew = moved && (first || only_target);
            run_labels_ = 0.0;
        }
        const bool as_it_is = first && !moved;
        return {as_it_is ? label : std::clamp(label, low_, high_), as_it_is || anew || !only_target,
                anew};
    }

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        visit.array({"settled", {}, 0.0, 1.0},
                    [=](std::size_t) -> auto& { return self->settled_; });
        visit.array({"low", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->low_; });
        visit.array({"high", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->high_; });
        visit.array({"room", {}, kLeastRoom, kMostRoom},
                    [=](std::size_t) -> auto& { return self->room_; });
        visit.array({"least room", {}, kLeastRoom, kMostRoom},
                    [=](std::size_t) -> auto& { return self->least_room_; });
        visit.array({"quiet", {}, 0.0, kQuiet}, [=](std::size_t) -> auto& { return self->quiet_; });
        visit.array({"run labels", {}, 0.0, static_cast<double>(kRun - 1)},
                    [=](std::size_t) -> auto& { return self->run_labels_; });
        visit.array({"run", {kRun}, -kLargest, kLargest},
                    [=](std::size_t i) -> auto& { return self->run_[i]; });
        visit.array({"apart", {}, 0.0, 1.0}, [=](std::size_t) -> auto& { return self->apart_; });
        visit.array({"last", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->last_; });
        visit.array({"known", {}, 0.0, 1.0}, [=](std::size_t) -> auto& { return self->known_; });
        visit.array({"state", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->state_; });
        visit.array({"away", {}, 0.0, 1.0}, [=](std::size_t) -> auto& { return self->away_; });
        visit.array({"home low", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->home_low_; });
        visit.array({"home high", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->home_high_; });
        visit.array({"back", {}, 0.0, static_cast<double>(kRun - 1)},
                    [=](std::size_t) -> auto& { return self->back_; });
    }
    void settle() const {
        hold(settled_ == std::floor(settled_), "settled: neither 0 nor 1");
        hold(apart_ == std::floor(apart_), "apart: neither 0 nor 1");
        hold(known_ == std::floor(known_), "known: neither 0 nor 1");
        hold(away_ == std::floor(away_), "away: neither 0 nor 1");
        hold(run_labels_ == std::floor(run_labels_), "run labels: no whole number");
        hold(back_ == std::floor(back_), "back: no whole number");
        hold(quiet_ == std::floor(quiet_), "quiet: no whole number");
        hold(low_ <= high_, "low: above high");
        hold(home_low_ <= home_high_, "home low: above home high");
        hold(least_room_ <= room_, "room: below the least");
    }

private:
    static constexpr double kLeastRoom = 3.0, kMostRoom = 0x1p1000;
    static constexpr double kLess = 63.0 / 64.0;
    static constexpr double kQuiet =
        16.0;  // labels believed, after which a far one doubles the room
    static constexpr double kGrowth = 4.0;  // of the least room, with every move
    // Of a run, the labels that must lie together; wild are those so many times their range away.
    static constexpr std::size_t kTogether = 9;
    static constexpr double kWild = 30.0;
    static constexpr double kWider = 10.0;  // than before it moved, a target that may come back
    // The least room up to which a move may be a glitch: who moves a fourth time goes to and fro.
    static constexpr double kMostOfGlitch = 64.0;

    bool believes(double label) const {
        const double range = high_ - low_, reach = room_ * range;
        return range == 0.0 || (label >= low_ - reach && label <= high_ + reach);
    }

    void believe(double label) {
        low_ = std::min(low_, label);
        high_ = std::max(high_, label);
        room_ = std::max(kLess * room_, least_room_);
        quiet_ = std::min(quiet_ + 1.0, kQuiet);
        run_labels_ = apart_ = 0.0;
    }

    void doubt() {
        room_ = std::min(room_ * (1.0 + quiet_ / kQuiet), kMostRoom);
        quiet_ = 0.0;
    }

    // Whether some were wild; the others are believed.
    bool judge_first() {
        settled_ = 1.0;
        const bool wild = take_over_run();
        if (!wild) {
            low_ = *std::min_element(run_.begin(), run_.end());
            high_ = *std::max_element(run_.begin(), run_.end());
        }
        return wild;
    }

    // Whether the target has moved. Then the room is larger for good: one that goes to and fro between
    // levels is soon believed on all of them.
    bool judge_far(bool only_target) {
        if (std::all_of(run_.begin(), run_.end(), [&](double label) { return label == run_[0]; })) {
            apart_ = known_ = 1.0;
            state_ = last_;
            return false;
        }
        const double low = low_, high = high_;
        apart_ = 0.0;
        take_over_run();
        if (!only_target) {
            low_ = std::min(low, low_);
            high_ = std::max(high, high_);
        } else if (high_ - low_ > kWider * (high - low) && least_room_ < kMostOfGlitch) {
            home_low_ = low;
            home_high_ = high;
            away_ = 1.0;
        }
        least_room_ = std::min(kGrowth * least_room_, kMostRoom);
        room_ = std::max(room_, least_room_);
        return true;
    }

    // Whether labels that went far apart are all where they were before: it was no move. In the wide
    // range that is believed now none of them is far out.
    bool is_back(double label) {
        if (away_ == 0.0) return false;
        const double reach = kLeastRoom * (home_high_ - home_low_);
        const bool home = label >= home_low_ - reach && label <= home_high_ + reach;
        back_ = home ? back_ + 1.0 : 0.0;
        if (back_ < static_cast<double>(kRun)) return false;
        low_ = std::min(home_low_, label);
        high_ = std::max(home_high_, label);
        back_ = away_ = 0.0;
        return true;
    }

    // Believes the shortest interval that holds most of the run, and what is not far from it. Whether that
    // leaves some out, where labels change at all.
    bool take_over_run() {
        std::array<double, kRun> run = run_;
        std::sort(run.begin(), run.end());
        const auto length = [&](std::size_t i) { return run[i + kTogether - 1] - run[i]; };
        std::size_t start = 0;
        for (std::size_t i = 1; i + kTogether <= kRun; ++i)
            if (length(i) < length(start)) start = i;
        const double reach = kWild * length(start);
        const double least = run[start] - reach, most = run[start + kTogether - 1] + reach;
        low_ = *std::find_if(run.begin(), run.end(), [&](double label) { return label >= least; });
        high_ =
            *std::find_if(run.rbegin(), run.rend(), [&](double label) { return label <= most; });
        return reach > 0.0 && (low_ > run.front() || high_ < run.back());
    }

    double settled_ = 0.0;  // 1 from the first run on
    double low_ = 0.0, high_ = 0.0, room_ = kLeastRoom, least_room_ = kLeastRoom;
    double quiet_ = kQuiet;    // labels believed in a row, up to kQuiet
    double run_labels_ = 0.0;  // of the run that goes on
    std::array<double, kRun> run_{};
    double apart_ = 0.0, last_ = 0.0;  // 1 in a state apart; the last far label
    double known_ = 0.0,
           state_ = 0.0;  // 1 once there was a state apart; the number of the last one
    // 1 where labels are farther apart than before they moved; the range then, and labels there in a row.
    double away_ = 0.0, home_low_ = 0.0, home_high_ = 0.0, back_ = 0.0;
};

}  // namespace dfop
