internal import RivuletCluster

/// The messages between nodes, over NATS without JetStream.
///
/// NATS delivers a message at most once, and the messages of one connection in their order.
/// Source: <https://docs.nats.io/nats-concepts/what-is-nats#nats-quality-of-service-qos>
package final class NATSBus: ClusterBus {
    private let connection: NATSConnection
    private let names: NATSNames
    private let cluster: String

    /// Makes the bus of the cluster with this identifier.
    package init(connection: NATSConnection, names: NATSNames, cluster: String) {
        (self.connection, self.names, self.cluster) = (connection, names, cluster)
    }

    package var messageBytesMax: Int { connection.messageBytesMax }

    package func send(_ message: [UInt8], to node: String) {
        // A refused message is a lost one, which the receiver finds by the numbers of its channel.
        _ = connection.publish(names.node(node, of: cluster), payload: message)
    }

    package func receive(as node: String, _ deliver: @escaping ([UInt8]) -> Void) {
        _ = connection.subscribe(names.node(node, of: cluster)) { deliver($0.payload) }
    }

    package func onConnectionChange(_ report: @escaping (Bool) -> Void) { connection.observe(report) }
}
