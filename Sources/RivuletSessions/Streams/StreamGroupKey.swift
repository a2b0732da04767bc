/// What the subscribers of one group have in common.
struct StreamGroupKey: Hashable {
    let view: String?
    let paths: PathSet
    let format: StreamFormat
    let interval: Duration?
    /// The name of the paths in the group's cursors; nil: they have none.
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

    /// Whether what a reader with that cursor has is of this group's paths, as far as the cursor tells.
    func suits(_ cursor: Cursor) -> Bool {
        guard let name = cursor.paths else { return true }
        return name == pathsName ?? Self.name(of: paths, in: view, as: format)
    }

    /// The same in every process, whatever order the paths were asked for in.
    private static func name(of paths: PathSet, in view: String?, as format: StreamFormat) -> String {
        var hash = StableHash()
        hash.add(text: view ?? "")
        hash.add(text: format.rawValue)
        for path in paths.texts { hash.add(text: path.text) }
        return RandomToken.token(of: hash.value, count: Cursor.pathsCount)
    }
}
