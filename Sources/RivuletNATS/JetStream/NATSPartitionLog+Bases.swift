internal import Logging
package import RivuletCluster
internal import RivuletEventLoop
internal import RivuletJSON

extension NATSPartitionLog {
    // MARK: Put

    package func put(
        _ base: PartitionBase,
        of partition: Partition,
        reply: @escaping (Result<Void, LogError>) -> Void
    ) {
        let byteCount = BaseChunks.byteCount(of: base.frames)
        guard byteCount <= limits.baseBytesMax else {
            return connection.nats.afterCall { [limits] in
                reply(.failure(.tooLarge(limitBytes: limits.baseBytesMax)))
            }
        }
        manifest(of: partition) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(let stored?) where stored.manifest.position >= base.position: reply(.success(()))
            case .success(let stored):
                BaseUpload(self, base, partition, after: stored?.revision ?? 0, reply: reply).begin()
            }
        }
    }

    /// Reads the manifest and its revision from the stream's leader; nil if there is no base.
    fileprivate func manifest(
        of partition: Partition,
        reply: @escaping (Result<(manifest: BaseManifest, revision: UInt64)?, LogError>) -> Void
    ) {
        let query = JSONValue.members(["last_by_subj": .string(names.manifest(partition))])
        jetStream.message(names.baseStream, query) { [limits] result in
            do throws(LogError) {
                guard let message = try result.mapError(\.logError).get() else { return reply(.success(nil)) }
                let manifest = try BaseManifest(message.payload, byteCountMax: limits.baseBytesMax)
                reply(.success((manifest, message.sequence)))
            } catch {
                reply(.failure(error))
            }
        }
    }

    // MARK: Get

    package func base(of partition: Partition, reply: @escaping (Result<PartitionBase?, LogError>) -> Void) {
        readBase(of: partition, triesLeft: limits.baseTriesMax, reply: reply)
    }

    private func readBase(
        of partition: Partition,
        triesLeft: Int,
        reply: @escaping (Result<PartitionBase?, LogError>) -> Void
    ) {
        manifest(of: partition) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(nil): reply(.success(nil))
            case .success(let stored?):
                let download = BaseDownload(self, stored.manifest, partition) { [self] result in
                    switch result {
                    case .success(let base): reply(.success(base))
                    // A newer base may have replaced it meanwhile.
                    case .failure(.lost) where triesLeft > 1:
                        connection.nats.loop.schedule(after: limits.basePause) { [self] in
                            readBase(of: partition, triesLeft: triesLeft - 1, reply: reply)
                        }
                    case .failure(let error): reply(.failure(error))
                    }
                }
                download.begin()
            }
        }
    }
}

/// The upload of one base: its chunks, then its manifest, then the removal of what was before.
private final class BaseUpload {
    private let log: NATSPartitionLog
    private let position: LogPosition
    private let partition: Partition
    private let revision: UInt64
    private let id: String
    private var chunks: BaseChunks
    private var reply: ((Result<Void, LogError>) -> Void)?
    private var sent = 0
    private var stored = 0
    /// The chunks that are stored.
    private var sequences: [UInt64] = []
    private var isAtEnd = false

    init(
        _ log: NATSPartitionLog,
        _ base: PartitionBase,
        _ partition: Partition,
        after revision: UInt64,
        reply: @escaping (Result<Void, LogError>) -> Void
    ) {
        (self.log, self.partition, self.revision, self.reply) = (log, partition, revision, reply)
        position = base.position
        // Two nodes that store a base of the same position use different subjects.
        id = "\(base.position.rawValue)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        // The rest is for headers.
        let most = max(log.connection.messageBytesMax - 1_024, 1_024)
        chunks = BaseChunks(base.frames, chunkBytes: min(log.limits.chunkBytesMax, most))
    }

    func begin() {
        sendMore()
        // A base without frames has no chunks.
        if isAtEnd, stored == sent { sendManifest() }
    }

    private func sendMore() {
        while !isAtEnd, sent - stored < log.limits.chunksInFlightMax {
            guard let chunk = chunks.next() else {
                isAtEnd = true
                return
            }
            let subject = log.names.chunk(sent, of: id, partition)
            sent += 1
            log.jetStream.publish(subject, after: 0, chunk, within: JetStream.apiTime) { [self] result in
                switch result {
                case .failure(let failure): abandon(failure.logError)
                case .success(let ack): didStore(ack["seq"]?.unsigned ?? 0)
                }
            }
        }
    }

    private func didStore(_ sequence: UInt64) {
        guard reply != nil else { return }
        stored += 1
        sequences.append(sequence)
        sendMore()
        if isAtEnd, stored == sent { sendManifest() }
    }

    private func sendManifest() {
        let manifest = BaseManifest(
            position: position,
            id: id,
            chunks: sent,
            byteCount: chunks.byteCount,
            hash: chunks.hashText
        )
        let (subject, bytes) = (log.names.manifest(partition), manifest.json.jsonBytes())
        log.jetStream.publish(subject, after: revision, bytes, within: JetStream.apiTime) { [self] result in
            switch RecordOutcome(result, of: log.names.baseStream) {
            case .stored(let revision): removeEarlier(than: min(sequences.min() ?? revision, revision))
            case .conflict: abandon(.unavailable(detail: "Another node has stored a base meanwhile."))
            case .refused(let error): abandon(error)
            // The chunks stay, because the manifest may be stored.
            case .unknown: finish(.failure(.unavailable(detail: "NATS has not confirmed the base.")))
            }
        }
    }

    /// Removes all messages before this base: earlier bases, and what incomplete uploads have left.
    ///
    /// The purge has no filter, for the reason that `cut` tells; the stream has bases of this partition only.
    private func removeEarlier(than sequence: UInt64) {
        guard sequence > 1, sequence < .max else { return finish(.success(())) }
        let body = JSONValue.members(["seq": .unsigned(sequence)])
        log.jetStream.call("STREAM.PURGE.\(log.names.baseStream)", body) { [self] result in
            // The base is stored in any case, and the next one removes what was left.
            if case .failure(let failure) = result {
                log.connection.logger.warning("earlier bases were not removed: \(failure.logError)")
            }
            finish(.success(()))
        }
    }

    /// Removes the chunks of a base that will not be complete, and replies then.
    ///
    /// Chunks that are still on their way stay, until the next base removes them.
    private func abandon(_ error: LogError) {
        guard let reply = exchange(&reply, with: nil) else { return }
        remove(sequences[...]) { reply(.failure(error)) }
    }

    private func remove(_ sequences: ArraySlice<UInt64>, then finish: @escaping () -> Void) {
        guard let sequence = sequences.first else { return finish() }
        // Without "no_erase", the server overwrites the message first.
        let body = JSONValue.members(["seq": .unsigned(sequence), "no_erase": .bool(true)])
        log.jetStream.call("STREAM.MSG.DELETE.\(log.names.baseStream)", body) { [self] result in
            switch result {
            case .success, .failure(.error): remove(sequences.dropFirst(), then: finish)
            case .failure: finish()
            }
        }
    }

    private func finish(_ result: Result<Void, LogError>) { exchange(&reply, with: nil)?(result) }
}

/// The download of one base, a few chunks at once.
private final class BaseDownload {
    private let log: NATSPartitionLog
    private let manifest: BaseManifest
    private let partition: Partition
    private var reply: ((Result<PartitionBase, LogError>) -> Void)?
    private var assembly = BaseAssembly()
    /// The chunks that have come before their predecessors.
    private var waiting: [Int: [UInt8]] = [:]
    private var asked = 0
    private var taken = 0

    init(
        _ log: NATSPartitionLog,
        _ manifest: BaseManifest,
        _ partition: Partition,
        reply: @escaping (Result<PartitionBase, LogError>) -> Void
    ) {
        (self.log, self.manifest, self.partition, self.reply) = (log, manifest, partition, reply)
    }

    func begin() {
        askMore()
        if manifest.chunks == 0 { end() }
    }

    private func askMore() {
        while asked < manifest.chunks, asked - taken < log.limits.chunksInFlightMax {
            ask(asked, triesLeft: log.limits.baseTriesMax)
            asked += 1
        }
    }

    private func ask(_ index: Int, triesLeft: Int) {
        let subject = log.names.chunk(index, of: manifest.id, partition)
        let request = "$JS.API.DIRECT.GET.\(log.names.baseStream).\(subject)"
        log.connection.request(request, payload: [], within: log.limits.readTime) { [self] outcome in
            guard reply != nil else { return true }
            switch outcome {
            case .answer(let message) where message.headers.status == nil && message.headers["Nats-Subject"] == subject:
                waiting[index] = message.payload
                takeWaiting()
            // A replica that lags does not have the chunk yet.
            case .answer where triesLeft > 1:
                log.connection.nats.loop.schedule(after: log.limits.basePause) { [self] in
                    if reply != nil { ask(index, triesLeft: triesLeft - 1) }
                }
            case .answer: finish(.failure(BaseManifest.damaged))
            case .refused(let error): finish(.failure(error))
            case .unknown(let detail): finish(.failure(.unavailable(detail: detail)))
            }
            return true
        }
    }

    private func takeWaiting() {
        while let chunk = waiting.removeValue(forKey: taken) {
            assembly.append(chunk)
            taken += 1
        }
        askMore()
        if taken == manifest.chunks { end() }
    }

    private func end() {
        let isRight =
            assembly.isWhole && assembly.byteCount == manifest.byteCount && assembly.hashText == manifest.hash
        guard isRight else { return finish(.failure(BaseManifest.damaged)) }
        finish(.success(PartitionBase(position: manifest.position, frames: assembly.frames)))
    }

    private func finish(_ result: Result<PartitionBase, LogError>) { exchange(&reply, with: nil)?(result) }
}
