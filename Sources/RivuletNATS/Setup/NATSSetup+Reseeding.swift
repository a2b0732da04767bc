package import RivuletCluster
internal import RivuletJSON

extension NATSSetup {
    /// Reads the facts; nil if NATS has no cluster.
    ///
    /// - Parameter reply: Gets `incompatible` for facts that this build cannot read, or `unavailable`.
    package func facts(_ reply: @escaping (Result<ClusterFacts?, LogError>) -> Void) {
        let query = JSONValue.members(["last_by_subj": .string(names.record(ClusterFacts.recordName))])
        jetStream.message(names.recordStream, query) { result in
            switch result {
            case .failure(.error(let error)) where error.code == JetStreamError.noStream: reply(.success(nil))
            case .failure(let failure): reply(.failure(failure.logError))
            case .success(let message):
                reply(
                    Result { () throws(LogError) in
                        try message.map { value throws(LogError) in try ClusterFacts(value.payload) }
                    }
                )
            }
        }
    }

    /// Creates the streams of the log and of the bases where they are missing, for a reseed.
    ///
    /// The reply is the reason that a stream cannot be created; nil if all are there.
    package func restoreStreams(of facts: ClusterFacts, reply: @escaping (LogError?) -> Void) {
        let streams = settings(replicas: facts.replicas).filter { $0.name != names.recordStream }
        restore(streams[...], reply)
    }

    private func restore(_ streams: ArraySlice<StreamSettings>, _ reply: @escaping (LogError?) -> Void) {
        guard let stream = streams.first else { return reply(nil) }
        jetStream.call("STREAM.INFO.\(stream.name)") { [self] result in
            switch result {
            case .success: restore(streams.dropFirst(), reply)
            case .failure(.error(let error)) where error.code == JetStreamError.noStream:
                jetStream.call("STREAM.CREATE.\(stream.name)", stream.configuration, within: .seconds(10)) {
                    [self] result in
                    if case .failure(let failure) = result { return reply(failure.logError) }
                    restore(streams.dropFirst(), reply)
                }
            case .failure(let failure): reply(failure.logError)
            }
        }
    }
}

extension NATSPartitionLog {
    /// The header of the sequence that the stream must end at.
    private static let expectedEnd = "Nats-Expected-Last-Sequence"

    /// Removes all messages of the log, and begins it again with one message at `position`.
    ///
    /// The position is behind the log's end. The message does not name a message before it, so a copy that does not
    /// stand directly before it begins with the base.
    package func begin(
        _ partition: Partition,
        with message: [UInt8],
        at position: LogPosition,
        reply: @escaping (Result<Void, LogError>) -> Void
    ) {
        precondition(position.rawValue > 1, "a purge up to 1 has emptied whole streams")
        let body = JSONValue.members(["seq": .unsigned(position.rawValue)])
        jetStream.call("STREAM.PURGE.\(names.logStream(partition))", body) { [self] result in
            if case .failure(let failure) = result { return reply(.failure(failure.logError)) }
            let headers = NATSHeaders([Self.expectedEnd: String(position.rawValue - 1)])
            connection.request(
                names.log(partition),
                headers: headers,
                payload: message,
                within: limits.appendTime
            ) { [self] outcome in
                reply(begun(outcome, partition, at: position))
                return true
            }
        }
    }

    private func begun(
        _ outcome: NATSOutcome,
        _ partition: Partition,
        at position: LogPosition
    ) -> Result<Void, LogError> {
        switch outcome {
        case .refused(let error): return .failure(error)
        case .unknown(let detail): return .failure(.unavailable(detail: detail))
        case .answer(let answer):
            let text = String(decoding: answer.payload, as: UTF8.self)
            guard let ack = try? JSONValue(parsing: answer.payload), ack["error"] == nil,
                ack["stream"]?.stringValue == names.logStream(partition), ack["seq"]?.unsigned == position.rawValue
            else {
                return .failure(
                    .unavailable(detail: "NATS has not begun the log again at \(position.rawValue): \(text)")
                )
            }
            return .success(())
        }
    }
}
