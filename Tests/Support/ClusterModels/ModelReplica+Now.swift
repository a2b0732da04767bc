package import RivuletCluster
package import RivuletSessions
import Synchronization

/// The replica's methods for the first partition with results in place of replies, because it answers at once.
extension ModelReplica {
    package func applied(_ frames: [PositionedFrame]) throws(StorageError) -> [OperationOutcome] {
        try now { apply(frames, of: .first, reply: $0) }
    }

    package func exported(frameBytesMax: Int) throws(StorageError) -> ReplicaExport {
        try now { export(.first, frameBytesMax: frameBytesMax, reply: $0) }
    }

    package func loaded(_ export: ReplicaExport) throws(StorageError) {
        try now { load(export, of: .first, reply: $0) }
    }

    package func hash() throws(StorageError) -> ContentHash { try now { contentHash(of: .first, reply: $0) } }

    private func now<Value: Sendable>(
        _ request: (@escaping StorageReply<Value>) -> Void
    ) throws(StorageError) -> Value {
        let answer = Answer<Value>()
        request { result in answer.result.withLock { $0 = result } }
        guard let result = answer.result.withLock({ $0 }) else {
            throw .unavailable(detail: "the model has not answered at once: report this fault")
        }
        return try result.get()
    }
}

private final class Answer<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, StorageError>?>(nil)
}
