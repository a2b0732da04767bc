import RivuletEventLoop
import RivuletHTTP
import Synchronization

/// The body of an answer.
enum ResponseBody: Sendable {
    /// The bytes of one answer.
    case own([UInt8])
    /// A JSON body that other answers share.
    case shared(SharedBody)
    /// The compressed form of a shared body.
    case block(SharedBytes)

    var count: Int {
        switch self {
        case .own(let bytes): bytes.count
        case .shared(let body): body.plain.count
        case .block(let block): block.count
        }
    }

    var isEmpty: Bool { count == 0 }

    /// The bytes of the body; a copy if other answers share them.
    var bytes: [UInt8] {
        if case .own(let bytes) = self { return bytes }
        return withBytes { bytes in
            [UInt8](capacity: bytes.count) { $0.append(copying: bytes) }
        }
    }

    /// The shared bytes, which are sent after the head; nil if the bytes belong to this answer alone.
    var block: SharedBytes? {
        switch self {
        case .own: nil
        case .shared(let body): body.plain
        case .block(let block): block
        }
    }

    /// Calls `body` with the bytes.
    func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        switch self {
        case .own(let bytes): body(bytes.span)
        case .shared(let shared): shared.plain.withBytes(body)
        case .block(let block): block.withBytes(body)
        }
    }
}

/// A large body that is sent in many answers, in each form that clients accept.
final class SharedBody: Sendable {
    /// The outcome of compressing the body.
    enum Compressed: Sendable {
        case made(SharedBytes)
        /// The compressed form is not smaller, or could not be made.
        case notSmaller
    }

    let plain: SharedBytes
    private let account: SharedBytes.Account
    private let form = Mutex<Compressed?>(nil)

    /// Copies the bytes, and counts them in the account.
    init(_ bytes: [UInt8], account: SharedBytes.Account) {
        plain = SharedBytes(bytes, account: account)
        self.account = account
    }

    /// The outcome; nil until an answer with this body was compressed.
    var compressed: Compressed? { form.withLock { $0 } }

    /// Sets the outcome to these bytes, or to `notSmaller` if nil, and returns it.
    ///
    /// If another loop was first, its outcome is returned.
    func compressed(as bytes: [UInt8]?) -> Compressed {
        form.withLock { form in
            if let form { return form }
            let made = bytes.map { Compressed.made(SharedBytes($0, account: account)) } ?? .notSmaller
            form = made
            return made
        }
    }
}
