// Sudden change of the inputs, column by column, whatever the errors do.
//
// Of every block of 16 rows, six numbers f of a column are held against those of the blocks before: its
// mean against a slow level and against the last block, and the logarithms of how far it moves from row
// to row and of how far it is from its level. Two more are of the mean given the other columns
// (given_others.hpp): its level, and the last block. With mean and mean deviation of f over about 64 blocks,
//     z = (f - mean) / (1.25 mean|dev|),   M = max(M (1 - 1/256), |z|),
// a block is odd if |z| > max(C, 1.5 M), C = 6 + 1.3 ln(max(d, 5) / 5) for d columns: M is what was
// normal, so that walks, bursts and seasons ring once at most; a block beyond half of that limit enters M
// only once the next one has not gone on in the same way. Two odd blocks running, on the same side, ring.
// Then the new state is normal. A row counts as at most 20 times as far from the level as rows are as a
// rule: one wild value is no odd block, and does not make a column deaf.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fields.hpp"
#include "given_others.hpp"

namespace dfop {

class InputAlarm {
public:
    static constexpr std::int64_t kPlain = -1, kUnwatched = -2;

    explicit InputAlarm(std::size_t features)
        : columns_(features), given_(features), residuals_(features) {}

    std::size_t features() const { return columns_.size(); }
    void add_features(std::size_t count) {
        columns_.resize(features() + count);
        residuals_.resize(features());
        given_.add_features(count);
    }

    // Of a row, whose column j is a number that is missing where the coded column gaps[j] is not 0 (never
    // where that is kPlain), or not watched at all. Returns whether an alarm rings; `rang` then are its columns.
    bool update(const double* x, const std::int64_t* gaps) {
        double* kept = given_.room(static_cast<std::size_t>(rows_));
        if (kept) std::copy_n(x, features(), kept);
        for (std::size_t j = 0; j < features(); ++j) {
            if (gaps[j] == kUnwatched) continue;
            const auto gap = static_cast<std::size_t>(gaps[j]);
            if (gaps[j] == kPlain || gap >= features() || x[gap] == 0.0) {
                columns_[j].add(x[j]);
                if (kept) kept[j] = columns_[j].last;
            } else if (kept)
                kept[j] = columns_[j].level;
        }
        rows_ += 1.0;
        return rows_ >= kBlock && close(gaps);
    }
    const std::vector<std::size_t>& rang() const { return rang_; }

    static constexpr std::size_t kRows = 32;  // the two blocks that ring

    template <class Self, class Visitor>
    static void fields(std::size_t features, Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kBlock - 1.0},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"blocks", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->blocks_; });
        visit.array({"quiet", {}, 0.0, kQuietBlocks},
                    [=](std::size_t) -> auto& { return self->quiet_; });
        GivenOthers::fields(features, self ? &self->given_ : nullptr, part_of(visit, "given"));
        const auto numbers = [&](const char* name, double low, double high, auto member) {
            visit.array({name, {features}, low, high},
                        [=](std::size_t j) -> auto& { return self->columns_[j].*member; });
        };
        const auto statistics = [&](const char* name, double low, double high, auto member) {
            visit.array({name, {features, kStatistics}, low, high}, [=](std::size_t i) -> auto& {
                return self->columns_[i / kStatistics].statistics[i % kStatistics].*member;
            });
        };
        numbers("count", 0.0, kBlock, &Column::count);
        numbers("sum", -kLargestSquare, kLargestSquare, &Column::sum);
        numbers("whole", -kLargestSquare, kLargestSquare, &Column::whole);
        numbers("moves", 0.0, kLargestSquare, &Column::moves);
        numbers("moved", 0.0, kBlock, &Column::moved);
        numbers("away", 0.0, kLargestSquare, &Column::away);
        numbers("last", -kLargestSquare, kLargestSquare, &Column::last);
        numbers("known", 0.0, kMostRows, &Column::known);
        numbers("level", -kLargestSquare, kLargestSquare, &Column::level);
        numbers("last_mean", -kLargestSquare, kLargestSquare, &Column::last_mean);
        numbers("given_level", -kLargestSquare, kLargestSquare, &Column::given_level);
        numbers("last_given", -kLargestSquare, kLargestSquare, &Column::last_given);
        numbers("change", 0.0, 1.0, &Column::change);
        numbers("pause", 0.0, kPause, &Column::pause);
        numbers("rings", 0.0, kMostRings, &Column::rings);
        statistics("mean", -kLargestSquare, kLargestSquare, &Statistic::mean);
        statistics("deviation", 0.0, kLargestSquare, &Statistic::deviation);
        statistics("record", 0.0, kLargestZ, &Statistic::record);
        statistics("odd", -kLargestZ, kLargestZ, &Statistic::odd);
    }
    void settle() {
        for (Column& column : columns_) column.know_reach();
        settle_part("given", [&] { given_.settle(); });
    }

private:
    static constexpr double kBlock = GivenOthers::kRows, kFewest = 4.0;
    static constexpr double kMemory = 64.0, kRecordMemory = 256.0;
    static constexpr double kQuietBlocks = 40.0, kFirstBlocks = 20.0, kPause = 4.0,
                            kMostRings = 20.0;
    static constexpr double kLargestZ = 1e6, kLeastChange = 0.1;
    // A change begins within a block, which is then somewhat out of the others: it stands out from this part of
    // the limit on, is no record before the next block is known, and counts as so many deviations.
    static constexpr double kStandsOut = 0.5, kEntered = 3.0;
    // Of a column that changes in fewer rows, a block without a change says nothing.
    static constexpr double kSteady = 0.45;
    static constexpr double kSilence = 7.0;      // how far below the mean a logarithm counts
    static constexpr double kLeastLog = 0.05;    // mean deviation of logarithms
    static constexpr double kLeastShare = 0.01;  // of how far rows are from the level, for a mean
    // Rows for every column, and for all, after which columns are held against each other.
    static constexpr double kTaught = 4.0, kSurelyTaught = 240.0;
    // How many times as far a row counts: the most of which one wild row moves the mean of a block by no more
    // than four of its deviations (20 / 16 over .8 / 4 of noise), and so leaves C what decides.
    static constexpr double kReach = 20.0;
    static constexpr double kBoundedBlocks = 4.0;  // before that is known
    // Two of the location, two logarithms, two of the location given the others.
    static constexpr std::size_t kStatistics = 6, kMoves = 2, kAway = 3;
    static bool is_logarithm(std::size_t i) { return i == kMoves || i == kAway; }

    struct Statistic {
        double mean = 0.0, deviation = 0.0, record = 0.0;
        double odd = 0.0;  // z of the last block, if that stood out
        bool is_odd = false;

        // Returns whether this block and the last one are odd on the same side.
        bool update(double f, double least, double share, double limit, bool recorded,
                    bool watched) {
            const double unit = 1.25 * std::max(deviation, least);
            const double z = std::clamp((f - mean) / unit, -kLargestZ, kLargestZ);
            const double most = std::max(limit, 1.5 * record);
            is_odd = watched && std::abs(z) > most;
            const bool goes_on = is_odd && odd * z > 0.0;
            const bool rings = goes_on && std::abs(odd) > most;
            const bool stands_out = watched && std::abs(z) > kStandsOut * most;
            // What stood out was normal, too, once it is seen not to go on.
            if (recorded && !rings)
                record = std::max({record * (1.0 - 1.0 / kRecordMemory),
                                   goes_on ? 0.0 : std::abs(odd), stands_out ? 0.0 : std::abs(z)});
            odd = stands_out ? z : 0.0;
            if (!is_odd) {
                const double step = watched ? std::clamp(z, -kEntered, kEntered) * unit : f - mean;
                mean += share * step;
                deviation += share * (std::abs(step) - deviation);
            }
            return rings;
        }
    };

    struct Column {
        double count = 0.0, sum = 0.0, whole = 0.0, moves = 0.0, moved = 0.0, away = 0.0,
               last = 0.0;                                               // of the block
        double known = 0.0, level = 0.0, last_mean = 0.0, change = 0.0;  // of the blocks before
        double given_level = 0.0, last_given = 0.0;
        double pause = 0.0, rings = 0.0;
        double low = -kLargestSquare, high = kLargestSquare;  // what a row counts at most
        std::array<Statistic, kStatistics> statistics{};

        void add(double x) {
            if (known == 0.0 && count == 0.0) last = level = x;
            count += 1.0;
            whole += x;
            x = std::min(std::max(x, low), high);
            sum += x;
            moves += std::abs(x - last);
            moved += x != last ? 1.0 : 0.0;
            away += std::abs(x - level);
            last = x;
        }

        // How far rows are from the level, as a rule.
        double spread() const { return std::exp(statistics[kAway].mean); }

        void know_reach() {
            const bool bounded = known >= kBoundedBlocks && change >= kLeastChange;
            const double reach = bounded ? kReach * spread() : kLargestSquare;
            low = level - reach;
            high = level + reach;
        }

        // `given` is the mean given the others.
        bool close(double limit, double given) {
            if (count < kFewest) return false;
            const double mean = sum / count, share = std::max(1.0 / kMemory, 1.0 / (known + 1.0));
            if (known == 0.0) level = last_mean = mean, given_level = last_given = given;
            change += share * (moved / count - change);
            pause = std::max(pause - 1.0, 0.0);
            const bool recorded = known >= kFirstBlocks && pause == 0.0;
            const bool watched = recorded && change >= kLeastChange;
            const double usual = known > 0.0 ? std::min(away / count, spread()) : away / count;
            const double least = std::max(kLeastShare * usual, 1e-300);
            const std::array<double, kStatistics> f = {mean - level,
                                                       mean - last_mean,
                                                       logarithm(moves / count, kMoves),
                                                       logarithm(away / count, kAway),
                                                       given - given_level,
                                                       given - last_given};
            bool rang = false;
            for (std::size_t i = 0; i < kStatistics; ++i)
                rang |= statistics[i].update(f[i], is_logarithm(i) ? kLeastLog : least, share,
                                             limit, recorded, watched);
            if (pause > 0.0) given_level = last_given = given;
            if (rang) start_again(f, limit, given);
            const bool suspected = std::any_of(statistics.begin(), statistics.end(),
                                               [](const Statistic& s) { return s.is_odd; });
            if (!suspected) {
                level += share * (mean - level);
                given_level += share * (given - given_level);
            }
            last_mean = rang ? level : mean;
            last_given = given;
            known = std::min(known + 1.0, kMostRows);
            count = sum = whole = moves = moved = away = 0.0;
            know_reach();
            return rang;
        }

        double logarithm(double value, std::size_t i) const {
            if (known == 0.0) return value > 0.0 ? std::log(value) : 0.0;
            if (value == 0.0 && change < kSteady) return statistics[i].mean;
            const double lowest = statistics[i].mean - kSilence;
            return value > 0.0 ? std::max(std::log(value), lowest) : lowest;
        }

        // The new state is normal, and what rang is less of a surprise the next time.
        void start_again(const std::array<double, kStatistics>& f, double limit, double given) {
            const double most = 2.0 * limit * std::exp2(rings);
            for (std::size_t i = 0; i < kStatistics; ++i) {
                Statistic& s = statistics[i];
                s.record = std::min(std::max(s.record, std::abs(s.odd)), most);
                s.mean = is_logarithm(i) ? f[i] : 0.0;
                s.odd = 0.0, s.is_odd = false;
            }
            last = level = whole / count;
            given_level = given;
            pause = kPause;
            rings = std::min(rings + 1.0, kMostRings);
        }
    };

    bool close(const std::int64_t* gaps) {
        rows_ = 0.0;
        blocks_ = std::min(blocks_ + 1.0, kMostRows);
        quiet_ = std::max(quiet_ - 1.0, 0.0);
        const double d = static_cast<double>(features());
        std::fill(residuals_.begin(), residuals_.end(), 0.0);
        if ((blocks_ - 1.0) * kBlock >= std::min(kTaught * (d + 1.0), kSurelyTaught))
            given_.residuals(residuals_.data());
        given_.learn();
        const double limit = 6.0 + 1.3 * std::log(std::max(d, 5.0) / 5.0);
        rang_.clear();
        for (std::size_t j = 0; j < features(); ++j)
            if (gaps[j] != kUnwatched && columns_[j].close(limit, residuals_[j]))
                rang_.push_back(j);
        if (rang_.empty() || quiet_ > 0.0 || blocks_ < kQuietBlocks) return false;
        quiet_ = kQuietBlocks;
        return true;
    }

    std::vector<Column> columns_;
    GivenOthers given_;
    std::vector<double> residuals_;
    double rows_ = 0.0, blocks_ = 0.0, quiet_ = 0.0;
    std::vector<std::size_t> rang_;
};

}  // namespace dfop
