#include "bank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dfop {
namespace {

constexpr std::size_t kBlockRows = 128;
// With fewer rows at a time, waking threads takes about as long as what they would do.
constexpr std::size_t kFewestRows = 16;
// Rows whose features are mapped by one thread at a time.
constexpr std::size_t kSliceRows = 16;

// Whether a row of that age shows how features are distributed: not if it is predicted only.
bool shows(double age) { return !(std::isinf(age) && age > 0.0); }

void enlarge(std::vector<double>& part, std::size_t size) {
    if (part.size() < size) part.resize(size);
}

}  // namespace

// The rows of a block: as experts see them, and between experts and combination.
struct Bank::Block {
    std::size_t rows = 0;
    std::vector<std::vector<double>> views;  // the features of every map
    std::vector<const double*> view_starts;
    std::vector<double> bounded, z;
    std::vector<std::uint8_t> bins;
    const double* x = nullptr;  // as given, or with far values drawn in
    PerRow elapsed{&kZero, 0}, age{&kZero, 0};
    const double* given = nullptr;
    std::vector<unsigned char> seen;
    std::vector<double> ages;           // where some labels teach nothing
    std::vector<double> instead;        // what is predicted in place of the experts' word, or NaN
    std::vector<double> labels;         // as experts see them
    std::vector<double> predictions;    // of expert k at [k * rows * outputs]
    double* yhat = nullptr;             // where the predictions of the bank go
    double* made = nullptr;             // what was predicted when the rows came
    bool anew = false;                  // its only row shows that learning begins anew
    bool taught = true, apart = false;  // whether all labels teach, and something is said instead

    void fit(std::size_t count, const Bank& bank) {
        rows = count;
        if (views.size() < bank.maps_.size()) views.resize(bank.maps_.size());
        if (view_starts.size() < bank.maps_.size()) view_starts.resize(bank.maps_.size());
        for (std::size_t i = 0; i < bank.maps_.size(); ++i)
            if (bank.maps_[i].kind() != FeatureMap::Kind::linear)
                enlarge(views[i], rows * bank.maps_[i].size());
        if (bank.design_.bounded) enlarge(bounded, rows * bank.features_);
        enlarge(z, rows * bank.features_);
        if (bank.binned_ && bins.size() < rows * bank.features_) bins.resize(rows * bank.features_);
        if (seen.size() < rows) seen.resize(rows);
        enlarge(labels, rows * bank.outputs_);
        enlarge(predictions, bank.experts_.size() * rows * bank.outputs_);
    }
    double* predictions_of(std::size_t k, std::size_t outputs) {
        return predictions.data() + k * rows * outputs;
    }
};

// What only lives while rows are learned, shared by all banks of a thread.
struct Bank::Workspace {
    std::vector<double> squared, yhat, yhat_anew, age;
    std::vector<Range> ranges;       // of the labels, as far as rows have been looked at
    std::vector<std::size_t> order;  // of the experts, those that take the longest first
    Block blocks[3];                 // for the combination, the experts, and the rows behind them
};

Bank::Workspace& Bank::workspace() {
    thread_local Workspace space;
    return space;
}

// The rows themselves where every value is believed, as nearly always; else with far values drawn in.
const double* Bank::bound_rows(const double* X, Block& block) const {
    if (!design_.bounded) return X;
    std::size_t t = 0;
    while (t < block.rows && bounds_.believe(X + t * features_)) ++t;
    if (t == block.rows) return X;
    std::copy_n(X, t * features_, block.bounded.begin());
    for (; t < block.rows; ++t)
        bounds_.draw_in(X + t * features_, block.bounded.data() + t * features_);
    return block.bounded.data();
}

// The same of rows that show, one after the other, how far features reach.
const double* Bank::learn_bounds(const double* X, Block& block) {
    if (!design_.bounded) return X;
    const double* bounded = X;
    for (std::size_t t = 0; t < block.rows; ++t) {
        const double* row = X + t * features_;
        const bool believed = bounds_.believe(row);
        if (!believed && bounded == X) {
            std::copy_n(X, t * features_, block.bounded.begin());
            bounded = block.bounded.data();
        }
        if (bounded != X) bounds_.draw_in(row, block.bounded.data() + t * features_);
        if (shows(block.age[t])) bounds_.learn(row);
    }
    return bounded;
}

void Bank::scale_row(std::size_t t, Block& block) const {
    const double* row = block.x + t * features_;
    if (binned_) bins_.find(row, block.bins.data() + t * features_);
    if (standardised_) standardiser_.standardise(row, block.z.data() + t * features_);
}

void Bank::map_row(std::size_t t, Block& block) const {
    for (std::size_t i = 0; i < maps_.size(); ++i) {
        double* view = block.views[i].data() + t * maps_[i].size();
        if (maps_[i].kind() == FeatureMap::Kind::ranks)
            bins_.ranks(block.bins.data() + t * features_, view);
        else
            maps_[i].apply(block.z.data() + t * features_, view);
    }
}

ExpertRows Bank::rows_of(Block& block) const {
    for (std::size_t i = 0; i < maps_.size(); ++i)
        block.view_starts[i] =
            maps_[i].kind() == FeatureMap::Kind::linear ? block.x : block.views[i].data();
    return {
        block.rows,        features_,     block.x,   block.z.data(),      block.view_starts.data(),
        block.bins.data(), &bins_,        nullptr,   block.given,         own_,
        block.seen.data(), block.elapsed, block.age, block.labels.data(), outputs_};
}

// A target in the background is judged at once, until it counts.
template <class Self, class Each>
void Bank::each_target(Self& self, double* made, const Each& each) {
    std::size_t first = 0;
    const std::size_t stride = self.made_size();
    for (std::size_t c = 0; c < self.combiners_.size(); ++c) {
        auto& combiner = self.combiners_[c];
        const std::size_t of_output = combiner.made_of_output();
        const bool kept = made && !self.design_.targets[c].shadow;
        each(c, first, kept ? Made{made, stride, of_output} : Made{});
        if (kept)
            made +=
                of_output * combiner.outputs() + has_bounds(self.design_, self.design_.targets[c]);
        first += combiner.outputs();
    }
}

std::size_t Bank::made_size() const {
    std::size_t size = 0;
    for (std::size_t c = 0; c < combiners_.size(); ++c)
        if (!design_.targets[c].shadow)
            size += combiners_[c].outputs() * combiners_[c].made_of_output() +
                    has_bounds(design_, design_.targets[c]);
    return size;
}

// Tasks on the rows of a block, on threads where that pays.
template <class Task>
void Bank::run(std::size_t count, std::size_t rows, const Task& task) const {
    if (threads_ > 1 && rows >= kFewestRows) return ThreadPool::shared().run(count, threads_, task);
    for (std::size_t i = 0; i < count; ++i) task(i);
}

// Rows are made ready, experts learn them, the combination follows. What experts have learned does not
// matter to the other two, so with several threads the block before is combined and the next one made
// ready while experts learn a block.
void Bank::learn(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
                 double* yhat, double* made, const double* given) {
    Workspace& space = workspace();
    space.ranges.clear();
    for (const LateCombiner& combiner : combiners_) space.ranges.push_back(combiner.range());
    order_experts(space.order);
    std::size_t ready = 0;  // rows
    Block* before = nullptr;
    const auto make_ready = [&](Block& block) {
        const std::size_t t = ready;
        block.fit(block_rows(n - t, age.from(t)), *this);
        block.age = age.from(t);
        bound_labels(Y + t * outputs_, block, space);
        block.yhat = yhat + t * outputs_;
        block.made = made ? made + t * made_size() : nullptr;
        if (block.anew) {  // what was learned predicts this row, too
            if (before != nullptr) combine(*std::exchange(before, nullptr));
            predict(X + t * features_, 1, block.yhat, nullptr, given_from(given, t));
            say_instead(block);
            enlarge(space.yhat_anew, outputs_);
            block.yhat = space.yhat_anew.data();
            begin_anew();
        }
        if (block.made) forget_made(block);
        // who begins anew with a row had no time before it, known at once or late
        block.elapsed = block.anew ? PerRow{&kZero, 0} : elapsed.from(t);
        block.age = block.taught ? age.from(t) : PerRow{block.ages.data(), 1};
        block.given = given_from(given, t);
        view_rows(X + t * features_, block);
        ready += block.rows;
    };
    const std::size_t blocks = threads_ > 1 ? std::size(space.blocks) : 1;
    for (std::size_t i = 0, done = 0; done < n; ++i) {
        Block& block = space.blocks[i % blocks];
        if (ready == done) make_ready(block);
        done = ready;
        const bool redraw = binned_ && bins_.due();  // before the next rows are looked at
        const bool ahead = threads_ > 1 && done < n && !redraw && !bounds_are_due();
        const ExpertRows rows = rows_of(block);
        const auto task = [&](std::size_t task) {
            if (task > 1)
                learn_expert(space.order[task - 2], rows, block);
            else if (task == 1 && ahead)
                make_ready(space.blocks[(i + 1) % blocks]);
            else if (task == 0 && before != nullptr)
                combine(*before);
        };
        run(2 + space.order.size(), block.rows, task);
        before = &block;
        if (threads_ == 1) combine(*std::exchange(before, nullptr));
        if (redraw) redraw_bins();
    }
    if (before != nullptr) combine(*before);
}

// So that no thread is left alone with a long task at the end: experts that another one corrects,
// as both are one task, then the others from the last on, since curves and forests stand there.
void Bank::order_experts(std::vector<std::size_t>& order) const {
    using enum ExpertDesign::Kind;
    order.clear();
    for (std::size_t k = experts_.size(); k-- > 0;)
        if (design_.experts[k].kind != residual_forest) order.push_back(k);
    const auto corrected = [&](std::size_t k) {
        return std::any_of(design_.experts.begin(), design_.experts.end(), [&](const auto& other) {
            return other.kind == residual_forest && other.map == k;
        });
    };
    std::stable_partition(order.begin(), order.end(), corrected);
}

// An expert that corrects another one learns right behind it.
void Bank::learn_expert(std::size_t k, ExpertRows rows, Block& block) {
    using enum ExpertDesign::Kind;
    const auto learn = [&](std::size_t which) {
        std::visit([&](auto& kind) { kind.learn(rows, block.predictions_of(which, outputs_)); },
                   experts_[which]);
    };
    learn(k);
    rows.base = block.predictions_of(k, outputs_);
    for (std::size_t i = k + 1; i < experts_.size(); ++i)
        if (design_.experts[i].kind == residual_forest && design_.experts[i].map == k) learn(i);
}

void Bank::combine(Block& block) {
    each_target(*this, block.made, [&](std::size_t c, std::size_t first, Made of_target) {
        combiners_[c].learn({block.rows, outputs_, block.predictions.data() + first, block.rows,
                             block.labels.data() + first, block.seen.data(), block.yhat + first,
                             of_target});
        design_.targets[c].late = combiners_[c].late();
    });
    if (block.anew) return;  // who knows nothing yet is not judged
    record_errors(block);
    say_instead(block);
}

// In a state apart the last label is predicted again, see TargetBounds.
void Bank::say_instead(const Block& block) const {
    if (!block.apart) return;
    for (std::size_t i = 0; i < block.rows * outputs_; ++i)
        if (!std::isnan(block.instead[i])) block.yhat[i] = block.instead[i];
}

// A block ends where the edges of bins are drawn anew.
std::size_t Bank::block_rows(std::size_t n, PerRow age) const {
    const std::size_t most = std::min(kBlockRows, n);
    if (!binned_ || bins_.rows_to_redraw() >= most) return most;
    std::size_t rows = 0;
    for (std::size_t left = bins_.rows_to_redraw(); rows < most && left > 0; ++rows)
        if (shows(age[rows])) --left;
    return rows;
}

void Bank::redraw_bins() { rebin_experts(bins_.redraw()); }

void Bank::rebin_experts(const Bins::Moves& moves) {
    for (Expert& expert : experts_) {
        if (auto* forest = std::get_if<Forest>(&expert)) forest->rebin(moves);
        if (auto* bayes = std::get_if<LabelExpert<HistogramBayes>>(&expert))
            bayes->rebin(moves, bins_);
        if (auto* additive = std::get_if<Additive>(&expert)) additive->rebin(moves, bins_);
    }
}

void Bank::view_rows(const double* X, Block& block) {
    block.x = learn_bounds(X, block);
    for (std::size_t t = 0; t < block.rows; ++t) {
        scale_row(t, block);
        if (!shows(block.age[t])) continue;
        if (standardised_) standardiser_.update(block.x + t * features_);
        if (binned_) bins_.learn(block.x + t * features_);
    }
    const auto map_slice = [&](std::size_t i) {
        const std::size_t end = std::min((i + 1) * kSliceRows, block.rows);
        for (std::size_t t = i * kSliceRows; t < end; ++t) map_row(t, block);
    };
    run((block.rows + kSliceRows - 1) / kSliceRows, block.rows, map_slice);
}

// Labels as experts see them.
void Bank::bound_labels(const double* Y, Block& block, Workspace& space) {
    for (std::size_t t = 0; t < block.rows; ++t) block.seen[t] = !std::isinf(block.age[t]);
    std::copy_n(Y, block.rows * outputs_, block.labels.begin());
    bound_numbers(Y, block);
    std::size_t first = 0;
    for (std::size_t c = 0; c < combiners_.size(); ++c) {
        if (has_bounds(design_, design_.targets[c])) {
            first += 1;
            continue;
        }
        combiners_[c].bound_labels(block.rows, outputs_, block.seen.data(),
                                   block.labels.data() + first, space.ranges[c]);
        first += combiners_[c].outputs();
    }
}

// A row that may show that learning begins anew stands alone in its block.
void Bank::bound_numbers(const double* Y, Block& block) {
    block.anew = block.apart = false;
    block.taught = true;
    if (!design_.bounded) return;
    if (bounds_are_due()) block.rows = 1;
    for (std::size_t t = 0; t < block.rows; ++t) {
        note_apart(t, block);
        if (!block.seen[t]) continue;
        std::size_t at = t * outputs_;
        for (std::size_t c = 0; c < design_.targets.size(); ++c) {
            if (has_bounds(design_, design_.targets[c])) {
                const TargetBounds::Taken taken =
                    target_bounds_[c].take(Y[at], design_.targets.size() == 1);
                block.labels[at] = taken.label;
                block.anew |= taken.anew;
                if (!taken.taught) leave_out(t, block);
            }
            at += design_.targets[c].outputs;
        }
        if (bounds_are_due()) block.rows = t + 1;
    }
}

// The row counts as one without a label.
void Bank::leave_out(std::size_t t, Block& block) const {
    if (block.taught) {
        enlarge(block.ages, block.rows);
        for (std::size_t i = 0; i < block.rows; ++i) block.ages[i] = block.age[i];
        block.taught = false;
    }
    block.ages[t] = -std::numeric_limits<double>::infinity();
    block.seen[t] = false;
}

// What is said instead of row t's prediction, as its label is not known yet.
void Bank::note_apart(std::size_t t, Block& block) const {
    const bool some = std::any_of(target_bounds_.begin(), target_bounds_.end(),
                                  [](const auto& bounds) { return !std::isnan(bounds.instead()); });
    if (some && !block.apart) {
        block.instead.assign(block.rows * outputs_, std::numeric_limits<double>::quiet_NaN());
        block.apart = true;
    }
    if (some) put_instead(block.instead.data() + t * outputs_);
}

void Bank::put_instead(double* to) const {
    for (std::size_t c = 0; c < target_bounds_.size(); ++c) {
        if (has_bounds(design_, design_.targets[c]) && !std::isnan(target_bounds_[c].instead()))
            *to = target_bounds_[c].instead();
        to += design_.targets[c].outputs;
    }
}

bool Bank::bounds_are_due() const {
    return std::any_of(target_bounds_.begin(), target_bounds_.end(),
                       [](const TargetBounds& bounds) { return bounds.due(); });
}

// Behind what is put down of a target with bounds stands how often learning had begun anew.
void Bank::mark_made(std::size_t rows, double* made) const {
    for (std::size_t t = 0; t < rows; ++t)
        each_target(*this, made + t * made_size(), [&](std::size_t c, std::size_t, Made then) {
            if (then.values && has_bounds(design_, design_.targets[c]))
                then.values[combiners_[c].made_of_output()] = begun_;
        });
}

// What was predicted before learning began anew says nothing about the experts of now.
void Bank::forget_made(const Block& block) const {
    for (std::size_t t = 0; t < block.rows; ++t)
        each_target(*this, block.made + t * made_size(),
                    [&](std::size_t c, std::size_t, Made then) {
                        if (then.values && has_bounds(design_, design_.targets[c]) &&
                            then.values[combiners_[c].made_of_output()] != begun_)
                            then.values[0] = std::numeric_limits<double>::quiet_NaN();
                    });
}

void Bank::record_errors(const Block& block) {
    Workspace& space = workspace();
    enlarge(space.squared, experts_.size());
    for (std::size_t t = 0; t < block.rows; ++t) {
        if (!block.seen[t]) continue;
        const double* labels = block.labels.data() + t * outputs_;
        for (std::size_t k = 0; k < experts_.size(); ++k) {
            const double* predicted = block.predictions.data() + (k * block.rows + t) * outputs_;
            double sum = 0.0;
            std::size_t o = 0;
            for (const TargetDesign& target : design_.targets)
                for (const std::size_t end = o + target.outputs; o < end; ++o) {
                    // who has no answer is as wrong as the prediction without it
                    const double said =
                        std::isnan(predicted[o]) ? block.yhat[t * outputs_ + o] : predicted[o];
                    const double error = target.shadow ? 0.0 : labels[o] - said;
                    sum += error * error;
                }
            space.squared[k] = sum;
        }
        errors_.update(space.squared.data());
    }
}

// Blocks of rows do not depend on each other here, so each thread takes whole ones.
void Bank::predict(const double* X, std::size_t n, double* yhat, double* made,
                   const double* given) const {
    const auto predict_from = [&](std::size_t i) {
        const std::size_t start = i * kBlockRows, rows = std::min(kBlockRows, n - start);
        Block& block = predict_block(X + start * features_, rows, given_from(given, start));
        double* of_block = made ? made + start * made_size() : nullptr;
        each_target(*this, of_block, [&](std::size_t c, std::size_t first, Made of_target) {
            combiners_[c].predict({rows, outputs_, block.predictions.data() + first, rows, nullptr,
                                   nullptr, yhat + start * outputs_ + first, of_target});
        });
        if (of_block) mark_made(rows, of_block);
        for (std::size_t t = start; t < start + rows; ++t) put_instead(yhat + t * outputs_);
    };
    const std::size_t blocks = (n + kBlockRows - 1) / kBlockRows;
    if (threads_ > 1 && blocks > 1)
        ThreadPool::shared().run(blocks, threads_, predict_from);
    else
        for (std::size_t i = 0; i < blocks; ++i) predict_from(i);
}

bool Bank::came_first(double* made) const {
    bool first = false;
    each_target(*this, made, [&](std::size_t c, std::size_t, Made then) {
        if (then.values && combiners_[c].outputs() > 0) first |= combiners_[c].came_first(then);
    });
    return first;
}

void Bank::remake(const double* X, std::size_t n, double* made) const {
    const std::size_t size = made_size();
    std::vector<double> now(size), yhat(outputs_);
    for (std::size_t t = 0; t < n; ++t) {
        double* of_row = made + t * size;
        if (!came_first(of_row)) continue;
        predict(X + t * features_, 1, yhat.data(), now.data());
        each_target(*this, of_row, [&](std::size_t c, std::size_t, Made then) {
            if (!then.values || combiners_[c].outputs() == 0) return;
            if (!combiners_[c].came_first(then)) return;
            combiners_[c].take({now.data() + (then.values - of_row), size, then.of_output}, then);
            if (has_bounds(design_, design_.targets[c]))
                then.values[combiners_[c].made_of_output()] = begun_;
        });
    }
}

void Bank::predict_each(const double* X, std::size_t n, double* predictions) const {
    for (std::size_t start = 0; start < n; start += kBlockRows) {
        const std::size_t rows = std::min(kBlockRows, n - start);
        Block& block = predict_block(X + start * features_, rows, nullptr);
        for (std::size_t k = 0; k < experts_.size(); ++k)
            std::copy_n(block.predictions_of(k, outputs_), rows * outputs_,
                        predictions + (k * n + start) * outputs_);
    }
}

// In the workspace of this thread.
Bank::Block& Bank::predict_block(const double* X, std::size_t n, const double* given) const {
    Block& block = workspace().blocks[0];
    block.fit(n, *this);
    block.elapsed = block.age = {&kZero, 0};
    block.given = given;
    block.x = bound_rows(X, block);
    for (std::size_t t = 0; t < n; ++t) {
        scale_row(t, block);
        map_row(t, block);
    }
    ExpertRows rows = rows_of(block);
    for (std::size_t k = 0; k < experts_.size(); ++k) {
        if (design_.experts[k].kind == ExpertDesign::Kind::residual_forest)
            rows.base = block.predictions_of(design_.experts[k].map, outputs_);
        double* predictions = block.predictions_of(k, outputs_);
        std::visit([&](const auto& kind) { kind.predict(rows, predictions); }, experts_[k]);
    }
    return block;
}

void Bank::forget(double elapsed) {
    for (Expert& expert : experts_) std::visit([&](auto& kind) { kind.forget(elapsed); }, expert);
}

// Labels of rows that came one after the other.
void Bank::learn_late(const double* X, std::size_t n, const double* Y, const double* stamps,
                      double now, double* made, const double* given) {
    Workspace& space = workspace();
    enlarge(space.yhat, n * outputs_);
    enlarge(space.age, n);
    for (std::size_t t = 0; t < n; ++t) space.age[t] = now - stamps[t];
    learn(X, n, Y, {&kZero, 0}, {space.age.data(), 1}, space.yhat.data(), made, given);
}

double Bank::replay(const double* X, const double* Y, Steps steps, PerRow elapsed, double* stamps,
                    double now, double* yhat, double* made, const double* given_first,
                    const double* given_late) {
    const std::size_t size = made_size();
    for (std::size_t i = 0; i < steps.count; ++i) {
        const std::int64_t step = steps.values[i];
        const auto s = static_cast<std::size_t>(step < 0 ? ~step : step);
        const double *row = X + s * features_, *label = Y + s * outputs_;
        if (step < 0) {
            const std::size_t rows = steps.in_line(i, kBlockRows);
            learn_late(row, rows, label, stamps + s, now, made + s * size,
                       given_from(given_late, s));
            i += rows - 1;
            continue;
        }
        std::size_t rows = steps.labelled_at_once(i), alike = 0;
        // Only a row with time 1 is what it is after the time has passed.
        while (alike < rows && elapsed[s + alike] == 1.0) ++alike;
        for (std::size_t t = s; t < s + std::max<std::size_t>(alike, 1); ++t)
            stamps[t] = now += elapsed[t];
        if (alike > 0) {
            learn(row, alike, label, elapsed.from(s), {&kZero, 0}, yhat + s * outputs_, nullptr,
                  given_from(given_first, s));
            i += 2 * alike - 1;
        } else {
            predict(row, 1, yhat + s * outputs_, made + s * size, given_from(given_first, s));
            forget(elapsed[s]);
        }
    }
    return now;
}

}  // namespace dfop
