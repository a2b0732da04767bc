import Dispatch
package import Logging
package import RivuletCluster
import RivuletEngine
import RivuletEventLoop
package import RivuletNATS
package import RivuletServer
import Synchronization

/// A command's connection to a cluster; its methods block, and only one thread calls them.
package final class ClusterClient: Sendable {
    /// The time to connect.
    private static let connectSeconds = 10
    /// The time for one answer of NATS, with the attempts after a change of the leader.
    private static let answerSeconds = 30

    private let nats: NATSLoop
    private let thread: LoopThread
    private let link: LoopBound<ClusterLink>
    /// The servers' addresses without their logins.
    package let address: String

    /// Connects to one of the servers.
    ///
    /// - Throws: a `ServerError` with the remedy.
    package init(_ options: ClusterLinkOptions, logger: Logger) throws(ServerError) {
        address = options.address
        do throws(LoopError) {
            nats = try NATSLoop(index: 0)
            link = LoopBound(ClusterLink(options, name: "rivulet cluster", on: nats, logger: logger), to: nats.loop)
            thread = try nats.start()
        } catch {
            throw ServerError("the loop of the command cannot be made: \(error)")
        }
        do throws(ServerError) {
            try wait(seconds: Self.connectSeconds) { link, reply in
                link.connection.start()
                Self.lookForConnection(link, reply)
            }
        } catch {
            close()
            throw error
        }
    }

    private static func lookForConnection(
        _ link: ClusterLink,
        _ reply: @escaping (Swift.Result<Void, LogError>) -> Void
    ) {
        if link.connection.isConnected { return reply(.success(())) }
        if case .incompatible(let detail)? = link.connection.problem {
            return reply(.failure(.incompatible(detail: detail)))
        }
        link.nats.loop.schedule(after: .milliseconds(20)) { lookForConnection(link, reply) }
    }

    /// Ends the connection.
    package func close() {
        link.postReply { link in
            link.connection.stop()
            link.nats.loop.schedule(after: .milliseconds(10)) { link.nats.loop.stop() }
        }
        thread.join()
    }

    /// Runs a request on the loop, and waits for its reply.
    private func wait<Value: Sendable>(
        seconds: Int = answerSeconds,
        _ body: @escaping @Sendable (ClusterLink, @escaping (Result<Value, LogError>) -> Void) -> Void
    ) throws(ServerError) -> Value {
        let reply = BlockingReply<Value>()
        link.postReply { link in body(link) { reply.set($0) } }
        switch reply.wait(seconds: seconds) {
        case .success(let value)?: return value
        case .failure(let error)?: throw ServerError(error.text)
        case nil: break
        }
        let problem = BlockingReply<String>()
        link.postReply { link in problem.set(.success(link.connection.problem.map(\.text) ?? "")) }
        guard case .success(let text)? = problem.wait(seconds: 1), !text.isEmpty else {
            throw ServerError("NATS at \(address) has not answered within \(seconds) s; try again")
        }
        throw ServerError(text)
    }

    // MARK: - NATS

    /// Creates a cluster.
    package func create(_ facts: ClusterFacts) throws(ServerError) {
        try wait(seconds: 2 * Self.answerSeconds) { link, reply in link.setup.create(facts, reply: reply) }
    }

    /// Reads the facts.
    ///
    /// - Throws: a `ServerError` if there is no cluster.
    package func facts() throws(ServerError) -> ClusterFacts {
        guard let facts: ClusterFacts = try wait({ $0.setup.facts($1) }) else {
            throw ServerError(
                "NATS at \(address) has no cluster: create it with rivulet cluster init --cluster \(address)"
            )
        }
        return facts
    }

    /// Checks the streams' settings, and that NATS accepts one of many messages with the same expectation.
    package func checkSetup() throws(ServerError) -> CheckedCluster { try wait { $0.setup.check($1) } }

    /// Reads the records of all nodes, in the order of their names.
    package func records() throws(ServerError) -> [(name: String, record: NodeRecord)] {
        let names: [String] = try wait { $0.records.names(beginningWith: NodeRecord.namePrefix, reply: $1) }
        var records: [(name: String, record: NodeRecord)] = []
        for name in names {
            let stored: ClusterRecord? = try wait { $0.records.record(name, reply: $1) }
            guard let stored else { continue }
            let node = String(name.dropFirst(NodeRecord.namePrefix.count))
            do {
                records.append((node, try NodeRecord(bytes: stored.value)))
            } catch {
                throw ServerError(
                    "the record of the node \(node) in NATS cannot be read: \(error); upgrade this program"
                )
            }
        }
        return records
    }

    package func ends() throws(ServerError) -> LogEnds { try wait { $0.log.ends(of: .first, reply: $1) } }

    /// Reads messages of the log behind a place; none at its end.
    package func messages(after position: LogPosition) throws(ServerError) -> [LoggedMessage] {
        try wait { $0.log.read(.first, after: position, reply: $1) }
    }

    package func base() throws(ServerError) -> PartitionBase? {
        try wait(seconds: 10 * Self.answerSeconds) { $0.log.base(of: .first, reply: $1) }
    }

    // MARK: - Nodes

    /// Asks a node.
    ///
    /// - Throws: a `ServerError` if it does not answer, or if it refuses.
    package func ask(
        _ question: NodeQuestion,
        _ node: String,
        of cluster: String,
        seconds: Int = 60
    ) throws(ServerError) -> NodeAnswer {
        let answer: NodeAnswer = try wait(seconds: seconds + 1) { link, reply in
            link.ask(question, node, of: cluster, within: .seconds(seconds), reply: reply)
        }
        if let error = answer.error { throw ServerError("\(node): \(error)") }
        return answer
    }
}

/// A reply for which a thread waits.
private final class BlockingReply<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, LogError>?>(nil)
    private let isSet = DispatchSemaphore(value: 0)

    func set(_ result: Result<Value, LogError>) {
        self.result.withLock { $0 = result }
        isSet.signal()
    }

    /// Waits for the reply; nil if it does not come in time.
    func wait(seconds: Int) -> Result<Value, LogError>? {
        _ = isSet.wait(timeout: .now() + .seconds(seconds))
        return result.withLock { $0 }
    }
}
