import RivuletEngine
import RivuletHTTP
import RivuletMetrics
import RivuletSessions

/// The metrics of all loops.
struct MetricsEndpoint {
    let server: ServerLoop

    /// GET /metrics: when every loop has published, so that all that was answered before is in it.
    func metrics(_ exchange: Exchange) throws(Problem) {
        guard let exposition = server.context.metrics.factory as? any MetricsExposition else {
            throw Problem(
                .notFound,
                "the metrics of this server go to a backend of its program, which shows them itself"
            )
        }
        let gathering = Confined(
            MetricsGathering(of: server, exchange, exposition),
            to: server.core.loop
        )
        for peer in server.core.peers {
            let isPosted = peer.post { peer in
                peer.publishMetrics()
                let longestTurn = peer.core.counters.takeLongestTurn()
                gathering.post { $0.note(longestTurn) }
            }
            // Its loop has ended.
            if !isPosted { gathering.post { $0.note(0) } }
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

    /// One loop has published; the last one brings about the answer.
    func note(_ milliseconds: UInt64) {
        waiting -= 1
        longestTurn = max(longestTurn, milliseconds)
        guard waiting == 0 else { return }
        owner.context.metrics.publishOnRequest(
            longestTurnMilliseconds: longestTurn,
            bodyBytes: owner.context.bodyBudget.bytes,
            sessionsToErase: owner.context.erasing?.sessionsToEraseCount ?? 0
        )
        let fields = [
            HTTPField("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),
            HTTPField("Cache-Control", "no-store"),
        ]
        owner.send(Response(.ok, fields: fields, body: exposition.text()), to: exchange)
    }
}
