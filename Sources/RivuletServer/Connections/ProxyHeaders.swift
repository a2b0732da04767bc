import RivuletEventLoop
import RivuletHTTP

/// The PROXY headers of one loop's connections that have not sent theirs yet.
final class ProxyHeaders {
    /// The result of the bytes of a connection.
    enum Step {
        /// The header is not complete.
        case wait
        /// The connection cannot have a header, so nothing of it can be believed.
        case refuse
        /// The client's address, or nil for a connection of the proxy itself, and the bytes after the header.
        case begin(PeerAddress.IP?, rest: [UInt8])
    }

    /// The reason that a connection is closed.
    enum RefusalReason: String, Hashable, Sendable {
        /// The peer is no trusted proxy.
        case untrusted = "the peer is not in --trusted-proxies"
        /// The bytes are no header.
        case malformed = "the connection does not begin with a PROXY header"
        /// The header did not come in time.
        case late = "the PROXY header did not come in time"
    }

    /// The address of all clients that a header does not name; it is no trusted proxy.
    private static let unknown = PeerAddress.IP(v4: 0)

    /// The bytes of the headers; each has at most `ProxyHeader.bytesMax`, and the bytes of one read.
    private var bytes: [ConnectionID: [UInt8]] = [:]

    /// Makes the headers of a loop; nil if the server expects none.
    init?(_ options: ServerOptions) {
        guard options.expectsProxyHeaders else { return nil }
    }

    /// Expects the header of a connection.
    func expect(from id: ConnectionID) { bytes[id] = [] }

    /// Forgets a connection that is closed.
    func forget(_ id: ConnectionID) { bytes[id] = nil }

    /// True if the connection has not sent its header.
    func isExpected(from id: ConnectionID) -> Bool { bytes[id] != nil }

    /// Takes bytes of a connection from which a header is expected.
    func take(_ span: Span<UInt8>, from id: ConnectionID) -> Step {
        var held = bytes.removeValue(forKey: id) ?? []
        for index in span.indices { held.append(span[index]) }
        switch ProxyHeader.read(held) {
        case .incomplete:
            bytes[id] = held
            return .wait
        case .malformed: return .refuse
        case .complete(let header, let byteCount):
            let rest = Array(held.dropFirst(byteCount))
            switch header {
            case .local: return .begin(nil, rest: rest)
            case .unknown: return .begin(Self.unknown, rest: rest)
            case .address(let high, let low):
                return .begin(Self.client(PeerAddress.IP(high: high, low: low)), rest: rest)
            case .text(let text):
                guard let ip = PeerAddress.IP(text) else { return .refuse }
                return .begin(Self.client(ip), rest: rest)
            }
        }
    }

    /// `::` stands for trusted peers on Unix sockets, and no client has it.
    private static func client(_ ip: PeerAddress.IP) -> PeerAddress.IP { ip == .unixSocket ? unknown : ip }
}
