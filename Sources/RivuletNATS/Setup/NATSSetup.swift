package import RivuletCluster
internal import RivuletEventLoop
internal import RivuletJSON

/// The creation of a cluster in NATS, and the checks of a node that starts.
package final class NATSSetup {
    let connection: NATSConnection
    let names: NATSNames
    let jetStream: JetStream
    let records: NATSRecords

    /// The attempts while a new stream has no leader yet, and the pause between them.
    static let triesMax = 25
    static let pause = Duration.milliseconds(200)

    package init(connection: NATSConnection, names: NATSNames) {
        (self.connection, self.names) = (connection, names)
        jetStream = JetStream(connection: connection)
        records = NATSRecords(connection: connection, names: names)
    }

    /// Creates the streams and the facts of a cluster, for `rivulet cluster init`.
    ///
    /// It goes on where an earlier attempt was interrupted. A cluster that exists is refused.
    ///
    /// - Parameters:
    ///   - facts: The facts.
    ///   - logBytesMax: The most bytes of the log; nil for the servers' limit.
    ///   - reply: Gets `incompatible` with the remedy, or `unavailable`, after which the call may be made again.
    package func create(
        _ facts: ClusterFacts,
        logBytesMax: Int? = nil,
        reply: @escaping (Result<Void, LogError>) -> Void
    ) {
        readFacts { [self] result in
            switch result {
            case .success(let existing?): reply(.failure(existingError(existing.id)))
            case .failure(let error): reply(.failure(error))
            case .success(nil):
                refuseMessages { [self] error in
                    if let error { return reply(.failure(error)) }
                    let streams = settings(replicas: facts.replicas, logBytesMax: logBytesMax)
                    createStreams(streams[...]) { [self] error in
                        if let error { return reply(.failure(error)) }
                        write(facts, triesLeft: Self.triesMax, reply: reply)
                    }
                }
            }
        }
    }

    func settings(replicas: Int, logBytesMax: Int? = nil) -> [StreamSettings] {
        [
            .records(names, replicas: replicas),
            .bases(names, replicas: replicas),
            .log(.first, names, replicas: replicas, bytesMax: logBytesMax),
        ]
    }

    /// Reads the facts; nil if there is no cluster.
    private func readFacts(_ reply: @escaping (Result<ClusterFacts?, LogError>) -> Void) {
        let query = JSONValue.members(["last_by_subj": .string(names.record(ClusterFacts.recordName))])
        jetStream.message(names.recordStream, query) { result in
            do throws(LogError) {
                switch result {
                case .success(let message?): reply(.success(try ClusterFacts(message.payload)))
                case .success(nil): reply(.success(nil))
                case .failure(.error(let error)) where error.code == JetStreamError.noStream: reply(.success(nil))
                case .failure(let failure): throw failure.logError
                }
            } catch {
                reply(.failure(error))
            }
        }
    }

    private func existingError(_ id: String) -> LogError {
        .incompatible(
            detail: """
                The NATS servers already have the cluster \(id). Use it, or use another account of NATS for a new \
                cluster.
                """
        )
    }

    /// Refuses a log with messages, which belongs to a cluster that has lost its facts.
    private func refuseMessages(_ reply: @escaping (LogError?) -> Void) {
        let stream = names.logStream(.first)
        jetStream.call("STREAM.INFO.\(stream)") { result in
            switch result {
            case .failure(.error(let error)) where error.code == JetStreamError.noStream: reply(nil)
            case .failure(let failure): reply(failure.logError)
            case .success(let info):
                let last = info["state"]?["last_seq"]?.unsigned ?? 0
                guard last > 0 else { return reply(nil) }
                reply(
                    .incompatible(
                        detail: """
                            The NATS stream \(stream) has messages of a cluster whose facts are lost. Restore a backup \
                            of NATS, or remove the streams with `nats stream rm` for a new cluster.
                            """
                    )
                )
            }
        }
    }

    private func createStreams(_ streams: ArraySlice<StreamSettings>, _ reply: @escaping (LogError?) -> Void) {
        guard let stream = streams.first else { return reply(nil) }
        // The answer comes when the stream has a leader. A stream with the same settings is no error.
        jetStream.call(
            "STREAM.CREATE.\(stream.name)",
            stream.configuration,
            within: .seconds(10)
        ) { [self] result in
            guard case .failure(let failure) = result else { return createStreams(streams.dropFirst(), reply) }
            guard case .error(let error) = failure else { return reply(failure.logError) }
            if error.code == JetStreamError.nameInUse {
                return reply(
                    .incompatible(
                        detail: """
                            The NATS servers have a stream \(stream.name) with other settings. Remove it with \
                            `nats stream rm \(stream.name)`, or use another account of NATS.
                            """
                    )
                )
            }
            if JetStreamError.tooFewServers.contains(error.code) {
                return reply(
                    .incompatible(
                        detail: """
                            NATS has too few JetStream servers for \(stream.replicas) replicas: \(error.text). Start \
                            \(stream.replicas) servers as one cluster.
                            """
                    )
                )
            }
            reply(failure.logError)
        }
    }

    private func write(_ facts: ClusterFacts, triesLeft: Int, reply: @escaping (Result<Void, LogError>) -> Void) {
        records.put(facts.bytes, as: ClusterFacts.recordName, after: 0) { [self] outcome in
            switch outcome {
            case .stored: reply(.success(()))
            case .conflict:
                // Another init was faster, or this one's own write of unknown outcome was stored.
                readFacts { [self] result in
                    switch result {
                    case .success(let stored?) where stored == facts: reply(.success(()))
                    case .success(let stored): reply(.failure(existingError(stored?.id ?? "of another init")))
                    case .failure(let error): reply(.failure(error))
                    }
                }
            case .refused(.unavailable), .unknown:
                guard triesLeft > 1 else {
                    return reply(.failure(.unavailable(detail: "NATS has not stored the cluster's facts. Try again.")))
                }
                connection.nats.loop.schedule(after: Self.pause) { [self] in
                    write(facts, triesLeft: triesLeft - 1, reply: reply)
                }
            case .refused(let error): reply(.failure(error))
            }
        }
    }
}
