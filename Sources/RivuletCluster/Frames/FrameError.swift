/// The reason that the bytes of a frame or of an operation cannot be read.
package enum FrameError: Error, Hashable, Sendable {
    /// A newer build wrote the bytes, which are whole; the text says that this node has to be upgraded.
    case newer(String)
    /// The bytes were changed or cut.
    case damaged(String)
}

extension FrameError: CustomStringConvertible {
    /// The cause and the remedy.
    package var description: String {
        switch self {
        case .newer(let detail): "a newer build wrote the frame: \(detail); upgrade this node"
        case .damaged(let detail): "the frame is damaged: \(detail); compare the nodes with \"rivulet cluster check\""
        }
    }
}
