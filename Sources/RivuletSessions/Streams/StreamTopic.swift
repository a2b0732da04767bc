package import RivuletJSON

/// The state of a session or one of its views, the watched key paths, and the form in which changes are sent.
///
/// Streams with the same topic get the same bytes.
package struct StreamTopic: Hashable, Sendable {
    /// The name of the view; nil for the state.
    package let view: String?
    /// The key paths; an empty array means the whole document.
    package let paths: [JSONPointer]
    package let format: StreamFormat
    /// The least time between two `change` events; changes meanwhile are merged.
    ///
    /// Nil means that each change is sent at once.
    package let interval: Duration?
    /// True if the paths differ from the paths with which the stream was opened; its cursors then name the paths.
    package let isRepathed: Bool

    package init(
        view: String? = nil,
        paths: [JSONPointer],
        format: StreamFormat = .changes,
        interval: Duration? = nil,
        isRepathed: Bool = false
    ) {
        self.view = view
        self.paths = paths
        self.format = format
        self.interval = interval
        self.isRepathed = isRepathed
    }

    /// The form in which a session names the topic in its answers: the paths in order, each once.
    package var normal: StreamTopic { StreamGroupKey(self).topic }
}

/// The format in which a stream writes its changes.
///
/// Source: <Documentation/HTTP.md#change-streams>.
package enum StreamFormat: String, CaseIterable, Hashable, Sendable {
    /// `{"version":v,"changes":[…]}`, elements of collections named by their ids.
    case changes
    /// An RFC 6902 array against the document at the stream's one path, elements named by their indices.
    case jsonPatch = "json-patch"
}
