#include "bank.hpp"

#include <algorithm>
#include <cmath>

namespace dfop {
namespace {

constexpr std::size_t kBlockRows = 128;
constexpr double kLeastDiscount = 1e-300;

}  // namespace

// A row that stands for c rows decays the past by lam^c and enters with 1 + lam + ... + lam^(c-1),
// and one that came a while ago has faded as long.
Fading::Fading(const ExpertDesign& expert)
    : mu(expert.mu), rate(-std::log1p(-expert.mu)), walk(expert.walk) {}

double Fading::discount(double elapsed) const {
    if (elapsed == 0.0) return 1.0;
    if (elapsed == 1.0) return 1.0 - mu;
    return std::max(std::exp(-rate * elapsed), kLeastDiscount);
}

double Fading::gain(double elapsed, double age) const {
    if (std::isinf(age)) return 0.0;
    double copies = 1.0;
    if (elapsed > 0.0 && elapsed != 1.0)
        copies = mu > 0.0 ? -std::expm1(-rate * elapsed) / mu : elapsed;
    return age > 0.0 ? copies * std::exp(-rate * age) : copies;
}

// What only lives while rows are learned, shared by all banks of a thread.
struct Bank::Workspace {
    std::vector<std::vector<double>> views;  // the features of every map
    std::vector<double> z, labels, predictions, discount, gain, walk, squared, yhat, age;
    std::vector<unsigned char> seen;

    void fit(std::size_t rows, const Bank& bank) {
        const std::size_t labels_needed = rows * bank.outputs_;
        if (views.size() < bank.maps_.size()) views.resize(bank.maps_.size());
        if (bank.curved_)
            for (std::size_t i = 0; i < bank.maps_.size(); ++i)
                enlarge(views[i], rows * bank.maps_[i].size());
        enlarge(z, bank.features_);
        enlarge(labels, labels_needed);
        enlarge(predictions, bank.experts_.size() * labels_needed);
        for (auto* part : {&discount, &gain, &walk}) enlarge(*part, rows);
        enlarge(squared, bank.experts_.size());
        enlarge(yhat, rows * bank.outputs_);
        enlarge(age, rows);
        if (seen.size() < rows) seen.resize(rows);
    }
    static void enlarge(std::vector<double>& part, std::size_t size) {
        if (part.size() < size) part.resize(size);
    }
};

Bank::Workspace& Bank::workspace() {
    thread_local Workspace space;
    return space;
}

Bank::Bank(std::size_t features, const BankDesign& design)
    : features_(features), design_(design), curved_(is_curved(design)), standardiser_(features),
      errors_(design.experts.size()) {
    for (const MapDesign& map : design_.maps)
        maps_.emplace_back(map.kind, features, map.width, map.count);
    for (const ExpertDesign& expert : design_.experts) {
        fadings_.emplace_back(expert);
        experts_.emplace_back(maps_[expert.map].size(), 0, design_.intercept,
                              design_.prior_variance, design_.relative_prior, design_.cap);
    }
    design_.targets.clear();
    for (const TargetDesign& target : design.targets) add_target(target);
}

void Bank::add_target(const TargetDesign& target) {
    design_.targets.push_back(target);
    combiners_.emplace_back(target.coding, target.outputs, design_.experts.size());
    if (target.late) combiners_.back().open_late();
    outputs_ += target.outputs;
    for (Filter& expert : experts_) expert.add_outputs(target.outputs);
}

void Bank::view_row(const double* row, std::size_t t, Workspace& space) const {
    if (!curved_) return;
    standardiser_.standardise(row, space.z.data());
    for (std::size_t i = 0; i < maps_.size(); ++i)
        maps_[i].apply(space.z.data(), space.views[i].data() + t * maps_[i].size());
}

const double* Bank::view(const Workspace& space, std::size_t map, const double* X) const {
    return maps_[map].kind() == FeatureMap::Kind::linear ? X : space.views[map].data();
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
        if (kept) made += of_output * combiner.outputs();
        first += combiner.outputs();
    }
}

std::size_t Bank::made_size() const {
    std::size_t size = 0;
    for (std::size_t c = 0; c < combiners_.size(); ++c)
        if (!design_.targets[c].shadow)
            size += combiners_[c].outputs() * combiners_[c].made_of_output();
    return size;
}

void Bank::learn(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
                 double* yhat, double* made) {
    for (std::size_t t = 0; t < n; t += kBlockRows)
        learn_block(X + t * features_, std::min(kBlockRows, n - t), Y + t * outputs_,
                    elapsed.from(t), age.from(t), yhat + t * outputs_,
                    made ? made + t * made_size() : nullptr);
}

void Bank::learn_block(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
                       double* yhat, double* made) {
    Workspace& space = workspace();
    space.fit(n, *this);
    view_rows(X, n, age, space);
    bound_labels(Y, n, space);
    for (std::size_t k = 0; k < experts_.size(); ++k) learn_expert(k, X, n, elapsed, age, space);
    each_target(*this, made, [&](std::size_t c, std::size_t first, Made of_target) {
        combiners_[c].learn({n, outputs_, space.predictions.data() + first, n,
                             space.labels.data() + first, space.seen.data(), yhat + first,
                             of_target});
        design_.targets[c].late = combiners_[c].late();
    });
    record_errors(n, space);
}

void Bank::view_rows(const double* X, std::size_t n, PerRow age, Workspace& space) {
    for (std::size_t t = 0; t < n; ++t) {
        space.seen[t] = !std::isinf(age[t]);
        view_row(X + t * features_, t, space);
        if (curved_ && space.seen[t]) standardiser_.update(X + t * features_);
    }
}

void Bank::bound_labels(const double* Y, std::size_t n, Workspace& space) const {
    std::copy_n(Y, n * outputs_, space.labels.begin());
    std::size_t first = 0;
    for (const LateCombiner& combiner : combiners_) {
        combiner.bound_labels(n, outputs_, space.seen.data(), space.labels.data() + first);
        first += combiner.outputs();
    }
}

void Bank::learn_expert(std::size_t k, const double* X, std::size_t n, PerRow elapsed, PerRow age,
                        Workspace& space) {
    const Fading& fading = fadings_[k];
    for (std::size_t t = 0; t < n; ++t) {
        space.discount[t] = fading.discount(elapsed[t]);
        space.gain[t] = fading.gain(elapsed[t], age[t]);
        space.walk[t] = fading.walk * elapsed[t];
    }
    experts_[k].learn(view(space, design_.experts[k].map, X), n,
                      {space.labels.data(), static_cast<std::ptrdiff_t>(outputs_), 1},
                      {space.discount.data(), 1}, {space.gain.data(), 1}, {space.walk.data(), 1},
                      space.predictions.data() + k * n * outputs_);
}

void Bank::record_errors(std::size_t n, Workspace& space) {
    for (std::size_t t = 0; t < n; ++t) {
        if (!space.seen[t]) continue;
        const double* labels = space.labels.data() + t * outputs_;
        for (std::size_t k = 0; k < experts_.size(); ++k) {
            const double* predicted = space.predictions.data() + (k * n + t) * outputs_;
            double sum = 0.0;
            std::size_t o = 0;
            for (const TargetDesign& target : design_.targets)
                for (const std::size_t end = o + target.outputs; o < end; ++o) {
                    const double error = target.shadow ? 0.0 : labels[o] - predicted[o];
                    sum += error * error;
                }
            space.squared[k] = sum;
        }
        errors_.update(space.squared.data());
    }
}

void Bank::predict(const double* X, std::size_t n, double* yhat, double* made) const {
    Workspace& space = workspace();
    space.fit(std::min(n, kBlockRows), *this);
    for (std::size_t start = 0; start < n; start += kBlockRows) {
        const std::size_t rows = std::min(kBlockRows, n - start);
        const double* block = X + start * features_;
        for (std::size_t t = 0; t < rows; ++t) view_row(block + t * features_, t, space);
        for (std::size_t k = 0; k < experts_.size(); ++k)
            experts_[k].predict(view(space, design_.experts[k].map, block), rows,
                                space.predictions.data() + k * rows * outputs_);
        double* of_block = made ? made + start * made_size() : nullptr;
        each_target(*this, of_block, [&](std::size_t c, std::size_t first, Made of_target) {
            combiners_[c].predict({rows, outputs_, space.predictions.data() + first, rows, nullptr,
                                   nullptr, yhat + start * outputs_ + first, of_target});
        });
    }
}

void Bank::forget(double elapsed) {
    for (std::size_t k = 0; k < experts_.size(); ++k)
        experts_[k].forget(fadings_[k].discount(elapsed), fadings_[k].walk * elapsed);
}

// Labels of rows that came one after the other.
void Bank::learn_late(const double* X, std::size_t n, const double* Y, const double* stamps,
                      double now, double* made) {
    Workspace& space = workspace();
    space.fit(n, *this);
    for (std::size_t t = 0; t < n; ++t) space.age[t] = now - stamps[t];
    learn_block(X, n, Y, {&kZero, 0}, {space.age.data(), 1}, space.yhat.data(), made);
}

double Bank::replay(const double* X, const double* Y, Steps steps, PerRow elapsed, double* stamps,
                    double now, double* yhat, double* made) {
    const std::size_t size = made_size();
    for (std::size_t i = 0; i < steps.count; ++i) {
        const std::int64_t step = steps.values[i];
        const auto s = static_cast<std::size_t>(step < 0 ? ~step : step);
        const double *row = X + s * features_, *label = Y + s * outputs_;
        if (step < 0) {
            const std::size_t rows = steps.in_line(i, kBlockRows);
            learn_late(row, rows, label, stamps + s, now, made + s * size);
            i += rows - 1;
            continue;
        }
        std::size_t rows = steps.labelled_at_once(i), alike = 0;
        // Only a row with time 1 is what it is after the time has passed.
        while (alike < rows && elapsed[s + alike] == 1.0) ++alike;
        for (std::size_t t = s; t < s + std::max<std::size_t>(alike, 1); ++t)
            stamps[t] = now += elapsed[t];
        if (alike > 0) {
            learn(row, alike, label, elapsed.from(s), {&kZero, 0}, yhat + s * outputs_);
            i += 2 * alike - 1;
        } else {
            predict(row, 1, yhat + s * outputs_, made + s * size);
            forget(elapsed[s]);
        }
    }
    return now;
}

void Bank::add_features(std::size_t count) {
    features_ += count;
    standardiser_.add_features(count);
    for (FeatureMap& map : maps_) map.add_features(count);
    for (std::size_t k = 0; k < experts_.size(); ++k) {
        const std::size_t size = maps_[design_.experts[k].map].size();
        if (size > experts_[k].features()) experts_[k].add_features(size - experts_[k].features());
    }
}

void Bank::add_outputs(std::size_t count) {
    outputs_ += count;
    design_.targets.back().outputs += count;
    combiners_.back().add_outputs(count);
    for (Filter& expert : experts_) expert.add_outputs(count);
}

void Bank::add_number_targets(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_target({Coding::number, 1});
}

void Bank::drop_first_target() {
    const std::size_t dropped = design_.targets.front().outputs;
    for (Filter& expert : experts_)
        for (std::size_t o = 0; o < dropped; ++o) expert.drop_output(0);
    outputs_ -= dropped;
    combiners_.erase(combiners_.begin());
    design_.targets.erase(design_.targets.begin());
}

void Bank::settle() {
    for (std::size_t i = 0; i < maps_.size(); ++i)
        settle_part("map " + std::to_string(i), [&] { maps_[i].settle(); });
    for (std::size_t k = 0; k < experts_.size(); ++k)
        settle_part("expert " + std::to_string(k), [&] { experts_[k].settle(); });
    std::size_t output = 0;
    for (std::size_t c = 0; c < combiners_.size(); ++c) {
        settle_part("target " + std::to_string(c), [&] { combiners_[c].settle(); });
        for (std::size_t o = 0; o < combiners_[c].outputs(); ++o, ++output)
            settle_part("output " + std::to_string(output),
                        [&] { combiners_[c].settle_output(o); });
    }
    settle_part("errors", [&] { errors_.settle(); });
}

std::vector<double> Bank::weights() const {
    std::vector<double> all;
    for (const LateCombiner& combiner : combiners_)
        for (std::size_t o = 0; o < combiner.outputs(); ++o) {
            const std::vector<double> of_output = combiner.expert_weights(o);
            all.insert(all.end(), of_output.begin(), of_output.end());
        }
    return all;
}

}  // namespace dfop
