import RivuletEventLoop
import Synchronization

/// A part of the text of event streams that many of them may begin with, in each form that they take.
final class StreamText: Sendable {
    /// The compressed form.
    struct Compressed: Sendable {
        /// Deflate blocks for a reader of anything.
        let blocks: SharedBytes
        /// The tally of the text in them.
        let tally: GzipTally
    }

    let plain: SharedBytes
    private let compressed = Mutex<Compressed?>(nil)

    init(_ plain: SharedBytes) { self.plain = plain }

    /// Copies the bytes, and counts them in the account.
    convenience init(_ bytes: [UInt8], account: SharedBytes.Account) { self.init(SharedBytes(bytes, account: account)) }

    /// The compressed form, which the first stream that takes it has made; other loops wait for it.
    func compressed(by coder: StreamCoder) -> Compressed {
        compressed.withLock { compressed in
            if let compressed { return compressed }
            let made = plain.withBytes { Compressed(blocks: coder.shared($0), tally: GzipTally($0)) }
            compressed = made
            return made
        }
    }
}
