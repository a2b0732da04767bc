import RivuletEngine
import Synchronization

/// The time of a simulation, in milliseconds.
final class ModelTime: Sendable {
    private let value = Atomic<Int64>(0)

    var now: Int64 {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}

/// The clock of a node, which is too fast or too slow.
struct ModelClock: Sendable {
    let time: ModelTime
    /// Thousandths of a millisecond for each millisecond.
    let rate: Int64
    let offset: Int64

    var now: Int64 { offset + time.now * rate / 1_000 }

    /// The time that passes while the clock counts this many milliseconds.
    func duration(of milliseconds: Int64) -> Int64 { (milliseconds * 1_000 + rate - 1) / rate }
}

/// Runs jobs in the order of their arrival, when the simulation says so.
final class ModelExecutor: SessionExecutor {
    private let jobs = Mutex<[@Sendable () -> Void]>([])

    /// Always true: a simulation has one thread.
    var isCurrent: Bool { true }

    @discardableResult
    func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        jobs.withLock { $0.append(job) }
        return true
    }

    func take() -> [@Sendable () -> Void] {
        jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
    }
}

/// The events of a simulation, in the order of their times and, at one time, of their arrival.
struct ModelEvents {
    struct Event {
        let time: Int64
        /// The process to which the event belongs; nil for an event of the world.
        let process: ModelProcess?
        let job: () -> Void
    }

    /// The events, the next one last.
    private var events: [Event] = []

    var next: Int64? { events.last?.time }

    mutating func add(_ event: Event) {
        var index = events.count
        while index > 0, events[index - 1].time <= event.time { index -= 1 }
        events.insert(event, at: index)
    }

    mutating func pop() -> Event? { events.popLast() }
}
