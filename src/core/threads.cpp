#include "threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace dfop {
namespace {

// Never destroyed: its threads wait in it until the process ends. A fork has none of them, so it
// starts with a pool of its own.
std::atomic<ThreadPool*> pool{nullptr};

void forget_pool() { pool = nullptr; }

// About what passes between two tasks of a model that learns: waking a thread that sleeps takes a
// part of that, and is paid for with every block of rows.
constexpr std::chrono::microseconds kSoon{100};

// Waits a little for what will soon be; whoever else wants the processor gets it.
template <class Done>
void wait_a_little(const Done& done) {
    const auto end = std::chrono::steady_clock::now() + kSoon;
    while (!done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace

ThreadPool& ThreadPool::shared() {
    static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
    (void)registered;
    ThreadPool* found = pool;
    if (found != nullptr) return *found;
    auto* fresh = new ThreadPool;
    if (pool.compare_exchange_strong(found, fresh)) return *fresh;
    delete fresh;
    return *found;
}

void ThreadPool::run(std::size_t count, std::size_t threads, const Task& task) {
    threads = std::min({threads, count, kMostThreads});
    if (threads <= 1) {
        for (std::size_t i = 0; i < count; ++i) task(i);
        return;
    }
    Job job{.task = task, .count = count, .helpers = threads - 1, .failure = nullptr};
    {
        const std::lock_guard held(mutex_);
        for (; threads_ + 1 < threads; ++threads_) std::thread([this] { help(); }).detach();
        jobs_.push_back(&job);
        ++offers_;
    }
    offered_.notify_all();
    work(job);
    wait_a_little([&] { return job.busy == 0; });
    std::unique_lock held(mutex_);
    std::erase(jobs_, &job);
    finished_.wait(held, [&] { return job.busy == 0; });
    if (job.failure) std::rethrow_exception(job.failure);
}

ThreadPool::Job* ThreadPool::open_job() {
    for (Job* job : jobs_)
        if (job->helpers > 0 && job->next < job->count) return job;
    return nullptr;
}

void ThreadPool::help() {
    std::unique_lock held(mutex_);
    for (;;) {
        Job* job = open_job();
        if (job == nullptr) {
            const std::size_t offers = offers_;
            held.unlock();
            wait_a_little([&] { return offers_ != offers; });
            held.lock();
        }
        offered_.wait(held, [&] { return (job = open_job()) != nullptr; });
        --job->helpers;
        ++job->busy;
        held.unlock();
        work(*job);
        held.lock();
        if (--job->busy == 0) finished_.notify_all();
    }
}

void ThreadPool::work(Job& job) {
    for (std::size_t i; (i = job.next++) < job.count;) {
        try {
            job.task(i);
        } catch (...) {
            const std::lock_guard held(mutex_);
            if (!job.failure) job.failure = std::current_exception();
        }
    }
}

}  // namespace dfop
