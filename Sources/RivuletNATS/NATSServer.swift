/// The address of a NATS server.
package struct NATSServer: Hashable, Sendable {
    package let host: String
    package let port: UInt16

    package init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }
}
