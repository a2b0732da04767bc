import RivuletEngine
import RivuletSessions

/// Passes subscriptions to the sessions of one loop.
///
/// It has no state, unlike `SharedFeeds`: each session has the groups of its streams.
struct SessionFeeds {
    let server: ServerLoop

    /// Passes a subscription to its session; the answer comes through the session's sink.
    func join(_ subscription: StreamSubscription, to key: SessionKey, _ topic: StreamTopic) {
        guard let app = server.context.apps[key.app] else { return }
        let shard = server.shard
        shard.find(key, of: app) { found in
            switch found {
            case .failure(let error): refuse(subscription, .failed(error))
            case .success(let session):
                if shard.isDeleted(subscription.resume ?? subscription.stood) {
                    refuse(subscription, .gone)
                } else if !session.isStored, app.sessionPolicy == .explicit {
                    refuse(subscription, .failed(.notFound(key)))
                } else {
                    session.subscribe(StreamRequest(subscription, topic))
                }
            }
        }
    }

    private func refuse(_ subscription: StreamSubscription, _ error: SessionStreamError) {
        server.outbox.send(.refuse(subscription.stream, .session(error)), to: subscription.stream.loop)
    }
}

extension StreamRequest {
    /// The request of a subscription to a session.
    fileprivate init(_ subscription: StreamSubscription, _ topic: StreamTopic) {
        self.init(
            stream: subscription.stream,
            topic: topic,
            resume: subscription.resume,
            stood: subscription.stood,
            reason: subscription.reason,
            resumesAll: subscription.resumesAll,
            isMasked: subscription.isMasked,
            isCompressed: subscription.isCompressed,
            isOpen: subscription.isOpen
        )
    }
}
