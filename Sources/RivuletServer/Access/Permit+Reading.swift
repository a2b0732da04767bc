import RivuletAccess
import RivuletAuth
import RivuletHTTP
import RivuletJSON
import RivuletSessions

extension Permit {
    /// The most granted paths within the paths of a stream, of which some may be within others.
    private static let partsMax = 256

    /// Returns the mask of a read.
    ///
    /// - Throws: 401 or 403 if the caller may not read any part of the value at the path.
    func mask(
        for action: Access.Action,
        at path: JSONPointer,
        of key: SessionKey
    ) throws(Problem) -> PathMask {
        guard case .limited(let permit) = self else { return .all }
        let access = permit.access
        let mask = action == .history ? access.history : access.reads
        guard access.allows(action), mask.intersects(path) else { throw denied(action, key) }
        return mask
    }

    /// Returns the names of the views that the caller may read.
    ///
    /// - Throws: 401 or 403 if the named view is not one of them, or if the caller may read none.
    func views(named name: String?, of key: SessionKey) throws(Problem) -> NameSet {
        guard case .limited(let permit) = self else { return .all }
        let views = permit.access.views
        guard permit.access.allows(.read), name.map(views.contains) ?? !views.isEmpty else {
            throw denied(.read, key)
        }
        return views
    }

    /// Returns a stream's topic with the granted part of its paths, and true if a part is left out.
    ///
    /// - Throws: 401 or 403 if nothing is granted, or no single document for a stream of patches; 400 for more paths
    ///   than `pathsMax`.
    func topic(
        _ asked: StreamTopic,
        of key: SessionKey,
        pathsMax: Int
    ) throws(Problem) -> (topic: StreamTopic, isMasked: Bool) {
        guard case .limited(let permit) = self, asked.view == nil else { return (asked, false) }
        let partsMax = max(pathsMax, Self.partsMax)
        guard permit.access.allows(.read),
            let (paths, isNarrowed) = permit.access.reads.narrow(asked.paths, partsMax: partsMax)
        else { throw denied(.read, key) }
        guard isNarrowed else { return (asked, false) }
        guard asked.format == .changes || (paths.count == 1 && !paths[0].tokens.contains("*")) else {
            throw denied(.read, key)
        }
        guard paths.count <= pathsMax else {
            throw Problem(
                .invalidQuery,
                "the grants make over \(pathsMax) paths of these, and a stream takes at most \(pathsMax); ask for narrower paths"
            )
        }
        let topic = StreamTopic(
            paths: paths,
            format: asked.format,
            interval: asked.interval,
            isRepathed: true
        )
        return (topic, true)
    }

    /// Checks that the caller may copy the session's whole state.
    ///
    /// - Throws: 401 or 403 for a caller that may read a part of it only.
    func checkFork(of key: SessionKey, isPast: Bool) throws(Problem) {
        guard case .limited(let permit) = self else { return }
        guard permit.access.allows(.read), permit.access.reads.isAll else { throw denied(.read, key) }
        guard isPast else { return }
        guard permit.access.allows(.history), permit.access.history.isAll else {
            throw denied(.history, key)
        }
    }

    /// The caller of a dispatch, with the permissions that its session checks; nil without credentials.
    var sender: DispatchSender? {
        guard case .limited(let permit) = self else { return nil }
        return permit.sender
    }

    private func denied(_ action: Access.Action, _ key: SessionKey) -> Problem {
        .denied(caller ?? .anonymous, Need(action, app: key.app, session: key.id))
    }
}

extension ServerLoop {
    /// Records the caller of a stream that is about to begin.
    ///
    /// `asked` is the topic that the client asked for, if the permissions leave a part of it out. The answer is marked
    /// then.
    func begin(_ permit: Permit, asked: StreamTopic?, _ exchange: Exchange) {
        guard case .limited(let limited) = permit else { return }
        connections[exchange.connection]?.amendRequest {
            $0.identity = limited.identity
            guard let asked else { return }
            $0.asked = asked
            $0.fields.append(Response.isMasked)
        }
    }
}

extension Response {
    /// The field of an answer that leaves out what the caller may not read.
    static let isMasked = HTTPField("Rivulet-Masked", "?1")
}

extension Permit {
    /// Returns the sessions of a list: those that the caller may list, or those that it owns.
    ///
    /// `owner` is the query parameter.
    ///
    /// - Throws: 400 for another owner than `me`; 401 or 403 without the permission.
    func scope(ofList owner: String?, of app: String) throws(Problem) -> SessionList.Scope {
        guard let owner else { return try listed(of: app).map(SessionList.Scope.matching) ?? .all }
        guard owner == "me" else {
            let detail = "the query parameter \"owner\" is \"me\", for the caller's own sessions; found \"\(owner)\""
            throw Problem(.invalidQuery, detail)
        }
        guard let me = caller?.owner else { throw .credentialMissing }
        return .owner(me)
    }

    /// Returns the sessions that a list may show; nil for all.
    ///
    /// - Throws: 401 or 403 if the caller may list none, or if its patterns have no beginning in common, so that the
    ///   list would have to read the ids of others.
    private func listed(of app: String) throws(Problem) -> SessionPatterns? {
        guard case .limited(let permit) = self else { return nil }
        guard let patterns = permit.identity.grants.listPatterns(of: app), patterns.prefix != nil else {
            throw .denied(permit.identity.caller, Need(.list, app: app))
        }
        return patterns.isAll ? nil : patterns
    }
}
