internal import CLibuv

/// One job on a work thread of libuv.
@safe
final class WorkRequest: @unchecked Sendable {
    // SAFETY: `job` is Sendable. `done`, `begin` and `cancel` are used on the loop's thread only. `request` is
    // allocated in `init`, used by libuv from `begin` to the end of its callback, and freed in `deinit`; the request
    // keeps this object meanwhile.
    private let job: @Sendable () -> Void
    private let done: () -> Void
    private let request: UnsafeMutablePointer<uv_work_t>

    init(_ job: @escaping @Sendable () -> Void, done: @escaping () -> Void) {
        self.job = job
        self.done = done
        unsafe request = .allocate(capacity: 1)
        unsafe request.initialize(to: uv_work_t())
    }

    deinit { unsafe request.deallocate() }

    /// Passes the job to a work thread; returns false if libuv refuses it.
    func begin(on loop: UnsafeMutablePointer<uv_loop_t>) -> Bool {
        // SAFETY: the reference that is counted here is released in the callback, which libuv calls once for each
        // request that it takes.
        let context = unsafe Unmanaged.passRetained(self)
        unsafe request.pointee.data = context.toOpaque()
        let status = unsafe uv_queue_work(
            loop,
            request,
            { request in
                guard let data = unsafe request?.pointee.data else { return }
                rivulet_yield_to_loops()
                unsafe Unmanaged<WorkRequest>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.job() }
            },
            { request, status in
                guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
                let work = unsafe Unmanaged<WorkRequest>.fromOpaque(data).takeRetainedValue()
                unsafe EventLoop.withLoop(of: request.pointee.loop) { $0.workDidEnd(work, wasDone: status == 0) }
            }
        )
        if status != 0 { unsafe context.release() }
        return status == 0
    }

    /// Cancels the job, if no thread has begun it.
    func cancel() {
        let base = unsafe UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self)
        // The call fails for a job that has begun. The loop waits for such a job.
        _ = unsafe uv_cancel(base)
    }

    /// Calls `done` on the loop, after the job.
    func finish() { done() }
}

extension EventLoop {
    /// Runs `job` on a work thread, then `done` on the loop.
    ///
    /// The threads are libuv's: four for all loops, unless `UV_THREADPOOL_SIZE` is set. The kernel prefers the loops'
    /// threads to them. Jobs begin in the order of their calls. After the end of the loop, no `done` runs, and jobs
    /// that have not begun are dropped. The number of jobs is not limited, so callers must limit it.
    ///
    /// Source: <https://docs.libuv.org/en/v1.x/threadpool.html>
    package func work(_ job: @escaping @Sendable () -> Void, done: @escaping () -> Void) {
        assertOnLoop()
        let work = WorkRequest(job, done: done)
        state.works[ObjectIdentifier(work)] = work
        guard unsafe !work.begin(on: uv.pointer) else { return }
        // libuv 1.x refuses only a request without a job. The job is not lost: it runs on this thread.
        job()
        workDidEnd(work, wasDone: true)
    }

    /// Returns freed memory to the system, on a work thread.
    ///
    /// A thread that allocates meanwhile may wait for some milliseconds.
    package func trimMemory() {
        work {
            rivulet_trim_memory()
        } done: {
        }
    }

    func workDidEnd(_ work: WorkRequest, wasDone: Bool) {
        state.works[ObjectIdentifier(work)] = nil
        if wasDone, !state.isStopping { work.finish() }
    }

    /// Waits for the jobs that have begun, and cancels the others.
    func endWorks() {
        for work in state.works.values { work.cancel() }
        while !state.works.isEmpty { uv.poll(sleeps: true) }
    }
}
