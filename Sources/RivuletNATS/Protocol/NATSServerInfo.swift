internal import RivuletJSON

/// The description that a server sends of itself.
///
/// Source: <https://docs.nats.io/reference/reference-protocols/nats-protocol#info>
package struct NATSServerInfo: Hashable, Sendable {
    package var serverID = ""
    package var serverName = ""
    package var version = ""
    /// The most bytes of a message with its headers.
    package var maxPayloadBytes = 1_048_576
    /// The text that a client with an NKey signs; nil if the server wants none.
    package var nonce: String?
    package var wantsTLS = false
    package var hasHeaders = false
    package var hasJetStream = false
    /// True if the server is about to stop, and its clients have to go to another one.
    package var isLameDuck = false

    package init() {}

    /// Reads the JSON of an INFO line.
    package init(json: [UInt8]) throws(NATSProtocolError) {
        let info: JSONValue
        do {
            info = try JSONValue(parsing: json)
        } catch {
            throw .malformed("INFO is not JSON")
        }
        guard info.members != nil else { throw .malformed("INFO is not an object") }
        serverID = info["server_id"]?.stringValue ?? ""
        serverName = info["server_name"]?.stringValue ?? ""
        version = info["version"]?.stringValue ?? ""
        maxPayloadBytes = info["max_payload"]?.integerValue ?? maxPayloadBytes
        nonce = info["nonce"]?.stringValue
        wantsTLS = info["tls_required"]?.boolValue ?? false
        hasHeaders = info["headers"]?.boolValue ?? false
        hasJetStream = info["jetstream"]?.boolValue ?? false
        isLameDuck = info["ldm"]?.boolValue ?? false
    }
}

/// A version of nats-server, such as 2.15.1.
package struct NATSVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let major: Int
    package let minor: Int
    package let patch: Int

    /// The first version of JetStream without a fault that this log cannot work around.
    ///
    /// 2.15.0 and earlier lose a stream at `PURGE {seq: 1}`, or accept a wrong expectation after a leader's step-down.
    /// Source: <https://github.com/nats-io/nats-server/pull/8241>, <https://github.com/nats-io/nats-server/pull/8057>
    package static let least = NATSVersion(major: 2, minor: 15, patch: 1)

    package init(major: Int, minor: Int, patch: Int) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Reads "2.15.1"; nil for other text.
    ///
    /// A pre-release of a version, such as "2.15.1-RC.1", counts as earlier.
    package init?(_ text: String) {
        let release = text.prefix { $0 != "-" && $0 != "+" }
        let numbers = release.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else {
            return nil
        }
        let isEarlier = text.dropFirst(release.count).first == "-"
        (self.major, self.minor, self.patch) = (major, minor, isEarlier ? patch - 1 : patch)
    }

    package static func < (one: NATSVersion, other: NATSVersion) -> Bool {
        (one.major, one.minor, one.patch) < (other.major, other.minor, other.patch)
    }

    package var description: String { "\(major).\(minor).\(patch)" }
}
