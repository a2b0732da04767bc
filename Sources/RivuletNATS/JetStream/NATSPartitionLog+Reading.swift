package import RivuletCluster
internal import RivuletEventLoop
internal import RivuletJSON

extension NATSPartitionLog {
    // MARK: Read

    package func read(
        _ partition: Partition,
        after position: LogPosition,
        reply: @escaping (Result<[LoggedMessage], LogError>) -> Void
    ) {
        let query = JSONValue.members([
            "seq": .unsigned(position.rawValue + 1), "next_by_subj": .string(names.log(partition)),
            "batch": .number("\(limits.readMessagesMax)"), "max_bytes": .number("\(limits.readBytesMax)"),
        ])
        // Any replica of the stream answers, also one that lags. Its messages are in order, and each names the one
        // before it, so what it sends is right as far as it goes.
        // Source: <https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-31.md>
        var messages: [LoggedMessage] = []
        let subject = "$JS.API.DIRECT.GET.\(names.logStream(partition))"
        connection.request(subject, payload: query.jsonBytes(), within: limits.readTime) { [self] outcome in
            let last = messages.last?.position ?? position
            if case .answer(let message) = outcome, message.headers.status == nil,
                let next = LoggedMessage(message, names.log(partition)), next.previous == last, next.position > last
            {
                messages.append(next)
                return false
            }
            // The batch has ended, or the replica has no successor: the log's end, the beginning of a log that was
            // cut, or a message that this replica lacks. The leader tells which.
            if messages.isEmpty { readFromLeader(partition, position, reply) } else { reply(.success(messages)) }
            return true
        }
    }

    /// Reads one message from the stream's leader, which has all that are committed.
    private func readFromLeader(
        _ partition: Partition,
        _ position: LogPosition,
        _ reply: @escaping (Result<[LoggedMessage], LogError>) -> Void
    ) {
        let query = JSONValue.members([
            "seq": .unsigned(position.rawValue + 1), "next_by_subj": .string(names.log(partition)),
        ])
        jetStream.message(names.logStream(partition), query) { result in
            switch result {
            case .failure(let failure): reply(.failure(failure.logError))
            case .success(nil): reply(.success([]))
            case .success(let message?):
                let previous = message.headers.number(JetStream.expectedLast).map { LogPosition(rawValue: $0) }
                reply(
                    .success([
                        LoggedMessage(
                            position: LogPosition(rawValue: message.sequence),
                            previous: previous,
                            bytes: message.payload
                        )
                    ])
                )
            }
        }
    }

    // MARK: Follow

    package func follow(
        _ partition: Partition,
        deliver: @escaping (LoggedMessage) -> Void,
        mayHaveMissed: @escaping () -> Void
    ) {
        let follower = LogFollower(log: self, deliver: deliver, mayHaveMissed: mayHaveMissed)
        // The stream publishes each stored message again, with its number and that of the one before it.
        // Source: <https://docs.nats.io/nats-concepts/jetstream/streams#republish>
        _ = connection.subscribe(names.republished(partition)) { [names] message in
            if let logged = LoggedMessage(message, names.log(partition)) { follower.didReceive(logged) }
        }
        connection.observe { isConnected in
            if isConnected { follower.didConnect() }
        }
        follower.didConnect()
    }
}

/// The checks of one follower: messages of core NATS may be lost without a successor that shows it.
private final class LogFollower {
    private let log: NATSPartitionLog
    private let deliver: (LoggedMessage) -> Void
    private let mayHaveMissed: () -> Void
    private var timer: TimerID?

    init(log: NATSPartitionLog, deliver: @escaping (LoggedMessage) -> Void, mayHaveMissed: @escaping () -> Void) {
        (self.log, self.deliver, self.mayHaveMissed) = (log, deliver, mayHaveMissed)
    }

    func didReceive(_ message: LoggedMessage) {
        check(after: log.limits.followSilenceMax)
        deliver(message)
    }

    /// Messages were lost while there was no connection, and may be lost until all servers know the subscription.
    func didConnect() {
        log.connection.nats.afterCall { [mayHaveMissed] in mayHaveMissed() }
        check(after: log.limits.subscriptionTime)
    }

    private func check(after time: Duration) {
        let loop = log.connection.nats.loop
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(after: time) { [weak self] in
            guard let self else { return }
            check(after: log.limits.followSilenceMax)
            if log.connection.isConnected { mayHaveMissed() }
        }
    }
}

extension LoggedMessage {
    /// Reads a message of a stream, which was sent directly or republished; nil for another one.
    fileprivate init?(_ message: NATSMessage, _ subject: String) {
        let headers = message.headers
        guard headers["Nats-Subject"] == subject, let sequence = headers.number("Nats-Sequence") else { return nil }
        // Each message was written under this condition, so it names the one before it.
        let previous = headers.number(JetStream.expectedLast)
        self.init(
            position: LogPosition(rawValue: sequence),
            previous: previous.map { LogPosition(rawValue: $0) },
            bytes: message.payload
        )
    }
}
