// Memory that is read and written at random places. Where it is large, each place is in another
// page, and finding small pages takes longer than the work on what they hold.
#pragma once

#include <cstddef>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace dfop {

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;

// In large pages where the system has them; those that are not used take nothing.
inline void* allocate_large(std::size_t bytes, bool advised) {
    void* place = ::operator new(bytes, std::align_val_t{kLargePage});
#ifdef MADV_HUGEPAGE
    if (advised) madvise(place, bytes, MADV_HUGEPAGE);
#else
    (void)advised;
#endif
    return place;
}

inline void release_large(void* place) { ::operator delete(place, std::align_val_t{kLargePage}); }

// For a vector that may become large.
template <class T>
struct LargePages {
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}
    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        return static_cast<T*>(is_large(bytes) ? allocate_large(bytes, true)
                                               : ::operator new(bytes));
    }
    void deallocate(T* place, std::size_t n) {
        if (is_large(n * sizeof(T)))
            release_large(place);
        else
            ::operator delete(place);
    }
    bool operator==(const LargePages&) const { return true; }

private:
    static bool is_large(std::size_t bytes) { return bytes >= 2 * kLargePage; }
};

}  // namespace dfop
