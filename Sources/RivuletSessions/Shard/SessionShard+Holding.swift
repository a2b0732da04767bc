import DequeModule

/// The requests for sessions that wait until sessions may be handed out.
struct HeldRequests {
    /// The most requests that wait.
    static let countMax = 4_096
    /// The longest time for which a request waits.
    static let timeMax = Duration.seconds(2)
    /// The time between two looks.
    static let interval = Duration.milliseconds(10)

    /// One request; requests wait equally long, so the first one ends first.
    struct Request {
        let key: SessionKey
        let app: any HostedApp
        let until: Duration
        let found: SessionShard.Found
    }

    var requests: Deque<Request> = []
    /// True if the next look is scheduled.
    var isWatched = false
}

extension SessionShard {
    /// True if a session may be handed out now.
    var mayHandOut: Bool { environment.mayHandOut?() ?? true }

    /// Keeps a request until sessions may be handed out, or its time is over.
    func hold(_ key: SessionKey, of app: any HostedApp, _ found: @escaping Found) {
        guard held.requests.count < HeldRequests.countMax else {
            return found(.failure(.overloaded("requests that wait until sessions may be handed out")))
        }
        let until = environment.uptime() + HeldRequests.timeMax
        held.requests.append(HeldRequests.Request(key: key, app: app, until: until, found: found))
        watchHeld()
    }

    private func watchHeld() {
        guard !held.isWatched else { return }
        held.isWatched = true
        environment.schedule(HeldRequests.interval) { [weak self] in self?.lookAtHeld() }
    }

    private func lookAtHeld() {
        held.isWatched = false
        if isDraining || mayHandOut {
            // A request that has to wait again enters the queue behind these.
            for request in exchange(&held.requests, with: []) { find(request.key, of: request.app, request.found) }
        } else {
            let now = environment.uptime()
            while let request = held.requests.first, request.until <= now {
                held.requests.removeFirst()
                request.found(.failure(.notServing))
            }
        }
        if !held.requests.isEmpty { watchHeld() }
    }
}
