// A lock that one thread may take several times. All public calls on a model take the same one.
//
// It is taken and left by threads that hold the GIL, which guards its fields: taking it costs two
// comparisons, no operation that other processors have to see. Its holder may give up the GIL while
// it works.
//
// Who leaves it has the GIL and could take it again and again before a thread that waits has woken.
// So it goes to whoever asks first, which is fast, but who has waited for `kPatience` is next.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <chrono>
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
        if (owner_ != std::thread::id()) wait(self);
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
        if (first_) wake();
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds kPatience{500};

    // A thread that waits; on its stack.
    struct Waiting {
        std::thread::id thread;
        Clock::time_point since;
        Waiting* next;
    };

    // Until it is free, or was kept for this thread.
    void wait(std::thread::id self) {
        forget_other_processes();
        process_ = getpid();
        Waiting mine{self, Clock::now(), nullptr};
        Waiting** last = &first_;
        while (*last) last = &(*last)->next;
        *last = &mine;
        while (owner_ != std::thread::id() && owner_ != self) wait_for_a_change();
        Waiting** at = &first_;
        while (*at != &mine) at = &(*at)->next;
        *at = mine.next;
    }

    // Until it is left once, without the GIL, so that a holder that waits for the GIL can go on.
    void wait_for_a_change() {
        const std::size_t before = left_;
        nanobind::gil_scoped_release release;
        std::unique_lock guard(mutex_);
        changed_.wait(guard, [&] { return left_ != before; });
    }

    void wake() {
        forget_other_processes();
        if (!first_) return;
        if (Clock::now() - first_->since >= kPatience) owner_ = first_->thread;
        const std::scoped_lock guard(mutex_);
        ++left_;
        changed_.notify_all();
    }

    // A process that was forked has none of the threads that waited, not even the one that is next.
    void forget_other_processes() {
        if (!first_ || process_ == getpid()) return;
        first_ = nullptr;
        if (depth_ == 0) owner_ = std::thread::id();
    }

    std::thread::id owner_;
    std::size_t depth_ = 0;
    pid_t process_ = 0;         // in which threads wait
    Waiting* first_ = nullptr;  // who has waited longest
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
