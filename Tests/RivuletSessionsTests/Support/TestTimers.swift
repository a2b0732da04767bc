// Owns the timers of session tests.

/// Jobs that wait for their time.
///
/// A test advances the time.
final class TestTimers {
    private var jobs: [(due: Duration, job: () -> Void)] = []
    let uptime: TestUptime

    init(_ uptime: TestUptime) { self.uptime = uptime }

    var count: Int { jobs.count }

    func schedule(_ delay: Duration, _ job: @escaping () -> Void) {
        jobs.append((uptime.time + delay, job))
    }

    /// Advances the time, and runs the jobs that become due, in their order.
    func advance(by time: Duration) {
        let end = uptime.time + time
        while let next = jobs.indices.min(by: { jobs[$0].due < jobs[$1].due }), jobs[next].due <= end {
            let (due, job) = jobs.remove(at: next)
            if due > uptime.time { uptime.advance(by: due - uptime.time) }
            job()
        }
        uptime.advance(by: end - uptime.time)
    }
}
