import Logging
import RivuletCluster
import RivuletEventLoop
import RivuletNATS

/// The connection of a process to the NATS servers of a cluster, and what is built on it; used on its loop's thread.
final class ClusterLink {
    let nats: NATSLoop
    let connection: NATSConnection
    let names = NATSNames()
    let setup: NATSSetup
    let records: NATSRecords
    let log: NATSPartitionLog

    /// The time for an answer of a node.
    static let askTime = Duration.seconds(60)

    init(_ options: ClusterLinkOptions, name: String, on nats: NATSLoop, logger: Logger) {
        self.nats = nats
        connection = NATSConnection(on: nats, options: options.natsOptions(name: name), logger: logger)
        setup = NATSSetup(connection: connection, names: names)
        records = NATSRecords(connection: connection, names: names)
        // A node serves nothing before the check of the servers' disks, and commands write nothing that a client
        // awaits.
        log = NATSPartitionLog(connection: connection, names: names, survivesPowerLoss: true)
    }

    /// The subject on which a node answers questions of commands.
    private func questions(of node: String, in cluster: String) -> String { names.node(node + "?", of: cluster) }

    /// Asks a node; the reply is `unavailable` if the node does not answer.
    func ask(
        _ question: NodeQuestion,
        _ node: String,
        of cluster: String,
        within time: Duration = askTime,
        reply: @escaping (Result<NodeAnswer, LogError>) -> Void
    ) {
        let subject = questions(of: node, in: cluster)
        connection.request(subject, payload: question.bytes, within: time) { outcome in
            switch outcome {
            case .answer(let message): reply(Result { () throws(LogError) in try NodeAnswer(message.payload) })
            case .refused(.unavailable):
                reply(.failure(.unavailable(detail: "The node \(node) does not answer: it is not running.")))
            case .refused(let error): reply(.failure(error))
            case .unknown: reply(.failure(.unavailable(detail: "The node \(node) has not answered within \(time).")))
            }
            return true
        }
    }

    /// Answers the questions to a node from now on.
    func answer(
        as node: String,
        of cluster: String,
        _ answer: @escaping (NodeQuestion, _ reply: @escaping (NodeAnswer) -> Void) -> Void
    ) {
        _ = connection.subscribe(questions(of: node, in: cluster)) { [connection] message in
            guard let subject = message.reply else { return }
            let send: (NodeAnswer) -> Void = { answer in
                // An answer that is not sent is one that the command misses, which it reports.
                _ = connection.publish(subject, payload: answer.bytes)
            }
            guard let question = NodeQuestion(message.payload) else {
                return send(NodeAnswer(error: "this node's build does not know the question: upgrade the node"))
            }
            answer(question, send)
        }
    }
}
