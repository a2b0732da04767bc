package import RivuletCluster
internal import RivuletEventLoop
internal import RivuletJSON

/// The log of a cluster's partitions in streams of NATS JetStream.
package final class NATSPartitionLog: PartitionLog {
    let connection: NATSConnection
    let names: NATSNames
    let limits: NATSLogLimits
    let jetStream: JetStream
    package let survivesPowerLoss: Bool

    /// Makes the log over a connection.
    ///
    /// - Parameters:
    ///   - connection: The connection, used on its loop only.
    ///   - names: The names of streams and subjects.
    ///   - survivesPowerLoss: True if every server writes through (`sync_interval: always`), as `NATSMonitor` or the
    ///     operator has checked.
    ///   - limits: Times and sizes.
    package init(
        connection: NATSConnection,
        names: NATSNames,
        survivesPowerLoss: Bool,
        limits: NATSLogLimits = NATSLogLimits()
    ) {
        (self.connection, self.names, self.limits) = (connection, names, limits)
        self.survivesPowerLoss = survivesPowerLoss
        jetStream = JetStream(connection: connection)
    }

    // MARK: Append

    package func append(
        _ message: [UInt8],
        to partition: Partition,
        after position: LogPosition,
        reply: @escaping (LogAppendOutcome) -> Void
    ) {
        append(message, to: partition, after: position, triesLeft: limits.inFlightTriesMax, reply: reply)
    }

    private func append(
        _ message: [UInt8],
        to partition: Partition,
        after position: LogPosition,
        triesLeft: Int,
        reply: @escaping (LogAppendOutcome) -> Void
    ) {
        let subject = names.log(partition)
        let stream = names.logStream(partition)
        jetStream.publish(subject, after: position.rawValue, message, within: limits.appendTime) { [self] result in
            switch result {
            case .success(let ack):
                // An acknowledgement of another stream, or none, is not one of the log.
                guard ack["stream"]?.stringValue == stream, let sequence = ack["seq"]?.unsigned, sequence > 0 else {
                    return reply(.unknown)
                }
                reply(.committed(LogPosition(rawValue: sequence)))
            case .failure(.refused(let error)): reply(.refused(error))
            case .failure(.unknown): reply(.unknown)
            case .failure(.error(let error)):
                if let last = error.lastSequence { return reply(.moved(last: LogPosition(rawValue: last))) }
                if error.code == JetStreamError.wrongLastInFlight {
                    let attempt = Attempt(
                        message: message,
                        partition: partition,
                        position: position,
                        triesLeft: triesLeft
                    )
                    return didMeetAnother(attempt, reply: reply)
                }
                // The store has failed for another reason than its space, perhaps on this server only.
                if error.code == JetStreamError.storeFailed, !error.isFull { return reply(.unknown) }
                reply(.refused(error.logError))
            }
        }
    }

    /// An append that the log refused because of a message on its way.
    private struct Attempt {
        let message: [UInt8]
        let partition: Partition
        let position: LogPosition
        let triesLeft: Int
    }

    /// Tells the end of a log to which another writer has a message on its way, or writes again.
    ///
    /// NATS 2.15.1 also refuses an append in this way that directly follows the last acknowledgement, with no other
    /// writer. The refused message is not written, so writing again is safe.
    private func didMeetAnother(_ attempt: Attempt, reply: @escaping (LogAppendOutcome) -> Void) {
        last(of: attempt.partition) { [self] result in
            switch result {
            case .success(let last?) where last != attempt.position: reply(.moved(last: last))
            case .failure(let error): reply(.refused(error))
            case .success where attempt.triesLeft > 1:
                connection.nats.loop.schedule(after: limits.inFlightPause) { [self] in
                    append(
                        attempt.message,
                        to: attempt.partition,
                        after: attempt.position,
                        triesLeft: attempt.triesLeft - 1,
                        reply: reply
                    )
                }
            case .success:
                reply(.refused(.unavailable(detail: "Another node's message of the log is not committed yet.")))
            }
        }
    }

    // MARK: Ends and cut

    package func ends(of partition: Partition, reply: @escaping (Result<LogEnds, LogError>) -> Void) {
        last(of: partition) { [self] result in
            guard case .success(let last?) = result else {
                return reply(result.map { _ in LogEnds(first: .start, last: .start) })
            }
            let query = JSONValue.members(["seq": .number("1"), "next_by_subj": .string(names.log(partition))])
            jetStream.message(names.logStream(partition), query) { result in
                let first = result.map { $0.map { LogPosition(rawValue: $0.sequence) } ?? last }
                reply(first.map { LogEnds(first: $0, last: last) }.mapError(\.logError))
            }
        }
    }

    /// Reads the place of the last message; nil in an empty log.
    ///
    /// Only a leader that has applied all entries of its log answers this request. STREAM.INFO would not do: without a
    /// leader, and after its own start, any server answers it, and may lack messages.
    /// Source: <https://github.com/nats-io/nats-server/blob/main/server/jetstream_api.go>, `jsStreamInfoRequest`
    private func last(of partition: Partition, reply: @escaping (Result<LogPosition?, LogError>) -> Void) {
        let query = JSONValue.members(["last_by_subj": .string(names.log(partition))])
        jetStream.message(names.logStream(partition), query) { result in
            reply(result.map { $0.map { LogPosition(rawValue: $0.sequence) } }.mapError(\.logError))
        }
    }

    package func cut(
        _ partition: Partition,
        before position: LogPosition,
        reply: @escaping (Result<Void, LogError>) -> Void
    ) {
        last(of: partition) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(let last):
                // Before the last message at most: a subject without messages has the last sequence 0, so that a writer
                // that expects an empty log would be accepted. A purge up to 1 has emptied whole streams, and no purge
                // has a filter. Source: <https://github.com/nats-io/nats-server/pull/8241>
                let sequence = min(position, last ?? .start).rawValue
                guard sequence > 1 else { return reply(.success(())) }
                let body = JSONValue.members(["seq": .unsigned(sequence)])
                jetStream.call("STREAM.PURGE.\(names.logStream(partition))", body) { result in
                    reply(result.map { _ in }.mapError(\.logError))
                }
            }
        }
    }
}

/// The times and sizes of a log.
package struct NATSLogLimits: Hashable, Sendable {
    /// The time for the acknowledgement of a message; afterwards its outcome is unknown.
    package var appendTime = Duration.seconds(2)
    /// The time for one batch of messages.
    package var readTime = Duration.seconds(5)
    /// The most messages of one read.
    package var readMessagesMax = 256
    /// The bytes after which a read ends.
    package var readBytesMax = 4_194_304
    /// The number of looks for another writer's message, and the pause between them.
    package var inFlightTriesMax = 50
    package var inFlightPause = Duration.milliseconds(5)
    /// The time without a message after which a follower is told to look.
    package var followSilenceMax = Duration.seconds(2)
    /// The time after a new connection in which the servers tell each other of its subscriptions.
    package var subscriptionTime = Duration.milliseconds(250)
    /// The bytes of a chunk of a base, if the servers take so many.
    package var chunkBytesMax = 524_288
    /// The chunks of a base that are on their way at once.
    package var chunksInFlightMax = 4
    /// The most bytes of a base.
    package var baseBytesMax = 4_294_967_296
    /// The number of attempts to read a base, or a chunk of one, and the pause between them.
    package var baseTriesMax = 10
    package var basePause = Duration.milliseconds(100)

    package init() {}
}
