// Measures the memory that the allocator gives to resident and to passivated sessions, and then the cost of an event.

import CAllocationCount
import CounterFixture
import Logging
import RivuletJSON
import RivuletSessions

/// Prints the bytes of a session after its load, after events, and after its passivation with open streams.
@main
enum SessionBenchmark {
    private static let count = 10_000
    private static let eventsEach = 4

    static func main() {
        let shard = makeShard()
        let app = AppHost(TallyApp())
        print("\(count) sessions with a state of 1 KB, bytes each")
        let start = allocated_bytes()
        for index in 0..<count { find(index, in: shard, of: app) { _ in } }
        report("loaded", since: start, resident: shard.residentCount)
        for _ in 0..<eventsEach {
            for index in 0..<count {
                find(index, in: shard, of: app) { $0.dispatch(request(#"{"set":\#(index % 90)}"#)) { _ in } }
            }
        }
        report("after \(eventsEach) events", since: start, resident: shard.residentCount)
        for index in 0..<count {
            find(index, in: shard, of: app) { session in
                session.dispatch(request(#""forget""#)) { _ in }
                session.subscribe(
                    StreamRequest(
                        stream: StreamID(loop: 0, connection: UInt64(index)),
                        topic: StreamTopic(paths: [.root]),
                        resume: nil
                    )
                )
            }
        }
        report("watched", since: start, resident: shard.residentCount)
        shard.evict(idleFor: .zero)
        report("parked", since: start, resident: shard.residentCount)
        find(0, in: shard, of: app) { EventTimes.report(in: $0) }
        find(count, in: shard, of: app) { WatcherTimes.report(in: $0) }
    }

    private static func find(
        _ index: Int,
        in shard: SessionShard,
        of app: any HostedApp,
        _ body: (Session) -> Void
    ) {
        var session: Session?
        shard.find(SessionKey(app: "tally", id: "session-\(index)"), of: app) { found in
            if case .success(let value) = found { session = value }
        }
        guard let session else { fatalError("session \(index) was not found") }
        body(session)
    }

    private static func request(_ body: String) -> DispatchRequest { DispatchRequest(body: Array(body.utf8)) }

    private static func report(_ title: String, since start: UInt64, resident: Int) {
        print("- \(title): \((allocated_bytes() - start) / UInt64(count)) (\(resident) resident)")
    }

    private static func makeShard() -> SessionShard {
        SessionShard(
            environment: SessionEnvironment(
                executor: DirectExecutor(),
                storage: SessionStorage(OneStateStorage(title: String(repeating: "x", count: 900))),
                limits: SessionLimits(streamsPerSessionMax: 100_000),
                logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() },
                wallClock: { 0 },
                uptime: { .zero },
                schedule: { _, _ in },
                work: { job, done in
                    job()
                    done()
                },
                clock: ContinuousClock(),
                sink: SilentSink(),
                makeGroupID: { GroupID(rawValue: UInt64.random(in: 0 ... .max)) }
            )
        )
    }
}
