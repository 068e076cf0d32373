// Forgetting recursive least squares with any number of outputs: owns the state, brings rows to
// the kernel's scale and layout, and cuts them into chunks.
//
// Inside, feature j is divided by s_j, the power of two just above its largest magnitude so far,
// so that every row has entries in [-1, 1] and the cap on D means the same for every feature.
// Powers of two change no digit: a model fed with X and one fed with 2^k X hold the same numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "fields.hpp"
#include "kernel.hpp"

namespace dfop {

// Magnitudes a feature or a target may have; smaller ones count as good as 0, larger are refused.
inline constexpr double kLargest = 0x1p500;
inline constexpr double kSmallest = 0x1p-500;
// The limits on D are drawn anew when the past has faded this much since the last time.
inline constexpr double kRefresh = 1e3;

template <class T>
struct CacheLineAllocator {
    using value_type = T;
    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
    bool operator==(const CacheLineAllocator&) const { return true; }
};
using Buffer = std::vector<double, CacheLineAllocator<double>>;

// A value per row, or one for all rows (step 0).
struct PerRow {
    const double* values;
    std::size_t step;
    double operator[](std::size_t t) const { return values[t * step]; }
    PerRow from(std::size_t t) const { return {values + t * step, step}; }
};

inline constexpr double kZero = 0.0, kFull = 1.0;
inline constexpr PerRow kNoWalk{&kZero, 0}, kNoDiscount{&kFull, 0}, kFullGain{&kFull, 0};

// The targets of row t at values[t * row + k * column].
struct Targets {
    const double* values;
    std::ptrdiff_t row, column;
    Targets from(std::size_t t) const {
        return {values + static_cast<std::ptrdiff_t>(t) * row, row, column};
    }
};

// Rows and labels in the order in which they came: s >= 0, row s arrives; s < 0, the label of row
// ~s does.
struct Steps {
    const std::int64_t* values;
    std::size_t count;

    // How many rows from step i on, one after the other, have their label right behind them.
    std::size_t labelled_at_once(std::size_t i) const {
        const std::int64_t first = values[i];
        std::size_t rows = 0;
        for (; i + 1 < count && first >= 0; i += 2, ++rows)
            if (values[i] != first + static_cast<std::int64_t>(rows) || values[i + 1] != ~values[i])
                break;
        return rows;
    }
    // How many labels from step i on, at most so many, are of rows that came one after the other.
    std::size_t in_line(std::size_t i, std::size_t most) const {
        const std::size_t end = i + most < count ? i + most : count;
        std::size_t labels = 1;
        while (i + labels < end && values[i + labels] == values[i + labels - 1] - 1) ++labels;
        return labels;
    }
};

// The gain of a row without a target.
inline constexpr double kNoTarget = -1.0;

class Filter {
public:
    Filter(std::size_t features, std::size_t outputs, bool intercept, double prior_variance,
           bool relative_prior, double cap, const Kernel& kernel = default_kernel());

    // Predicts every row before its target is read, then learns it. X is row-major, n x features.
    // A row of gain 0 is predicted and otherwise not seen. One of gain kNoTarget has no target: it is
    // predicted, its time passes, and it shows how large features are.
    // `walk` is how much further than by forgetting the weights may have moved since the row
    // before: it is added to D.
    void learn(const double* X, std::size_t n, Targets y, PerRow discount, PerRow gain, PerRow walk,
               double* yhat);
    void predict(const double* X, std::size_t n, double* yhat) const;
    // Time passes without a row to learn: what was learned counts discount times as much.
    // forget(lam) and then a row of discount 1 is the same, bit for bit, as a row of discount lam.
    void forget(double discount, double walk);

    // Labels that come late. A row that arrives is predicted, then its time passes: `now` sums up
    // the logarithms of discounts, and stamps[s] is what it was when row s had come. A label is
    // learned with what its row counts by then, exp(now - stamp). Returns `now`.
    double replay(const double* X, Targets y, Steps steps, PerRow discount, PerRow log_discount,
                  double* stamps, double now, double* yhat);

    // What is believed before any row, of features as given: P = U D U', U row-major, and the weights,
    // outputs x d. Of a feature with D_j = 0 nothing but the prior variance, which is at least P_jj.
    void set_prior(const double* prior_U, const double* prior_D, const double* weights);

    void add_features(std::size_t count);  // as if they had been there, always 0
    // Feature j will mean something else, of at most that magnitude: its weight begins anew, with the
    // prior, and the others go on as if it had been known.
    void renew_feature(std::size_t j, double magnitude);
    void add_outputs(std::size_t count);  // as if they had been there, always 0
    void drop_output(std::size_t k);

    // Weights of the features as given: coef (m x features) and the constant (m).
    void coefficients(double* coef, double* constant) const;

    // The diagonal of P, for features as given; the constant, if there is one, comes first.
    std::vector<double> variances() const;

    // How far each feature of a row is from what the others, and the constant, make of it by the rows
    // learned: (P x)_j / P_jj, P being the inverse of their products.
    void residuals(const double* row, double* out) const;

    // Everything that decides how the filter goes on.
    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, bool intercept, Self* self,
                       Visitor&& visit);
    void settle();

    // The same in one row of numbers, for many filters of one design at rest.
    std::size_t packed_size() const;
    void pack(double* to) const;
    void unpack(const double* from);
    void check() const;  // refuses a state that no filter can have had

    std::size_t features() const { return features_; }
    std::size_t outputs() const { return outputs_; }
    bool intercept() const { return intercept_; }
    double prior_variance() const { return prior_variance_; }
    bool relative_prior() const { return relative_prior_; }
    double cap() const { return cap_; }
    const char* kernel_name() const { return kernel_->name; }
    std::size_t memory_bytes() const;  // without the object itself
    // On how many rows a limit acted, so that the filter knows more than forgetting would leave;
    // kNotCounted where that is not known.
    double limited_rows() const { return limited_rows_; }
    static constexpr double kNotCounted = -1.0;
    void refresh_limits();

private:
    // On D of a feature of which only a belief is known: above all others.
    static constexpr double kNoLimit = 0x1p163;
    // Variances are kept where no product of two of them with scaled rows can overflow.
    static constexpr double kLargestVariance = 1e40;
    // D of a feature never above kSmallest: so small that what it may hold there has no effect.
    static constexpr double kUnseen = 1e-200;
    // A feature that grows more than this at one step would carry an old weight (and its error) to a
    // scale it says nothing about; it is taken as a new one.
    static constexpr double kLargestStep = 0x1p26;

    struct Workspace;
    struct Rows;
    struct Counters {
        double faded;            // how much the past has faded since the limits on D were drawn
        double unseen_variance;  // of a feature never seen: p0 / (lam_1 ... lam_t)
        bool must_refresh(double fading) const;
        void pass(double growth, double fading);
    };

    std::size_t dimension() const { return features_ + intercept_; }
    std::size_t padded() const { return kTile * tiles_; }
    void resize(std::size_t tiles, std::size_t outputs);
    std::size_t stage_rows(const Rows& rows, std::size_t start, const Workspace& space,
                           bool& passed);
    std::size_t pass_time(const Rows& rows, std::size_t start, std::size_t staged, bool passed,
                          const Workspace& space, Counters& first);
    bool may_reach_caps(const Workspace& space, std::size_t rows, const Counters& first) const;
    std::size_t learn_chunk(const Rows& rows, std::size_t start, std::size_t staged,
                            const Workspace& space, const Counters& first);
    void pad(double* x, std::size_t rows) const;
    bool stage(const double* row, double* x) const;
    void stage_to_predict(const double* row, double* x) const;
    void grow_scales(const double* row);
    void grow_scale(std::size_t j, double magnitude);
    void set_scale(std::size_t j, double power);
    double scaled_variance(double variance, double scale) const;
    double share(std::size_t i, std::size_t j) const;
    double limit_of_share(std::size_t j, double share) const;
    double limit_by_column(std::size_t j) const;
    double largest(std::size_t j) const;
    // Whether a feature was never seen, but something is believed of its weight.
    bool only_believed(std::size_t j) const { return limit()[j] == kNoLimit; }
    void count_limited(double rows) {
        if (limited_rows_ != kNotCounted) limited_rows_ = std::min(limited_rows_ + rows, kMostRows);
    }
    State state();

    static constexpr std::size_t kColumnParts = 4;
    // What every row needs stands first; U behind it begins with a line of the cache.
    static constexpr std::size_t front_of(std::size_t padded) { return (padded + 7) / 8 * 8; }
    double* inverse_scale() { return numbers_.data(); }
    const double* inverse_scale() const { return numbers_.data(); }
    double* U() { return numbers_.data() + front_of(padded()); }
    const double* U() const { return numbers_.data() + front_of(padded()); }
    double* part(std::size_t i) { return U() + upper_ + i * padded(); }
    const double* part(std::size_t i) const { return U() + upper_ + i * padded(); }
    double* D() { return part(0); }
    const double* D() const { return part(0); }
    double* limit() { return part(1); }
    const double* limit() const { return part(1); }
    double* scale() { return part(2); }
    const double* scale() const { return part(2); }
    double* inverse_largest() { return part(3); }  // of how uncertain forgetting may make a weight
    const double* inverse_largest() const { return part(3); }
    double* W() { return part(kColumnParts); }
    const double* W() const { return part(kColumnParts); }

    std::size_t features_, outputs_, tiles_ = 0;
    std::size_t chunk_rows_ = 0;  // how many rows are learned together at most
    bool intercept_;
    double prior_variance_;
    bool relative_prior_;  // whether the prior is meant for scaled features, and for all together
    double cap_;
    Counters counters_;
    double limited_rows_ = 0.0;
    const Kernel* kernel_;
    std::size_t upper_ = 0;  // how many numbers U takes
    // inverse_scale of each column, U, then D, limit, scale and inverse_largest of each, then the
    // weights of each output: in one piece, since small pieces take more than what is in them.
    Buffer numbers_;
};

// Magnitudes far above any that a filter was seen to reach on hostile streams: what is larger was
// not written by one.
template <class Self, class Visitor>
void Filter::fields(std::size_t features, std::size_t outputs, bool intercept, Self* self,
                    Visitor&& visit) {
    const std::size_t d = bounded_size(features) + intercept;
    visit.array({"upper", {d * (d - (d > 0)) / 2}, -1e150, 1e150},
                [self, i = std::size_t{0}, j = std::size_t{1}](std::size_t) mutable -> auto& {
                    auto& u = self->U()[tile_offset(i, j)];  // u_ij, i < j, column by column
                    if (++i == j) i = 0, ++j;
                    return u;
                });
    visit.array({"D", {d}, kAbove0, 1e50}, [=](std::size_t j) -> auto& { return self->D()[j]; });
    visit.array({"limit", {d}, kAbove0, 1e50},
                [=](std::size_t j) -> auto& { return self->limit()[j]; });
    visit.array({"scale", {d}, kSmallest, kLargest},
                [=](std::size_t j) -> auto& { return self->scale()[j]; });
    visit.array({"weights", {outputs, d}, -1e300, 1e300}, [=](std::size_t i) -> auto& {
        return self->W()[i / d * self->padded() + i % d];  // for scaled features
    });
    visit.array({"unseen_variance", {}, kAbove0, 1e100},
                [=](std::size_t) -> auto& { return self->counters_.unseen_variance; });
    visit.array({"faded", {}, 1.0, kRefresh},
                [=](std::size_t) -> auto& { return self->counters_.faded; });
    visit.array({"limited_rows", {}, kNotCounted, kMostRows},
                [=](std::size_t) -> auto& { return self->limited_rows_; });
}

// The power of two s with s/2 < magnitude <= s.
double power_of_two_above(double magnitude);

// Index of the first value that is NaN, infinite or too large; n where there is none.
std::size_t first_unusable(const double* values, std::size_t n);

}  // namespace dfop
