#include "bank.hpp"

#include <algorithm>
#include <cmath>

namespace dfop {
namespace {

constexpr std::size_t kBlock = 128;
constexpr double kLeastDiscount = 1e-300;

// What a row does to an expert that forgets mu with every row: a row that stands for c rows
// decays the past by lam^c and enters with 1 + lam + ... + lam^(c-1), and one that came a while
// ago has faded as long.
struct Fading {
    double mu, rate, walk;

    Fading(const ExpertDesign& expert)
        : mu(expert.mu), rate(-std::log1p(-expert.mu)), walk(expert.walk) {}

    double discount(double elapsed) const {
        if (elapsed == 1.0) return 1.0 - mu;
        return std::max(std::exp(-rate * elapsed), kLeastDiscount);
    }

    double gain(double elapsed, double age) const {
        if (std::isinf(age)) return 0.0;
        double copies = 1.0;
        if (elapsed > 0.0 && elapsed != 1.0)
            copies = mu > 0.0 ? -std::expm1(-rate * elapsed) / mu : elapsed;
        return age > 0.0 ? copies * std::exp(-rate * age) : copies;
    }
};

}  // namespace

Bank::Bank(std::size_t features, const BankDesign& design)
    : features_(features), design_(design), standardiser_(features),
      errors_(design.experts.size()) {
    for (const TargetDesign& target : design_.targets) {
        combiners_.emplace_back(target.coding, target.outputs, design_.experts.size());
        outputs_ += target.outputs;
    }
    for (const MapDesign& map : design_.maps) {
        maps_.emplace_back(map.kind, features, map.width, map.count);
        curved_ |= map.kind != FeatureMap::Kind::linear;
    }
    for (const ExpertDesign& expert : design_.experts)
        experts_.emplace_back(maps_[expert.map].size(), outputs_, design_.intercept,
                              design_.prior_variance, design_.relative_prior, design_.cap);
    views_.resize(maps_.size());
}

void Bank::view_row(const double* row, std::size_t t, std::vector<double>& z, Views& views) const {
    if (!curved_) return;
    z.resize(features_);
    standardiser_.standardise(row, z.data());
    for (std::size_t i = 0; i < maps_.size(); ++i) {
        if (maps_[i].kind() == FeatureMap::Kind::linear) continue;
        views[i].resize(kBlock * maps_[i].size());
        maps_[i].apply(z.data(), views[i].data() + t * maps_[i].size());
    }
}

const double* Bank::view(const Views& views, std::size_t map, const double* X) const {
    return maps_[map].kind() == FeatureMap::Kind::linear ? X : views[map].data();
}

void Bank::learn(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
                 double* yhat) {
    for (std::size_t t = 0; t < n; t += kBlock)
        learn_block(X + t * features_, std::min(kBlock, n - t), Y + t * outputs_,
                    {elapsed.values + t * elapsed.step, elapsed.step},
                    {age.values + t * age.step, age.step}, yhat + t * outputs_);
}

void Bank::learn_block(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
                       double* yhat) {
    std::vector<unsigned char> seen(n);
    for (std::size_t t = 0; t < n; ++t) {
        seen[t] = !std::isinf(age[t]);
        view_row(X + t * features_, t, z_, views_);
        if (curved_ && seen[t]) standardiser_.update(X + t * features_);
    }
    labels_.assign(Y, Y + n * outputs_);
    std::size_t first = 0;
    for (const Combiner& combiner : combiners_) {
        combiner.bound_labels(n, outputs_, seen.data(), labels_.data() + first);
        first += combiner.outputs();
    }
    predictions_.resize(experts_.size() * n * outputs_);
    const auto columns = static_cast<std::ptrdiff_t>(outputs_);
    std::vector<double> discount(n), gain(n), walk(n);
    for (std::size_t k = 0; k < experts_.size(); ++k) {
        const Fading fading(design_.experts[k]);
        for (std::size_t t = 0; t < n; ++t) {
            discount[t] = fading.discount(elapsed[t]);
            gain[t] = fading.gain(elapsed[t], age[t]);
            walk[t] = fading.walk * elapsed[t];
        }
        experts_[k].learn(view(views_, design_.experts[k].map, X), n, {labels_.data(), columns, 1},
                          {discount.data(), 1}, {gain.data(), 1}, {walk.data(), 1},
                          predictions_.data() + k * n * outputs_);
    }
    first = 0;
    for (Combiner& combiner : combiners_) {
        combiner.learn({n, outputs_, predictions_.data() + first, labels_.data() + first,
                        seen.data(), yhat + first});
        first += combiner.outputs();
    }
    record_errors(predictions_, labels_.data(), n, seen);
}

void Bank::record_errors(const std::vector<double>& predictions, const double* Y, std::size_t n,
                         const std::vector<unsigned char>& seen) {
    std::vector<double> squared(experts_.size());
    for (std::size_t t = 0; t < n; ++t) {
        if (!seen[t]) continue;
        for (std::size_t k = 0; k < experts_.size(); ++k) {
            double sum = 0.0;
            for (std::size_t o = 0; o < outputs_; ++o) {
                const double error = Y[t * outputs_ + o] - predictions[(k * n + t) * outputs_ + o];
                sum += error * error;
            }
            squared[k] = sum;
        }
        errors_.update(squared.data());
    }
}

void Bank::predict(const double* X, std::size_t n, double* yhat) const {
    Views views(maps_.size());
    std::vector<double> z, predictions(experts_.size() * kBlock * outputs_);
    for (std::size_t start = 0; start < n; start += kBlock) {
        const std::size_t rows = std::min(kBlock, n - start);
        const double* block = X + start * features_;
        for (std::size_t t = 0; t < rows; ++t) view_row(block + t * features_, t, z, views);
        for (std::size_t k = 0; k < experts_.size(); ++k)
            experts_[k].predict(view(views, design_.experts[k].map, block), rows,
                                predictions.data() + k * rows * outputs_);
        std::size_t first = 0;
        for (const Combiner& combiner : combiners_) {
            combiner.predict({rows, outputs_, predictions.data() + first, nullptr, nullptr,
                              yhat + start * outputs_ + first});
            first += combiner.outputs();
        }
    }
}

void Bank::forget(double elapsed) {
    for (std::size_t k = 0; k < experts_.size(); ++k) {
        const Fading fading(design_.experts[k]);
        experts_[k].forget(fading.discount(elapsed), fading.walk * elapsed);
    }
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
    design_.targets[0].outputs += count;
    combiners_[0].add_outputs(count);
    for (Filter& expert : experts_) expert.add_outputs(count);
}

std::vector<double> Bank::weights() const {
    std::vector<double> all;
    for (const Combiner& combiner : combiners_)
        for (std::size_t o = 0; o < combiner.outputs(); ++o) {
            const std::vector<double> of_output = combiner.expert_weights(o);
            all.insert(all.end(), of_output.begin(), of_output.end());
        }
    return all;
}

}  // namespace dfop
