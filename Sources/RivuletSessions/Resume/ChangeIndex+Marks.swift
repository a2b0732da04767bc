// Owns what is kept of the changes of one path.

import RivuletObservation

extension ChangeIndex {
    /// When a path changed, and how.
    struct Marks: Sendable {
        /// An element came to its collection, or left it.
        struct Coming: Sendable {
            let position: Cursor.Position
            let isRemoval: Bool
        }

        /// The last move in a collection.
        struct Move: Sendable {
            let position: Cursor.Position
            let element: PathText
        }

        /// When its value was last written, as far as it does not come with the element's last coming.
        private(set) var written: Cursor.Position?
        /// The last comings and goings of an element, the oldest first: the first one that a reader missed tells whether it knows the element.
        private(set) var comings: [Coming] = []
        /// The last coming that is not known any more.
        private(set) var forgotten: Cursor.Position?
        private(set) var moved: Move?
        /// The newest of all.
        private(set) var latest = Self.never

        /// The most comings of one element; who has missed more gets its collection anew.
        private static let comingsMax = 4
        private static let never = Cursor.Position(version: 0, transients: 0)

        var isEmpty: Bool { written == nil && comings.isEmpty && moved == nil }

        /// What they take of memory besides their place, roughly.
        var bytes: Int { comings.count * 24 + (moved?.element.text.utf8.count ?? 0) }

        mutating func write(at position: Cursor.Position) {
            written = position
            moved = nil
            latest = max(latest, position)
        }

        /// Takes down that something within it changed, nobody knows what.
        mutating func fold(at position: Cursor.Position) {
            written = max(written ?? position, position)
            latest = max(latest, position)
        }

        mutating func note(_ move: Move) {
            moved = move
            latest = max(latest, move.position)
        }

        mutating func note(_ coming: Coming) {
            written = nil
            moved = nil
            comings.append(coming)
            if comings.count > Self.comingsMax { forgotten = comings.removeFirst().position }
            latest = max(latest, coming.position)
        }

        /// Adds what a reader missed who stands at a place.
        func append(after position: Cursor.Position, at path: PathText, to missed: inout [MissedChange]) {
            if let written, written > position { missed.append(MissedChange(.replace, path)) }
            if let moved, moved.position > position { missed.append(MissedChange(.move, moved.element)) }
            if let forgotten, forgotten > position {
                // Whether the reader knows the element is not known: the collection is given anew to those who watch it, and to others
                // the element.
                missed.append(MissedChange(.move, path))
                missed.append(MissedChange(.replace, path))
            } else if let first = comings.first(where: { $0.position > position }) {
                missed.append(MissedChange(first.isRemoval ? .remove : .add, path))
            }
        }
    }
}
