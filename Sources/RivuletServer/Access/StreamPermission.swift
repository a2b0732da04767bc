import RivuletAccess
import RivuletAuth
import RivuletSessions

/// The part of a stream's source that a caller may watch, compared with the part that the stream has.
enum StreamPermission {
    case same
    /// The stream has to get this topic; true if the permissions leave out a part of what the client asked for.
    case other(StreamTopic, isMasked: Bool)
    /// Nothing, for this reason.
    case nothing(Problem)
}

extension ServerContext {
    /// Decides about an open stream again.
    ///
    /// `asked` is the topic for which its client asked; nil if the stream has all of it.
    func permission(of identity: Identity, for source: StreamSource, asked: StreamTopic?) -> StreamPermission {
        do throws(Problem) {
            switch source {
            case .session(let key, let topic):
                return try permission(of: identity, for: key, topic, asked: asked ?? topic)
            case .shared(let shared):
                try checkStream(of: identity, shared)
                return .same
            }
        } catch {
            return .nothing(error)
        }
    }

    private func permission(
        of identity: Identity,
        for key: SessionKey,
        _ topic: StreamTopic,
        asked: StreamTopic
    ) throws(Problem) -> StreamPermission {
        let permit = Permit.limited(CallerPermit(identity, access: access(of: identity, to: key)))
        if let view = topic.view {
            _ = try permit.views(named: view, of: key)
            return .same
        }
        let (granted, isMasked) = try grantedPart(of: asked, of: key, permit)
        let paths = PathSet(granted.paths)
        guard paths != PathSet(topic.paths) else { return .same }
        // The session answers with its own form of the paths, by which the stream knows the answer.
        let normal = StreamTopic(
            paths: paths.pointers,
            format: granted.format,
            interval: granted.interval,
            isRepathed: granted.isRepathed
        )
        return .other(normal, isMasked: isMasked)
    }

    /// Returns the granted part of a topic that an open stream has asked for.
    ///
    /// - Throws: 403 also if the grants make too many paths of it. The request that renews a credential names no paths,
    ///   so that no other paths would help.
    private func grantedPart(
        of asked: StreamTopic,
        of key: SessionKey,
        _ permit: Permit
    ) throws(Problem) -> (topic: StreamTopic, isMasked: Bool) {
        do throws(Problem) {
            return try permit.topic(asked, of: key, pathsMax: options.sessionLimits.pathsPerStreamMax)
        } catch {
            guard error.type == .invalidQuery else { throw error }
            throw .denied(permit.caller ?? .anonymous, Need(.read, app: key.app, session: key.id))
        }
    }

    private func checkStream(of identity: Identity, _ shared: SharedName) throws(Problem) {
        let grants = identity.grants
        switch shared.kind {
        case .store:
            // All streams of a store share their events, so a caller that may read some items only gets none.
            guard grants.store(shared.name, of: shared.app, for: .read)?.isAll != true else { return }
            throw .denied(identity.caller, Need(.read, app: shared.app, store: shared.name))
        case .value:
            guard !grants.value(shared.name, of: shared.app, for: .read) else { return }
            throw .denied(identity.caller, Need(.read, app: shared.app, value: shared.name))
        }
    }
}
