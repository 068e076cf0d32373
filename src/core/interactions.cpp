#include "interactions.hpp"

#include <algorithm>
#include <cmath>

#include "faded_rows.hpp"
#include "hash.hpp"

namespace dfop {
namespace {

// Prior variance of a weight, in units of the noise. Labels are noisy.
constexpr double kNumberPrior = 100.0, kLabelPrior = 3.0;
constexpr double kFarthest = 4.0;       // of a standardised value
constexpr double kMostError = 3.0;      // that counts in S and Q, in units of the usual one
constexpr double kMostSurprise = 25.0;  // that an error counts in the usual one, as a multiple
constexpr double kFirstRows = 32.0;     // learned before candidates are judged
constexpr double kPatience = 8.0;       // rows between two choices
constexpr std::size_t kTogether = 3;    // candidates chosen at a time
constexpr double kStronger = 2.0;       // than what it takes the place of

double prior_of(Coding coding) { return coding == Coding::number ? kNumberPrior : kLabelPrior; }

// S and Q of the products of all left factors with one right factor, which is multiplied by the error.
void add_products(const double* left, double right, std::size_t count, double* sums,
                  double* squares) {
    for (std::size_t i = 0; i < count; ++i) {
        const double x = left[i] * right;
        sums[i] += x;
        squares[i] += x * x;
    }
}

}  // namespace

// Of column j: g_j, z_j^2, then z_i z_j, z_i g_j, g_i z_j and g_i g_j of all i before it.
Product Product::at(std::size_t candidate) {
    std::size_t j = 0;
    while (count(j + 1) <= candidate) ++j;
    const std::size_t place = candidate - count(j);
    if (place < 2) return {false, place == 0, place == 0, j, j};
    const std::size_t block = (place - 2) / j;
    return {block >= 2, block % 2 == 1, false, (place - 2) % j, j};
}

double Product::largest() const {
    const double right = right_gate ? 1.0 : kFarthest;
    return alone || left_gate ? right : kFarthest * right;
}

// What only lives while rows pass.
struct TargetInteractions::Space {
    std::vector<double> x, gates, said;  // rows x slots and columns, rows x columns, rows x outputs

    static Space& shared(std::size_t rows, std::size_t features, std::size_t outputs) {
        thread_local Space space;
        const auto fit = [](std::vector<double>& part, std::size_t size) {
            if (part.size() < size) part.resize(size);
        };
        fit(space.x, rows * (kSlots + features));
        fit(space.gates, rows * features);
        fit(space.said, rows * outputs);
        return space;
    }
};

TargetInteractions::TargetInteractions(const TargetDesign& target, std::size_t features,
                                       bool intercept, double cap)
    : features_(features),
      filter_(kSlots + features, 0, intercept, prior_of(target.coding), false, cap),
      chosen_(kSlots, kNone), products_(kSlots) {
    add_outputs(target.outputs);
}

void TargetInteractions::add_features(std::size_t count) {
    const std::size_t before = candidates();
    features_ += count;
    filter_.add_features(count);
    for (std::vector<double>* part : {&sums_, &squares_}) {
        std::vector<double> wider(groups_of(outputs()) * candidates(), 0.0);
        for (std::size_t k = 0; k < groups_of(outputs()); ++k)
            std::copy_n(part->begin() + k * before, before, wider.begin() + k * candidates());
        *part = std::move(wider);
    }
}

void TargetInteractions::add_outputs(std::size_t count) {
    filter_.add_outputs(count);
    spread_.resize(outputs(), 0.0);
    sums_.resize(groups_of(outputs()) * candidates(), 0.0);
    squares_.resize(sums_.size(), 0.0);
}

void TargetInteractions::stage(const ExpertRows& rows, std::size_t from, std::size_t count,
                               Space& space) const {
    for (std::size_t t = 0; t < count; ++t) {
        const double* z = rows.z + (from + t) * features_;
        double* gates = space.gates.data() + t * features_;
        double* x = space.x.data() + t * (kSlots + features_);
        for (std::size_t j = 0; j < features_; ++j) gates[j] = z[j] > 0.0 ? 1.0 : 0.0;
        for (std::size_t i = 0; i < kSlots; ++i)
            x[i] = chosen_[i] == kNone ? 0.0 : products_[i].value(z, gates);
        std::copy_n(z, features_, x + kSlots);
    }
}

void TargetInteractions::predict(const ExpertRows& rows, std::size_t first,
                                 double* predictions) const {
    Space& space = Space::shared(rows.count, features_, outputs());
    stage(rows, 0, rows.count, space);
    filter_.predict(space.x.data(), rows.count, space.said.data());
    for (std::size_t t = 0; t < rows.count; ++t)
        std::copy_n(space.said.data() + t * outputs(), outputs(),
                    predictions + t * rows.width + first);
}

// How many rows are learned with the products as they are.
std::size_t TargetInteractions::rows_to_choice(const ExpertRows& rows, std::size_t from) const {
    double left = kPatience - std::fmod(rows_, kPatience);
    std::size_t t = from;
    while (t < rows.count && left > 0.0) left -= rows.seen[t++];
    return t - from;
}

void TargetInteractions::learn(const ExpertRows& rows, std::size_t first, const Fading& fading,
                               double* predictions) {
    Space& space = Space::shared(rows.count, features_, outputs());
    const FadedRows faded(rows, fading, 0.0);
    const auto width = static_cast<std::ptrdiff_t>(rows.width);
    for (std::size_t from = 0, count; from < rows.count; from += count) {
        count = rows_to_choice(rows, from);
        stage(rows, from, count, space);
        const double* labels = rows.labels + from * rows.width + first;
        filter_.learn(space.x.data(), count, {labels, width, 1}, faded.discount.from(from),
                      faded.gain.from(from), kNoWalk, space.said.data());
        for (std::size_t t = 0; t < count; ++t, labels += width) {
            const double* said = space.said.data() + t * outputs();
            std::copy_n(said, outputs(), predictions + (from + t) * rows.width + first);
            if (rows.seen[from + t])
                judge(rows.z + (from + t) * features_, space.gates.data() + t * features_, labels,
                      said, fading.mu);
        }
    }
}

// What an error on a row says of every candidate.
void TargetInteractions::judge(const double* z, const double* gates, const double* labels,
                               const double* said, double mu) {
    rows_ = std::min(rows_ + 1.0, kMostRows);
    const Errors errors = usual_errors(labels, said, mu);
    if (rows_ > kFirstRows) add(z, gates, errors);
    if (rows_ > kFirstRows && std::fmod(rows_, kPatience) == 0.0) choose(mu);
}

// The errors of the outputs in units of their usual ones, in groups.
TargetInteractions::Errors TargetInteractions::usual_errors(const double* labels,
                                                            const double* said, double mu) {
    Errors errors{};
    const double rate = std::max(1.0 / rows_, mu);
    for (std::size_t o = 0; o < outputs(); ++o) {
        const double error = labels[o] - said[o];
        const double unit = std::sqrt(spread_[o]);
        if (unit > 0.0) {
            const double sign = o < kGroups || hash_bits(o, 0) % 2 == 0 ? 1.0 : -1.0;
            errors[o % kGroups] += sign * std::clamp(error / unit, -kMostError, kMostError);
        }
        const double usual = rows_ > kFirstRows ? kMostSurprise * spread_[o] : kLargestSquare;
        const double most = std::min(usual, kLargestSquare);
        spread_[o] += rate * (std::min(error * error, most) - spread_[o]);
    }
    return errors;
}

void TargetInteractions::add(const double* z, const double* gates, const Errors& errors) {
    for (std::size_t k = 0; k < groups_of(outputs()); ++k) {
        double *sums = sums_.data() + k * candidates(),
               *squares = squares_.data() + k * candidates();
        const auto each = [&](const double* left, double right, std::size_t count) {
            if (right != 0.0) add_products(left, right, count, sums, squares);
            sums += count;
            squares += count;
        };
        for (std::size_t j = 0; j < features_; ++j) {
            const double by_z = errors[k] * z[j], by_gate = errors[k] * gates[j];
            each(&kFull, by_gate, 1);
            each(z + j, by_z, 1);
            each(z, by_z, j);
            if (j >= Product::kGated) continue;
            each(z, by_gate, j);
            each(gates, by_z, j);
            each(gates, by_gate, j);
        }
    }
}

// Gives slots to the candidates with the strongest evidence.
void TargetInteractions::choose(double mu) {
    struct Found {
        double evidence = 0.0, freedom = 1.0;
        std::size_t candidate = 0;
    };
    std::array<Found, kTogether> best;
    double possible = 0.0, faded = 1.0;
    for (double row = 0.0; row < kPatience; ++row) faded *= 1.0 - mu;
    const std::size_t groups = groups_of(outputs());
    for (std::size_t c = 0; c < candidates(); ++c) {
        Found found{0.0, 0.0, c};
        for (std::size_t k = 0; k < groups; ++k) {
            double &sum = sums_[k * candidates() + c], &square = squares_[k * candidates() + c];
            if (!(square > 0.0)) continue;
            found.evidence += sum * sum / square;
            found.freedom += 1.0;
            sum *= faded;
            square *= faded;
        }
        if (found.freedom == 0.0) continue;
        possible += 1.0;
        if (found.evidence - found.freedom <= best.back().evidence - best.back().freedom) continue;
        if (std::find(chosen_.begin(), chosen_.end(), static_cast<double>(c)) != chosen_.end())
            continue;
        best.back() = found;
        for (std::size_t i = kTogether - 1; i > 0; --i)
            if (best[i].evidence - best[i].freedom > best[i - 1].evidence - best[i - 1].freedom)
                std::swap(best[i], best[i - 1]);
    }
    const double bar = 2.0 * std::log(std::max(possible, 1.0));
    for (const Found& found : best) {
        if (found.evidence - (found.freedom - 1.0) <= bar) return;
        const auto free = std::find(chosen_.begin(), chosen_.end(), kNone);
        auto slot = static_cast<std::size_t>(free - chosen_.begin());
        if (free == chosen_.end()) {
            double worth = 0.0;
            slot = weakest(worth);
            if (found.evidence / found.freedom <= kStronger * worth) return;
        }
        place(found.candidate, slot);
    }
}

// The slot whose weight is the least certain not to be 0.
std::size_t TargetInteractions::weakest(double& worth) const {
    std::vector<double> weights(outputs() * (kSlots + features_)), constant(outputs());
    filter_.coefficients(weights.data(), constant.data());
    const std::vector<double> variances = filter_.variances();
    std::array<double, kSlots> found{};
    double counted = 0.0;
    for (std::size_t o = 0; o < outputs(); ++o) {
        if (spread_[o] == 0.0) continue;
        counted += 1.0;
        for (std::size_t i = 0; i < kSlots; ++i) {
            const double w = weights[o * (kSlots + features_) + i];
            found[i] += w / variances[filter_.intercept() + i] * (w / spread_[o]);
        }
    }
    const auto least = std::min_element(found.begin(), found.end());
    worth = *least / std::max(counted, 1.0);
    return static_cast<std::size_t>(least - found.begin());
}

void TargetInteractions::place(std::size_t candidate, std::size_t slot) {
    if (chosen_[slot] != kNone) clear(static_cast<std::size_t>(chosen_[slot]));
    clear(candidate);
    chosen_[slot] = static_cast<double>(candidate);
    products_[slot] = Product::at(candidate);
    filter_.renew_feature(slot, products_[slot].largest());
}

// What was said of it was said of another filter.
void TargetInteractions::clear(std::size_t candidate) {
    for (std::size_t k = 0; k < groups_of(outputs()); ++k)
        sums_[k * candidates() + candidate] = squares_[k * candidates() + candidate] = 0.0;
}

void TargetInteractions::settle() {
    settle_part("filter", [&] { filter_.settle(); });
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (chosen_[i] == kNone) continue;
        hold(chosen_[i] == std::floor(chosen_[i]) && chosen_[i] >= 0.0, "chosen: no candidate");
        hold(std::count(chosen_.begin(), chosen_.end(), chosen_[i]) == 1, "chosen: one twice");
        products_[i] = Product::at(static_cast<std::size_t>(chosen_[i]));
    }
}

void Interactions::learn(const ExpertRows& rows, double* predictions) {
    std::size_t first = 0;
    for (std::size_t c = 0; c < outputs_.size(); first += outputs_[c++]) {
        if (c < targets_.size())
            targets_[c].learn(rows, first, fading_, predictions);
        else
            for (std::size_t t = 0; t < rows.count; ++t)
                std::fill_n(predictions + t * rows.width + first, outputs_[c], 0.0);
    }
}

void Interactions::predict(const ExpertRows& rows, double* predictions) const {
    std::size_t first = 0;
    for (std::size_t c = 0; c < outputs_.size(); first += outputs_[c++]) {
        if (c < targets_.size())
            targets_[c].predict(rows, first, predictions);
        else
            for (std::size_t t = 0; t < rows.count; ++t)
                std::fill_n(predictions + t * rows.width + first, outputs_[c], 0.0);
    }
}

void Interactions::forget(double elapsed) {
    for (TargetInteractions& target : targets_) target.forget(fading_.discount(elapsed));
}

void Interactions::add_features(std::size_t count) {
    features_ += count;
    for (TargetInteractions& target : targets_) target.add_features(count);
}

void Interactions::add_outputs(std::size_t count) {
    outputs_.back() += count;
    if (targets_.size() == outputs_.size()) targets_.back().add_outputs(count);
}

void Interactions::add_target(const TargetDesign& target) {
    outputs_.push_back(target.outputs);
    if (outputs_.size() > kMostTargets) return;
    // For a number that joins before the first label, time has passed as for the others.
    if (!targets_.empty() && target.coding == Coding::number)
        targets_.push_back(targets_.front());
    else
        targets_.emplace_back(target, features_, intercept_, cap_);
}

void Interactions::drop_first_target() {
    outputs_.erase(outputs_.begin());
    targets_.erase(targets_.begin());
}

void Interactions::settle() {
    for (std::size_t c = 0; c < targets_.size(); ++c)
        settle_part("target " + std::to_string(c), [&] { targets_[c].settle(); });
}

}  // namespace dfop
