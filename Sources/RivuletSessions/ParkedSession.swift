// Part of Rivulet. See README.md for the architecture.
// Owns what stays in memory of a session that is watched and otherwise idle.

/// The streams of a session that left memory, and where they stand.
///
/// It is parked only when storage gives back exactly the state that its streams have seen, so that the next residence may go on
/// under the name of this one: cursors stay good, and the next change continues every stream without a gap.
package struct ParkedSession {
    let epoch: String
    /// The name of its history in cursors.
    let visibleEpoch: String
    let residence: String
    let position: Cursor.Position
    /// Whether storage knows the session.
    let isStored: Bool
    /// The hash of the whole state as JSON, within this process.
    let stateHash: Int
    private(set) var groups: [GroupID: StreamGroup]
    private(set) var streamCount: Int

    init(
        epoch: String,
        visibleEpoch: String,
        residence: String,
        position: Cursor.Position,
        isStored: Bool,
        stateHash: Int,
        groups: [GroupID: StreamGroup],
        streamCount: Int
    ) {
        self.epoch = epoch
        self.visibleEpoch = visibleEpoch
        self.residence = residence
        self.position = position
        self.isStored = isStored
        self.stateHash = stateHash
        self.groups = groups
        self.streamCount = streamCount
    }

    /// Takes back one membership of that loop; false: nobody watches any more.
    mutating func leave(_ group: GroupID, loop: Int) -> Bool {
        if var members = groups[group] {
            members.remove(loop: loop)
            streamCount -= 1
            groups[group] = members.count > 0 ? members : nil
        }
        return !groups.isEmpty
    }

    /// Ends all streams.
    func end(with event: StreamEvent, sink: any StreamSink) {
        for (id, group) in groups { sink.end(id, with: event, loops: group.loops) }
    }
}
