#include "filter.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

// The steps of learning a chunk have one caller each; as calls they would cost a small row a tenth
// of its time.
#define DFOP_INLINE [[gnu::always_inline]] inline

namespace dfop {
namespace {

// A gain below this leaves no trace in double precision.
constexpr double kLeastGain = 1e-60;
// A row of walk counts as this much fading, so that the limits are drawn anew every 72 rows.
constexpr double kWalkFading = 1.1;
constexpr std::size_t kChunkDoubles = 8192;

double fading_of(double growth, double walk) { return walk > 0.0 ? growth * kWalkFading : growth; }

// The row that will be staged when this chunk has been learned.
inline void prefetch(const double* row, std::size_t features) {
    constexpr std::size_t kCacheLine = 64 / sizeof(double);
    for (std::size_t j = 0; j < features; j += kCacheLine) __builtin_prefetch(row + j);
}

}  // namespace

// What only lives while rows are learned. A few rows fit here, more into a buffer that all filters
// of a thread share.
struct Filter::Workspace {
    double *x, *b;                           // rows x padded
    double* pv;                              // 2 x padded
    double *growth, *walk, *alpha, *capped;  // of each row

    Workspace(std::size_t rows, std::size_t padded) {
        const std::size_t size = 2 * (rows + 1) * padded + 4 * rows;
        x = size <= kFew ? few_ : shared(size);
        b = x + rows * padded;
        pv = b + rows * padded;
        growth = pv + 2 * padded;
        walk = growth + rows;
        alpha = walk + rows;
        capped = alpha + rows;
    }
    Workspace(const Workspace&) = delete;

private:
    static constexpr std::size_t kFew = 512;

    static double* shared(std::size_t size) {
        thread_local Buffer buffer;
        if (buffer.size() < size) buffer.resize(size);
        return buffer.data();
    }
    alignas(64) double few_[kFew];
};

// Rows to learn. References: copies of what was written just before would cost one row's time.
struct Filter::Rows {
    const double* X;
    std::size_t count;
    const Targets& y;
    const PerRow &discount, &gain, &walk;
    double* yhat;
};

Filter::Filter(std::size_t features, std::size_t outputs, bool intercept, double prior_variance,
               bool relative_prior, double cap, const Kernel& kernel)
    : features_(features), outputs_(0), intercept_(intercept), prior_variance_(prior_variance),
      relative_prior_(relative_prior), cap_(std::min(cap, kLargestVariance)),
      counters_{1.0, std::min(prior_variance, kLargestVariance)}, kernel_(&kernel) {
    resize((dimension() + kTile - 1) / kTile, outputs);
    if (intercept_) grow_scale(0, 1.0);
}

// Places beyond the dimension are features never seen, so growing into them changes nothing.
void Filter::resize(std::size_t tiles, std::size_t outputs) {
    const std::size_t old_padded = padded(), new_padded = kTile * tiles;
    const std::size_t parts = kColumnParts + std::min(outputs_, outputs), old_upper = upper_;
    upper_ = panel_offset(tiles);
    outputs_ = outputs;
    tiles_ = tiles;
    const std::size_t size = front_of(new_padded) + upper_ + (kColumnParts + outputs) * new_padded;
    const Buffer old = std::exchange(numbers_, Buffer(size, 0.0));
    std::copy_n(old.begin(), old_padded, inverse_scale());
    const double* from = old.data() + front_of(old_padded);
    std::copy_n(from, old_upper, U());
    from += old_upper;
    for (std::size_t i = 0; i < parts; ++i, from += old_padded)
        std::copy_n(from, old_padded, part(i));
    chunk_rows_ =
        std::clamp<std::size_t>(kChunkDoubles / std::max<std::size_t>(new_padded, 1), 8, 128);
    for (std::size_t j = old_padded; j < new_padded; ++j) {
        U()[tile_offset(j, j)] = 1.0;
        D()[j] = limit()[j] = kUnseen;
        set_scale(j, kSmallest);
    }
}

State Filter::state() { return {dimension(), tiles_, outputs_, U(), D(), limit(), W()}; }

// Scales a row into its place; false where a feature is larger than ever before.
DFOP_INLINE bool Filter::stage(const double* row, double* x) const {
    if (intercept_) *x++ = inverse_scale()[0];
    return kernel_->stage(row, inverse_scale() + intercept_, features_, x);
}

// Zeros behind the features of rows that will be staged.
DFOP_INLINE void Filter::pad(double* x, std::size_t rows) const {
    const std::size_t first = dimension() / kTile * kTile;
    if (first == padded()) return;
    for (std::size_t t = 0; t < rows; ++t, x += padded()) {
        // Seldom more than one tile, and a loop alone would become a call of memset.
        x[first] = x[first + 1] = x[first + 2] = x[first + 3] = 0.0;
        for (std::size_t j = first + kTile; j < padded(); ++j) x[j] = 0.0;
    }
}

// As learning the row would scale it, without the change to the state.
void Filter::stage_to_predict(const double* row, double* x) const {
    if (stage(row, x)) return;
    x += intercept_;
    for (std::size_t j = 0; j < features_; ++j)
        if (std::fabs(x[j]) > kLargestStep && !only_believed(j + intercept_)) x[j] = 0.0;
}

DFOP_INLINE bool Filter::Counters::must_refresh(double fading) const {
    return fading > 1.0 && faded * fading > kRefresh;
}

DFOP_INLINE void Filter::Counters::pass(double growth, double fading) {
    faded *= fading;
    unseen_variance = std::min(unseen_variance * growth, kLargestVariance);
}

// Stages as many rows as can be learned together, from `start` on: one of gain 0 ends the chunk,
// and one that is larger than all before comes first in its own. Tells whether the time of the first
// row has passed already.
DFOP_INLINE std::size_t Filter::stage_rows(const Rows& rows, std::size_t start,
                                           const Workspace& space, bool& passed) {
    const std::size_t most = std::min(rows.count - start, chunk_rows_);
    const double* row = rows.X + start * features_;
    double* x = space.x;
    passed = false;
    std::size_t t = 0;
    for (; t < most && rows.gain[start + t] >= kLeastGain; ++t, row += features_, x += padded()) {
        if (start + t + most < rows.count) prefetch(row + most * features_, features_);
        if (stage(row, x)) continue;
        if (t > 0) break;
        // Time passes at the scale that the weights had until now.
        forget(rows.discount[start], rows.walk[start]);
        passed = true;
        grow_scales(row);
        stage(row, x);
    }
    return t;
}

// Lets the time of staged rows pass, up to one that needs new limits, unless it is the first.
// Returns how many rows that are, and tells how the counters stand behind the first.
DFOP_INLINE std::size_t Filter::pass_time(const Rows& rows, std::size_t start, std::size_t staged,
                                          bool passed, const Workspace& space, Counters& first) {
    Counters now = counters_;  // in registers
    std::size_t t = 0;
    for (; t < staged; ++t) {
        const bool none = passed && t == 0;
        space.growth[t] = none ? 1.0 : 1.0 / rows.discount[start + t];
        space.walk[t] = none ? 0.0 : rows.walk[start + t];
        space.alpha[t] = 1.0 / rows.gain[start + t];
        double fading = fading_of(space.growth[t], space.walk[t]);
        if (now.must_refresh(fading)) {
            if (t > 0) break;
            refresh_limits();
            now.faded = fading = 1.0;
        }
        now.pass(space.growth[t], fading);
        if (t == 0) first = now;
    }
    counters_ = now;
    return t;
}

// Whether a cap may act on rows whose time the counters have let pass: rows only lower D, so that it
// grows by no more than the past fades. Asked once a chunk, so that counting is seldom paid for.
DFOP_INLINE bool Filter::may_reach_caps(const Workspace& space, std::size_t rows,
                                        const Counters& first) const {
    // Behind a row alone there is nothing, and it would wait for the division.
    const double more = rows > 1 ? counters_.faded / first.faded : 1.0;
    const double growth = space.growth[0] * more * (1.0 + 1e-9);
    const bool walks = std::any_of(space.walk, space.walk + rows, [](double q) { return q > 0.0; });
    // Without a branch: a row alone would wait for every one of them.
    std::int64_t reached = 0;
    const std::int64_t always = walks;
    const double *D = this->D(), *limit = this->limit();
    for (std::size_t j = 0; j < padded(); ++j) {  // a limit behind the dimension is never reached
        const std::int64_t over = D[j] * growth > limit[j] ? 1 : always;
        reached |= limit[j] > kLeastCap ? over : 0;
    }
    return reached != 0;
}

// Learns up to `staged` rows and returns how many. Features that are the same but for rounding,
// and far beyond what D can tell apart, may drive U and D apart until they overflow; x'Px tells, and
// new limits end it before the next row.
DFOP_INLINE std::size_t Filter::learn_chunk(const Rows& rows, std::size_t start, std::size_t staged,
                                            const Workspace& space, const Counters& first) {
    const double* y = rows.y.values + static_cast<std::ptrdiff_t>(start) * rows.y.row;
    double* const capped = may_reach_caps(space, staged, first) ? space.capped : nullptr;
    if (capped) std::fill_n(capped, staged, 0.0);
    const std::size_t learned = kernel_->learn(
        state(), {staged, space.x, space.growth, space.walk, y, rows.y.row, rows.y.column,
                  rows.yhat + start * outputs_, space.alpha, capped, space.b, space.pv});
    if (learned < staged) {
        counters_ = first;
        for (std::size_t t = 1; t < learned; ++t)
            counters_.pass(space.growth[t], fading_of(space.growth[t], space.walk[t]));
    }
    if (capped) count_limited(std::accumulate(capped, capped + learned, 0.0));
    if (space.alpha[learned - 1] > kLargestAlpha) refresh_limits();
    return learned;
}

void Filter::learn(const double* X, std::size_t n, Targets y, PerRow discount, PerRow gain,
                   PerRow walk, double* yhat) {
    const Workspace space(std::min(n, chunk_rows_), padded());
    pad(space.x, std::min(n, chunk_rows_));
    const Rows rows{X, n, y, discount, gain, walk, yhat};
    for (std::size_t t = 0; t < n;) {
        if (gain[t] < kLeastGain) {
            predict(X + t * features_, 1, yhat + t * outputs_);
            if (gain[t] == kNoTarget) {
                forget(discount[t], walk[t]);
                grow_scales(X + t * features_);
            }
            ++t;
        } else if (dimension() == 0) {  // no constant, and no feature seen yet
            std::fill_n(yhat + t * outputs_, outputs_, 0.0);
            forget(discount[t], walk[t]);
            ++t;
        } else {
            bool passed;
            Counters first;
            std::size_t chunk = stage_rows(rows, t, space, passed);
            chunk = pass_time(rows, t, chunk, passed, space, first);
            t += learn_chunk(rows, t, chunk, space, first);
        }
    }
}

void Filter::predict(const double* X, std::size_t n, double* yhat) const {
    const Workspace space(1, padded());
    for (std::size_t t = 0; t < n; ++t) {
        pad(space.x, 1);
        stage_to_predict(X + t * features_, space.x);
        kernel_->predict(W(), tiles_, outputs_, space.x, yhat + t * outputs_);
    }
}

void Filter::forget(double discount, double walk) {
    const double growth = 1.0 / discount;
    double fading = fading_of(growth, walk);
    if (counters_.must_refresh(fading)) {
        refresh_limits();
        fading = 1.0;
    }
    counters_.pass(growth, fading);
    if (kernel_->forget(D(), limit(), padded(), growth, walk)) count_limited(1.0);
}

double Filter::replay(const double* X, Targets y, Steps steps, PerRow discount, PerRow log_discount,
                      double* stamps, double now, double* yhat) {
    thread_local std::vector<double> unread;
    unread.resize(outputs_);
    for (std::size_t i = 0; i < steps.count; ++i) {
        const std::int64_t step = steps.values[i];
        const auto s = static_cast<std::size_t>(step < 0 ? ~step : step);
        if (step < 0) {
            const double gain = std::exp(now - stamps[s]);
            learn(X + s * features_, 1, y.from(s), kNoDiscount, {&gain, 0}, kNoWalk, unread.data());
            continue;
        }
        const std::size_t rows = steps.labelled_at_once(i);
        for (std::size_t t = s; t < s + std::max<std::size_t>(rows, 1); ++t)
            stamps[t] = now += log_discount[t];
        if (rows > 0) {
            learn(X + s * features_, rows, y.from(s), discount.from(s), kFullGain, kNoWalk,
                  yhat + s * outputs_);
            i += 2 * rows - 1;
        } else {
            predict(X + s * features_, 1, yhat + s * outputs_);
            forget(discount[s], 0.0);
        }
    }
    return now;
}

void Filter::residuals(const double* row, double* out) const {
    const Workspace space(1, padded());
    pad(space.x, 1);
    stage_to_predict(row, space.x);
    const std::size_t d = dimension();
    thread_local std::vector<double> product, variance;
    product.assign(d, 0.0);
    variance.assign(d, 0.0);
    for (std::size_t j = 0; j < d; ++j) {
        double sum = 0.0;
        for (std::size_t i = 0; i <= j; ++i) sum += U()[tile_offset(i, j)] * space.x[i];
        for (std::size_t i = 0; i <= j; ++i) {
            const double ud = U()[tile_offset(i, j)] * D()[j];
            product[i] += ud * sum;
            variance[i] += ud * U()[tile_offset(i, j)];
        }
    }
    for (std::size_t j = intercept_; j < d; ++j) {
        const double residual = product[j] / variance[j] * scale()[j];
        out[j - intercept_] = std::isfinite(residual) ? residual : 0.0;
    }
}

void Filter::add_features(std::size_t count) {
    features_ += count;
    const std::size_t tiles = (dimension() + kTile - 1) / kTile;
    if (tiles > tiles_) resize(std::max(tiles, tiles_ + tiles_ / 4), outputs_);
    if (relative_prior_)  // a weight's share of the prior has become smaller, for all of them
        for (std::size_t j = 0; j < dimension(); ++j) set_scale(j, scale()[j]);
}

void Filter::add_outputs(std::size_t count) { resize(tiles_, outputs_ + count); }

void Filter::drop_output(std::size_t k) {
    const auto first = numbers_.end() - static_cast<std::ptrdiff_t>((outputs_ - k) * padded());
    numbers_.erase(first, first + static_cast<std::ptrdiff_t>(padded()));
    --outputs_;
}

}  // namespace dfop
