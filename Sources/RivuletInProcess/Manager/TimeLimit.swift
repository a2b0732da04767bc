/// Waits for asynchronous work, but not for ever.
enum TimeLimit {
    /// Runs the work and waits for its end; false when it takes longer: it is cancelled then, and whatever it still does goes on alone.
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
                // The work was done in time.
            }
        }
        // In a task of its own: a caller that is cancelled meanwhile learns the outcome all the same.
        let isInTime = await Task {
            var iterator = outcomes.makeAsyncIterator()
            return await iterator.next() ?? false
        }.value
        worker.cancel()
        timer.cancel()
        return isInTime
    }
}
