import RivuletEventLoop
import Synchronization

/// A text with which many event streams may begin, in each form that they accept.
final class StreamText: Sendable {
    /// The compressed form.
    struct Compressed: Sendable {
        /// Deflate blocks that do not refer to earlier bytes.
        let blocks: SharedBytes
        /// The tally of the text in them.
        let tally: GzipTally
    }

    let plain: SharedBytes
    private let compressed = Mutex<Compressed?>(nil)

    init(_ plain: SharedBytes) { self.plain = plain }

    /// Copies the bytes, and counts them in the account.
    convenience init(_ bytes: [UInt8], account: SharedBytes.Account) { self.init(SharedBytes(bytes, account: account)) }

    /// Makes the compressed form; do not call it on a loop's thread, because a long text takes long.
    func compress(_ account: SharedBytes.Account) {
        compressed.withLock { compressed in
            guard compressed == nil else { return }
            compressed = plain.withBytes { text in
                StreamCompressor.whole(text).map { blocks in
                    Compressed(blocks: SharedBytes(blocks, account: account), tally: GzipTally(text))
                }
            }
        }
    }

    /// The compressed form; the first stream that needs it makes it, and other loops wait for it.
    func compressed(by coder: StreamCoder) -> Compressed {
        compressed.withLock { compressed in
            if let compressed { return compressed }
            let made = plain.withBytes { Compressed(blocks: coder.shared($0), tally: GzipTally($0)) }
            compressed = made
            return made
        }
    }
}
