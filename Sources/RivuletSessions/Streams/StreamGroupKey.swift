import RivuletBase

/// The properties that the subscribers of one group have in common.
struct StreamGroupKey: Hashable, Sendable {
    let view: String?
    let paths: PathSet
    let format: StreamFormat
    let interval: Duration?
    /// The name of the paths in the group's cursors; nil if the cursors do not name them.
    let pathsName: String?

    init(_ topic: StreamTopic) {
        view = topic.view
        paths = PathSet(topic.paths)
        format = topic.format
        interval = topic.interval
        pathsName = topic.isRepathed ? Self.name(of: paths, in: topic.view, as: topic.format) : nil
    }

    var topic: StreamTopic {
        StreamTopic(
            view: view,
            paths: paths.pointers,
            format: format,
            interval: interval,
            isRepathed: pathsName != nil
        )
    }

    /// True if the cursor names this group's paths, or names no paths.
    func suits(_ cursor: Cursor) -> Bool {
        guard let name = cursor.paths else { return true }
        return name == pathsName ?? Self.name(of: paths, in: view, as: format)
    }

    /// Returns a name that is the same in every process and for every order of the requested paths.
    private static func name(of paths: PathSet, in view: String?, as format: StreamFormat) -> String {
        var hash = StableHash()
        hash.add(text: view ?? "")
        hash.add(text: format.rawValue)
        for path in paths.texts { hash.add(text: path.text) }
        return RandomToken.token(of: hash.value, count: Cursor.pathsCount)
    }
}

/// Identifies an event of a dispatch: groups with the same rendering get the same event.
struct Rendering: Hashable {
    /// The number of the projection in `FanOutPlan`.
    let projection: Int
    /// The watched paths to which the event's paths are relative; nil in the format that has whole key paths.
    let root: PathSet?
    /// The name of the watched paths in the event's cursor.
    let pathsName: String?

    init(_ projection: Int, for key: StreamGroupKey) {
        self.projection = projection
        root = key.format == .changes ? nil : key.paths
        pathsName = key.pathsName
    }
}
