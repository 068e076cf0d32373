// Many filters on the same rows, each with its own forgetting and its own view of the features,
// and one prediction made of theirs. The filters do not depend on each other, so a block of rows
// passes through one after the other; the combination then takes the block row by row. Nothing
// depends on where blocks end.
#pragma once

#include <cstddef>
#include <vector>

#include "combiner.hpp"
#include "error_record.hpp"
#include "feature_map.hpp"
#include "filter.hpp"
#include "standardiser.hpp"

namespace dfop {

struct ExpertDesign {
    std::size_t map;
    double mu;    // what it forgets with every row
    double walk;  // how far its weights may walk with every row, see Filter::learn
};

struct MapDesign {
    FeatureMap::Kind kind;
    double width;       // of Fourier features
    std::size_t count;  // of Fourier features
};

struct TargetDesign {
    Coding coding;
    std::size_t outputs;
};

struct BankDesign {
    std::vector<MapDesign> maps;
    std::vector<ExpertDesign> experts;
    std::vector<TargetDesign> targets;
    bool intercept;
    double prior_variance;
    bool relative_prior;
    double cap;
};

class Bank {
public:
    Bank(std::size_t features, const BankDesign& design);

    // Predicts every row before its label is read, then learns it. `elapsed` is the time that
    // passes with the row, in rows: c for a row that stands for c of them. `age` is how long ago
    // the row came, infinite for one that shall be predicted only.
    void learn(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
               double* yhat);
    void predict(const double* X, std::size_t n, double* yhat) const;
    void forget(double elapsed);

    void add_features(std::size_t count);  // as if they had been there, always 0
    void add_outputs(std::size_t count);   // to the first target, a class label

    std::size_t features() const { return features_; }
    std::size_t outputs() const { return outputs_; }
    const BankDesign& design() const { return design_; }
    // outputs x experts: what each expert counts in the prediction.
    std::vector<double> weights() const;

    // The parts, for files.
    Standardiser& standardiser() { return standardiser_; }
    std::vector<FeatureMap>& maps() { return maps_; }
    std::vector<Filter>& experts() { return experts_; }
    std::vector<Combiner>& combiners() { return combiners_; }
    ErrorRecord& errors() { return errors_; }

private:
    // The features of every map, of up to kBlock rows.
    using Views = std::vector<std::vector<double>>;
    void view_row(const double* row, std::size_t t, std::vector<double>& z, Views& views) const;
    const double* view(const Views& views, std::size_t map, const double* X) const;
    void learn_block(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
                     double* yhat);
    void record_errors(const std::vector<double>& predictions, const double* Y, std::size_t n,
                       const std::vector<unsigned char>& seen);

    std::size_t features_, outputs_ = 0;
    BankDesign design_;
    bool curved_ = false;  // whether some map needs standardised features
    Standardiser standardiser_;
    std::vector<FeatureMap> maps_;
    std::vector<Filter> experts_;
    std::vector<Combiner> combiners_;
    ErrorRecord errors_;
    Views views_;
    std::vector<double> z_, labels_, predictions_;
};

}  // namespace dfop
