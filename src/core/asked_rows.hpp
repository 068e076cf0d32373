// Rows that were predicted since something was last learned, as they were coded; the oldest are
// dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dfop {

class AskedRows {
public:
    explicit AskedRows(std::size_t limit) : limit_(limit) {}

    // Adds a row that was predicted, and by which method, each a bit of its own. What is asked about
    // again right away by another method is the same row, asked in other words; by the same method
    // it is one more row that says the same.
    void add(std::uint64_t digest, const double* row, std::size_t width, std::uint32_t method) {
        if (width != width_) clear();
        width_ = width;
        if (size() > 0 && digests_.back() == digest && (methods_ & method) == 0) {
            methods_ |= method;
            return;
        }
        methods_ = method;
        const std::size_t limit = most(width);
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
        methods_ = kAll;
        if (size() == 0) clear();
        return true;
    }

    // How many rows there may be: fewer of wide ones.
    std::size_t most(std::size_t width) const {
        const std::size_t of_width = kMostNumbers / (width > 0 ? width : 1);
        return of_width < 1 ? 1 : of_width < limit_ ? of_width : limit_;
    }

    std::size_t limit() const { return limit_; }
    std::size_t size() const { return digests_.size() - first_; }
    std::size_t width() const { return width_; }
    // By which methods the last row was asked about.
    std::uint32_t methods() const { return methods_; }
    const std::uint64_t* digests() const { return digests_.data() + first_; }
    const double* values() const { return values_.data() + first_ * width_; }
    void clear() {
        digests_.clear();
        values_.clear();
        first_ = 0;
        methods_ = kAll;
    }
    void restore(std::vector<std::uint64_t> digests, std::vector<double> values, std::size_t width,
                 std::uint32_t methods) {
        digests_ = std::move(digests);
        values_ = std::move(values);
        first_ = 0;
        width_ = width;
        methods_ = methods;
    }

private:
    static constexpr std::size_t kMostNumbers = 1'000'000;
    static constexpr std::uint32_t kAll = 0xffffffffu;

    void drop_gone() {
        const auto gone = static_cast<std::ptrdiff_t>(first_);
        digests_.erase(digests_.begin(), digests_.begin() + gone);
        values_.erase(values_.begin(),
                      values_.begin() + gone * static_cast<std::ptrdiff_t>(width_));
        first_ = 0;
    }

    std::size_t limit_, width_ = 0, first_ = 0;
    std::uint32_t methods_ = kAll;
    std::vector<std::uint64_t> digests_;
    std::vector<double> values_;
};

}  // namespace dfop
