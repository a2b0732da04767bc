import RivuletEngine
import RivuletHTTP
import RivuletMetrics
import RivuletSessions

/// The metrics of all loops.
struct MetricsEndpoint {
    let server: ServerLoop

    /// GET /metrics: answers when every loop has published, so that all earlier answers are counted.
    func metrics(_ exchange: Exchange) throws(Problem) {
        guard let exposition = server.context.metrics.factory as? any MetricsExposition else {
            throw Problem(
                .notFound,
                "the metrics of this server go to a backend of its program, which shows them itself"
            )
        }
        let gathering = LoopBound(
            MetricsGathering(of: server, exchange, exposition),
            to: server.core.loop
        )
        for peer in server.core.peers {
            let isPosted = peer.postReply { peer in
                peer.publishMetrics()
                let longestTurn = peer.core.counters.takeLongestTurn()
                gathering.postReply { $0.record(longestTurn) }
            }
            // The post fails if the peer's loop has ended.
            if !isPosted { gathering.postReply { $0.record(0) } }
        }
    }
}

/// The wait for all loops to publish.
private final class MetricsGathering {
    private let owner: ServerLoop
    private let exchange: Exchange
    private let exposition: any MetricsExposition
    private var waiting: Int
    private var longestTurn: UInt64 = 0

    init(of owner: ServerLoop, _ exchange: Exchange, _ exposition: any MetricsExposition) {
        self.owner = owner
        self.exchange = exchange
        self.exposition = exposition
        waiting = owner.core.peers.count
    }

    /// Records that one loop has published; the last loop triggers the answer.
    func record(_ milliseconds: UInt64) {
        waiting -= 1
        longestTurn = max(longestTurn, milliseconds)
        guard waiting == 0 else { return }
        if let cluster = owner.context.cluster { owner.context.metrics.publish(cluster) }
        owner.context.metrics.publishOnRequest(
            longestTurnMilliseconds: longestTurn,
            bodyBytes: owner.context.bodyBudget.bytes,
            sessionsToErase: owner.context.erasing?.sessionsToEraseCount ?? 0,
            storedBytes: owner.context.memoryStorage?.memoryBytes ?? 0
        )
        let fields = [
            HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),
            HTTPField("Cache-Control", "no-store"),
        ]
        owner.send(Response(.ok, fields: fields, body: exposition.text()), to: exchange)
    }
}
