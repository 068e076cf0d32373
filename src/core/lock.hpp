// A lock that one thread may take several times. All public calls on a model take the same one.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace dfop {

class Lock {
public:
    // Waits without the GIL, so that a holder that waits for the GIL can go on.
    void acquire() {
        const std::thread::id self = std::this_thread::get_id();
        if (owner_.load(std::memory_order_relaxed) == self) {
            ++depth_;
            return;
        }
        if (!mutex_.try_lock()) {
            nanobind::gil_scoped_release release;
            mutex_.lock();
        }
        owner_.store(self, std::memory_order_relaxed);
        depth_ = 1;
    }

    // Whether the calling thread held it.
    bool release() {
        if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return false;
        leave();
        return true;
    }

    // The same by a thread that is known to hold it.
    void leave() {
        if (--depth_ > 0) return;
        owner_.store(std::thread::id(), std::memory_order_relaxed);
        mutex_.unlock();
    }

private:
    std::mutex mutex_;
    std::atomic<std::thread::id> owner_{};
    std::size_t depth_ = 0;
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
