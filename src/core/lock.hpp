// A lock that one thread may take several times. All public calls on a model take the same one.
//
// It is taken and left by threads that hold the GIL, which guards its fields: taking it costs two
// comparisons, no operation that other processors have to see. Its holder may give up the GIL while
// it works.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace dfop {

class Lock {
public:
    void acquire() {
        const std::thread::id self = std::this_thread::get_id();
        if (owner_ == self) {
            ++depth_;
            return;
        }
        while (owner_ != std::thread::id()) wait();
        owner_ = self;
        depth_ = 1;
    }

    // Whether the calling thread held it.
    bool release() {
        if (owner_ != std::this_thread::get_id()) return false;
        leave();
        return true;
    }

    // The same by a thread that is known to hold it.
    void leave() {
        if (--depth_ > 0) return;
        owner_ = std::thread::id();
        if (waiting_ > 0) wake();
    }

private:
    // Until it is left once, without the GIL, so that a holder that waits for the GIL can go on.
    void wait() {
        const std::size_t before = left_;
        ++waiting_;
        {
            nanobind::gil_scoped_release release;
            std::unique_lock guard(mutex_);
            changed_.wait(guard, [&] { return left_ != before; });
        }
        --waiting_;
    }

    void wake() {
        const std::scoped_lock guard(mutex_);
        ++left_;
        changed_.notify_all();
    }

    std::thread::id owner_;
    std::size_t depth_ = 0, waiting_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t left_ = 0;  // how often, while others waited; changes with the mutex and the GIL
};

class Held {
public:
    explicit Held(Lock& lock) : lock_(lock) { lock_.acquire(); }
    ~Held() { lock_.leave(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

private:
    Lock& lock_;
};

}  // namespace dfop
