// Part of Rivulet. See README.md for the architecture.
// Owns what a stream watches.

package import RivuletJSON

/// The state of a session or one of its views, and the key paths of it that are watched.
package struct StreamTopic: Hashable, Sendable {
    /// The name of the view; nil for the state.
    package let view: String?
    /// The key paths; none means the whole.
    package let paths: [JSONPointer]

    package init(view: String? = nil, paths: [JSONPointer]) {
        self.view = view
        self.paths = paths
    }
}
