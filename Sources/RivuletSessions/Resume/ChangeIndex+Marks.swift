// Owns the marks of one path's changes.

import RivuletObservation

extension ChangeIndex {
    /// The positions and kinds of a path's changes.
    struct Marks: Sendable {
        /// The insertion of an element into its collection, or its removal.
        struct Coming: Sendable {
            let position: Cursor.Position
            let isRemoval: Bool
        }

        /// The last move in a collection.
        struct Move: Sendable {
            let position: Cursor.Position
            let element: PathText
        }

        /// The position of the last write of the value after the element's last insertion or removal; nil if there was
        /// no such write.
        private(set) var written: Cursor.Position?
        /// The last insertions and removals of an element, oldest first.
        ///
        /// A reader has the element if the first of these changes that the reader missed is a removal.
        private(set) var comings: [Coming] = []
        /// The position of the last insertion or removal that is no longer in `comings`.
        private(set) var forgotten: Cursor.Position?
        private(set) var moved: Move?
        /// The newest position of all marks.
        private(set) var latest = Self.never

        /// The most insertions and removals of one element; a reader that missed more gets the element's whole
        /// collection.
        private static let comingsMax = 4
        private static let never = Cursor.Position(version: 0, transients: 0)

        var isEmpty: Bool { written == nil && comings.isEmpty && moved == nil }

        /// The approximate memory of the marks without their node, in bytes.
        var bytes: Int { comings.count * 24 + (moved?.element.text.utf8.count ?? 0) }

        mutating func write(at position: Cursor.Position) {
            written = position
            moved = nil
            latest = max(latest, position)
        }

        /// Records that a value within the path changed, without the path of that value.
        mutating func fold(at position: Cursor.Position) {
            written = max(written ?? position, position)
            latest = max(latest, position)
        }

        mutating func record(_ move: Move) {
            moved = move
            latest = max(latest, move.position)
        }

        mutating func record(_ coming: Coming) {
            written = nil
            moved = nil
            comings.append(coming)
            if comings.count > Self.comingsMax { forgotten = comings.removeFirst().position }
            latest = max(latest, coming.position)
        }

        /// Adds the changes that a reader at `position` missed.
        func append(after position: Cursor.Position, at path: PathText, to missed: inout [MissedChange]) {
            if let written, written > position { missed.append(MissedChange(.replace, path)) }
            if let moved, moved.position > position { missed.append(MissedChange(.move, moved.element)) }
            if let forgotten, forgotten > position {
                // It is unknown here if the reader has the element. Watchers of the collection get the whole
                // collection, and other watchers get the whole element.
                missed.append(MissedChange(.move, path))
                missed.append(MissedChange(.replace, path))
            } else if let first = comings.first(where: { $0.position > position }) {
                missed.append(MissedChange(first.isRemoval ? .remove : .add, path))
            }
        }
    }
}
