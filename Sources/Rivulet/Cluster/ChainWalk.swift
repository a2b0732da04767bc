package import RivuletCluster

/// The check of a whole log: each frame follows the one before.
package struct ChainWalk: Sendable {
    private let cluster: String
    /// The frame before the next one; nil before the first.
    private var link: FrameLink?
    /// The place of the last message.
    package private(set) var position = LogPosition.start
    /// The first message's link to the message before it.
    package private(set) var beginning: FrameLink?
    package private(set) var firstPosition = LogPosition.start
    package private(set) var frameCount = 0
    package private(set) var byteCount = 0
    package private(set) var operationCount = 0
    /// The links of the base's place, if the walk has passed it.
    private var basePosition: LogPosition?
    private var linkAtBase: FrameLink?

    /// Begins a walk; `base` is the place of the newest base.
    package init(cluster: String, base: LogPosition?) { (self.cluster, basePosition) = (cluster, base) }

    /// Takes the next message; returns the fault that it shows, or nil.
    package mutating func take(_ message: LoggedMessage) -> String? {
        let place = "the message \(message.position.rawValue)"
        if frameCount > 0, let previous = message.previous, previous != position {
            return "\(place) follows the message \(previous.rawValue), which the log has lost"
        }
        let frame: Frame
        do { frame = try FrameCodec.decode(message.bytes) } catch { return "\(place) is no frame: \(error)" }
        guard frame.cluster == cluster else { return "\(place) is of another cluster, \(frame.cluster)" }
        if let link, frame.previous != link {
            return "\(place) (frame \(frame.number), term \(frame.term)) does not follow the frame \(link.number)"
        }
        if frameCount == 0 { (beginning, firstPosition) = (frame.previous, message.position) }
        if let basePosition, message.position > basePosition, linkAtBase == nil { linkAtBase = frame.previous }
        link = FrameLink(number: frame.number, term: frame.term, hash: FrameCodec.hash(of: message.bytes))
        position = message.position
        (frameCount, byteCount) = (frameCount + 1, byteCount + message.bytes.count)
        operationCount += frame.operations.count
        return nil
    }

    /// Compares the walk with the newest base; returns the fault, or nil.
    ///
    /// A log that does not begin with the first frame needs a base at its beginning or behind it.
    package func fault(of base: ReplicaPosition?) -> String? {
        guard let beginning else { return base == nil ? nil : "the log is empty, and there is a base" }
        guard let base else {
            return beginning.number == 0
                ? nil : "the log begins with the frame \(beginning.number + 1), and there is no base before it"
        }
        guard base.link.number >= beginning.number else {
            return "the log begins with the frame \(beginning.number + 1), and the base ends with \(base.link.number)"
        }
        let expected = linkAtBase ?? (base.position >= position ? link : nil)
        guard let expected else { return nil }
        return expected == base.link ? nil : "the base at \(base.position.rawValue) is not of this log's frames"
    }
}
