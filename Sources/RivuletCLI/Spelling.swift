/// The similarity of names.
enum Spelling {
    /// The most edits between a name and a misspelling of it.
    private static let editsMax = 2

    /// Returns the known name with the fewest edits from `name`; nil if none is near.
    ///
    /// A near name needs at most two edits. The number of edits is also less than half of the length of `name`.
    static func nearest(to name: String, among known: Set<String>) -> String? {
        let rated = known.sorted().map { (name: $0, edits: edits(Array(name.utf8), Array($0.utf8))) }
        guard let best = rated.min(by: { $0.edits < $1.edits }) else { return nil }
        return best.edits <= editsMax && best.edits * 2 < name.utf8.count ? best.name : nil
    }

    /// Returns the number of edits that turn one text into another: insertions, removals, replacements and swaps of
    /// neighbours.
    private static func edits(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var rows = [Array(0...second.count)]
        for (row, letter) in first.enumerated() {
            var next = [row + 1]
            for (column, other) in second.enumerated() {
                var least = min(
                    rows[row][column + 1] + 1,
                    next[column] + 1,
                    rows[row][column] + (letter == other ? 0 : 1)
                )
                if row > 0, column > 0, letter == second[column - 1], other == first[row - 1] {
                    least = min(least, rows[row - 1][column - 1] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[first.count][second.count]
    }
}
