internal import RivuletJSON

/// The commands of a client, appended to a buffer.
///
/// Subjects come from `NATSSubjects`, and have no spaces.
///
/// Source: <https://docs.nats.io/reference/reference-protocols/nats-protocol>
package enum NATSEncoder {
    /// Presents the client to the server.
    package static func connect(_ options: NATSConnectOptions, into bytes: inout [UInt8]) {
        bytes += "CONNECT ".utf8
        bytes += options.json.jsonBytes()
        bytes += "\r\n".utf8
    }

    /// Publishes a message; with headers it is an HPUB.
    package static func publish(
        _ subject: String,
        reply: String? = nil,
        headers: NATSHeaders = NATSHeaders(),
        payload: [UInt8],
        into bytes: inout [UInt8]
    ) {
        let head = headers.bytes
        let target = reply.map { "\(subject) \($0)" } ?? subject
        if head.isEmpty {
            bytes += "PUB \(target) \(payload.count)\r\n".utf8
        } else {
            bytes += "HPUB \(target) \(head.count) \(head.count + payload.count)\r\n".utf8
            bytes += head
        }
        bytes += payload
        bytes += "\r\n".utf8
    }

    package static func subscribe(_ subject: String, as subscription: UInt64, into bytes: inout [UInt8]) {
        bytes += "SUB \(subject) \(subscription)\r\n".utf8
    }

    package static func unsubscribe(_ subscription: UInt64, into bytes: inout [UInt8]) {
        bytes += "UNSUB \(subscription)\r\n".utf8
    }

    package static func ping(into bytes: inout [UInt8]) { bytes += "PING\r\n".utf8 }

    package static func pong(into bytes: inout [UInt8]) { bytes += "PONG\r\n".utf8 }
}

/// The options of a CONNECT.
package struct NATSConnectOptions: Hashable, Sendable {
    /// The name of the client in the server's monitoring.
    package var name: String
    package var user: String?
    package var password: String?
    package var token: String?
    package var jwt: String?
    /// The public key of an NKey.
    package var nkey: String?
    /// The signature of the server's nonce, in base64url without padding.
    package var signature: String?

    package init(name: String) { self.name = name }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "verbose", value: .bool(false)), .init(name: "pedantic", value: .bool(false)),
            .init(name: "tls_required", value: .bool(false)), .init(name: "name", value: .string(name)),
            .init(name: "lang", value: .string("swift")), .init(name: "version", value: .string("1")),
            .init(name: "protocol", value: .number("1")), .init(name: "headers", value: .bool(true)),
            .init(name: "no_responders", value: .bool(true)),
        ]
        let secrets = [
            ("user", user), ("pass", password), ("auth_token", token), ("jwt", jwt), ("nkey", nkey), ("sig", signature),
        ]
        for (name, value) in secrets {
            guard let value else { continue }
            members.append(.init(name: name, value: .string(value)))
        }
        return .object(members)
    }
}
