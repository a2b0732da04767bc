import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletMetrics
import RivuletSessions

extension ServerLoop {
    /// Counts a dispatch to an app on the loop of its session.
    func count(_ result: Result<DispatchAnswer, SessionError>, of app: String) {
        switch result {
        case .success(let answer): count(app, .accepted, DispatchDurability(isDurable: answer.isDurable))
        case .failure(let error): count(app, DispatchOutcome(error))
        }
    }

    /// The same for a request with an idempotency key.
    func count(_ result: Result<OnceAnswer, SessionError>, of app: String) {
        switch result {
        case .success(let answer) where answer.isReplay: count(app, .replayed)
        case .success(let answer): count(app, .accepted, DispatchDurability(isDurable: answer.isDurable))
        case .failure(let error): count(app, DispatchOutcome(error))
        }
    }

    private func count(_ app: String, _ outcome: DispatchOutcome, _ durability: DispatchDurability = .none) {
        guard let index = context.appIndices[app] else { return }
        core.counters.dispatched(app: index, outcome, durability)
    }

    // MARK: - Answering

    /// GET /metrics: when every loop has published, so that all that was answered before is in it.
    func answerMetrics(_ exchange: Exchange) throws(Problem) {
        guard let exposition = context.metrics.factory as? any MetricsExposition else {
            throw Problem(
                .notFound,
                "the metrics of this server go to a backend of its program, which shows them itself"
            )
        }
        let gathering = Confined(MetricsGathering(of: self, exchange, exposition), to: core.loop)
        for peer in core.peers {
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
