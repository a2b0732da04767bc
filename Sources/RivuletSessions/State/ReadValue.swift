/// The JSON of a large value of the state, shared by several reads.
package final class ReadValue: Sendable {
    package let json: [UInt8]
    /// The cache for the answer's body, which all answers share.
    package let form = SharedForm()

    /// True if later reads share the value too; false if only the reads that waited for it share it.
    package let isKept: Bool

    init(_ json: [UInt8], isKept: Bool) {
        self.json = json
        self.isKept = isKept
    }
}

/// The large values of one session that were read recently.
struct SharedReads {
    /// The time for which a value is kept.
    static let ageMax = Duration.seconds(1)
    /// A value below this size is written for each reader.
    static let bytesMin = 65_536
    /// The most bytes of all kept values: 24 MiB.
    ///
    /// A value of the default `stateBytesMax` bytes fits.
    private static let bytesMax = 25_165_824

    private var reads = RecentTexts<PathText, (value: ReadValue, cursor: Cursor)>(
        RecentTexts.Limits(ageMax: ageMax, bytesMin: bytesMin, countMax: 4, bytesMax: bytesMax)
    )

    /// The memory of the values, in bytes.
    var bytes: Int { reads.bytes }

    var isEmpty: Bool { reads.isEmpty }

    /// Returns the kept value at a path; nil if there is none, or if it was read at another cursor.
    func value(at path: PathText, _ cursor: Cursor, now: Duration) -> ReadValue? {
        guard let read = reads.text(path, now: now), read.cursor == cursor else { return nil }
        return read.value
    }

    /// Keeps a value; returns nil if the value is below `bytesMin`, or if there is no room for another value.
    mutating func keep(_ json: [UInt8], at path: PathText, _ cursor: Cursor, now: Duration) -> ReadValue? {
        let value = ReadValue(json, isKept: true)
        return reads.keep((value, cursor), bytes: json.count, as: path, now: now) ? value : nil
    }

    /// Drops the values that are too old.
    ///
    /// - Returns: The time until the next value is too old; nil if none is left.
    mutating func expire(now: Duration) -> Duration? { reads.expire(now: now) }
}
