// Rows that were predicted since something was last learned, as they were coded; the oldest are
// dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfop {

class AskedRows {
public:
    // One that is asked about twice in a row is one row.
    void add(std::uint64_t digest, const double* row, std::size_t width, std::size_t limit) {
        if (width != width_) clear();
        width_ = width;
        if (size() > 0 && digests_.back() == digest) return;
        if (size() >= limit) ++first_;
        if (first_ > limit) drop_gone();
        digests_.push_back(digest);
        values_.insert(values_.end(), row, row + width);
    }

    // Whether this was the last row, which is then taken away.
    bool take_last(std::uint64_t digest) {
        if (size() == 0 || digests_.back() != digest) return false;
        digests_.pop_back();
        values_.resize(values_.size() - width_);
        if (size() == 0) clear();
        return true;
    }

    std::size_t size() const { return digests_.size() - first_; }
    std::size_t width() const { return width_; }
    const std::uint64_t* digests() const { return digests_.data() + first_; }
    const double* values() const { return values_.data() + first_ * width_; }
    void clear() {
        digests_.clear();
        values_.clear();
        first_ = 0;
    }

private:
    void drop_gone() {
        const auto gone = static_cast<std::ptrdiff_t>(first_);
        digests_.erase(digests_.begin(), digests_.begin() + gone);
        values_.erase(values_.begin(),
                      values_.begin() + gone * static_cast<std::ptrdiff_t>(width_));
        first_ = 0;
    }

    std::size_t width_ = 0, first_ = 0;
    std::vector<std::uint64_t> digests_;
    std::vector<double> values_;
};

}  // namespace dfop
