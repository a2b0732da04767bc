import RivuletCluster
import RivuletEventLoop
import RivuletNATS

/// The check that the NATS servers write through, which a server that is down does not prevent.
final class MonitorCheck {
    private let urls: [NATSMonitorURL]
    private let servers: Set<String>
    private let nats: NATSLoop
    private var found: [NATSMonitoredServer] = []
    private var silent: [NATSMonitorURL] = []

    init(_ urls: [NATSMonitorURL], of servers: Set<String>, on nats: NATSLoop) {
        (self.urls, self.servers, self.nats) = (urls, servers, nats)
    }

    /// Asks all monitors.
    ///
    /// - Parameter reply: Gets the monitors that did not answer, fewer than half of them. Gets `unavailable` if more
    ///   did not, and `incompatible` if a server does not write through or has no monitor.
    func run(_ reply: @escaping (Result<[NATSMonitorURL], LogError>) -> Void) { ask(urls[...], reply) }

    private func ask(
        _ rest: ArraySlice<NATSMonitorURL>,
        _ reply: @escaping (Result<[NATSMonitorURL], LogError>) -> Void
    ) {
        guard let url = rest.first else { return reply(judged) }
        NATSMonitor.check([url], of: [], on: nats) { [self] result in
            switch result {
            case .success(let server): found += server
            case .failure(.unavailable): silent.append(url)
            case .failure(let error): return reply(.failure(error))
            }
            ask(rest.dropFirst(), reply)
        }
    }

    private var judged: Result<[NATSMonitorURL], LogError> {
        guard found.count * 2 > urls.count else {
            let list = silent.map(\.description).joined(separator: ", ")
            return .failure(.unavailable(detail: "Most NATS monitors do not answer: \(list)."))
        }
        let missing = servers.subtracting(found.map(\.name)).sorted()
        guard missing.count <= silent.count else {
            let list = missing.joined(separator: ", ")
            return .failure(
                .incompatible(
                    detail: "No --nats-monitor is for the NATS server \(list). Name the monitor of each server."
                )
            )
        }
        return .success(silent)
    }
}

/// The search for another process with a node's name.
final class NameWatch {
    enum Outcome: Hashable {
        /// No other process renews the record; an earlier run on this folder has written it.
        case free(endedRun: UInt64?)
        /// Another process renews the record.
        case taken(run: UInt64)
    }

    private let name: String
    private let records: NATSRecords
    private let loop: EventLoop

    /// The time between two reads of the record.
    private static let interval = Duration.milliseconds(200)

    init(_ node: String, _ records: NATSRecords, _ loop: EventLoop) {
        (name, self.records, self.loop) = (NodeRecord.name(of: node), records, loop)
    }

    func run(endedRuns: Set<UInt64>, _ reply: @escaping (Result<Outcome, LogError>) -> Void) {
        records.record(name) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(let stored):
                guard let stored, let record = try? NodeRecord(bytes: stored.value) else {
                    return reply(.success(.free(endedRun: nil)))
                }
                guard !endedRuns.contains(record.incarnation) else {
                    return reply(.success(.free(endedRun: record.incarnation)))
                }
                guard record.state == .live || record.state == .draining else {
                    return reply(.success(.free(endedRun: nil)))
                }
                // A node renews its record every third of its lease.
                let end = loop.nowMilliseconds + UInt64(record.leaseSeconds) * 500
                watch(stored, record.incarnation, until: end, reply)
            }
        }
    }

    private func watch(
        _ first: ClusterRecord,
        _ run: UInt64,
        until end: UInt64,
        _ reply: @escaping (Result<Outcome, LogError>) -> Void
    ) {
        guard loop.nowMilliseconds < end else { return reply(.success(.free(endedRun: nil))) }
        loop.schedule(after: Self.interval) { [self] in
            records.record(name) { [self] result in
                switch result {
                case .failure(let error): reply(.failure(error))
                case .success(let stored?) where stored.revision == first.revision: watch(first, run, until: end, reply)
                case .success(let stored): reply(.success(Self.outcome(stored, changedBy: run)))
                }
            }
        }
    }

    /// Judges a record that has changed: a renewal shows a process, and the end of a lease does not.
    private static func outcome(_ stored: ClusterRecord?, changedBy run: UInt64) -> Outcome {
        guard let stored, let record = try? NodeRecord(bytes: stored.value) else { return .free(endedRun: nil) }
        let isAlive = record.state == .live || record.state == .draining
        return isAlive ? .taken(run: record.incarnation) : .free(endedRun: nil)
    }
}
