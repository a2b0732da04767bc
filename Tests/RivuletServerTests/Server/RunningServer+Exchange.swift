// One connection to a server that does not listen.

import Synchronization

@testable import RivuletServer

extension RunningServer {
    /// Sends requests on one connection that the last request closes.
    ///
    /// Returns all answers of the server.
    func exchange(_ text: String) async -> String {
        let answer = Mutex([UInt8]())
        return await withCheckedContinuation { continuation in
            let connection = connect { bytes in
                if let bytes {
                    answer.withLock { $0 += bytes }
                } else {
                    continuation.resume(returning: answer.withLock { String(decoding: $0, as: UTF8.self) })
                }
            }
            connection.send(Array(text.utf8))
        }
    }
}
