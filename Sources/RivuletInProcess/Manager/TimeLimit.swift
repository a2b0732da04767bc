/// Waits for asynchronous work, with a limit on the time.
enum TimeLimit {
    /// Runs the work and waits for its end.
    ///
    /// Returns false if the work takes longer than the limit. The work is cancelled then, and continues without a
    /// caller.
    static func run(
        _ timeMax: Duration,
        clock: any Clock<Duration>,
        _ work: @escaping @Sendable () async -> Void
    ) async -> Bool {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        let worker = Task {
            await work()
            outcome.yield(true)
        }
        let timer = Task {
            do {
                try await clock.sleep(for: timeMax)
                outcome.yield(false)
            } catch {
                // The work was finished in time.
            }
        }
        // In a task of its own, so that a caller that is cancelled meanwhile still gets the outcome.
        let isInTime = await Task {
            var iterator = outcomes.makeAsyncIterator()
            return await iterator.next() ?? false
        }.value
        worker.cancel()
        timer.cancel()
        return isInTime
    }
}
