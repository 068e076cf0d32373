// One pool of threads for the whole process. They are started when first needed and then wait, so a
// block of rows does not pay for starting any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

namespace dfop {

class ThreadPool {
public:
    using Task = std::function<void(std::size_t)>;

    static constexpr std::size_t kMostThreads = 256;

    static ThreadPool& shared();

    // task(0), ..., task(count - 1), in no order, on at most so many threads: this one and others
    // that are free. Returns when all are done, and throws what the first that failed has thrown.
    void run(std::size_t count, std::size_t threads, const Task& task);

private:
    struct Job {
        const Task& task;
        std::size_t count, helpers;  // helpers: how many may still join
        std::atomic<std::size_t> next{0};
        std::atomic<std::size_t> busy{0};  // helpers at work
        std::exception_ptr failure;
    };

    void help();
    void work(Job& job);
    Job* open_job();

    std::mutex mutex_;
    std::condition_variable offered_, finished_;
    std::deque<Job*> jobs_;
    std::atomic<std::size_t> offers_{0};  // jobs so far
    std::size_t threads_ = 0;
};

}  // namespace dfop
