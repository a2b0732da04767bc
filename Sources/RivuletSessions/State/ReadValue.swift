/// A large value of the state as JSON, which all reads within a second share.
package final class ReadValue: Sendable {
    package let json: [UInt8]
    /// The body of the answers.
    package let form = SharedForm()

    init(_ json: [UInt8]) { self.json = json }
}

/// The large values of one session that were read lately.
struct SharedReads {
    /// The time for which a value is kept.
    static let ageMax = Duration.seconds(1)
    /// A value below this size is written for each reader: that costs less than keeping it.
    static let bytesMin = 65_536
    /// The most values that are kept.
    static let countMax = 4
    /// The most bytes of them: one value of the largest state, at least.
    static let bytesMax = 25_165_824

    private struct Read {
        let value: ReadValue
        let cursor: Cursor
        let due: Duration
    }

    private var reads: [PathText: Read] = [:]
    /// The memory of the values, in bytes.
    private(set) var bytes = 0

    var isEmpty: Bool { reads.isEmpty }

    /// The value at a path, if it was read at that cursor.
    func value(at path: PathText, _ cursor: Cursor) -> ReadValue? {
        guard let read = reads[path], read.cursor == cursor else { return nil }
        return read.value
    }

    /// Keeps a value; nil when it is too small, or the others are too many or too large.
    mutating func keep(_ json: [UInt8], at path: PathText, _ cursor: Cursor, now: Duration) -> ReadValue? {
        guard json.count >= Self.bytesMin else { return nil }
        remove(path)
        guard reads.count < Self.countMax, bytes + json.count <= Self.bytesMax else { return nil }
        let value = ReadValue(json)
        reads[path] = Read(value: value, cursor: cursor, due: now + Self.ageMax)
        bytes += json.count
        return value
    }

    /// Forgets the values that are too old.
    ///
    /// - Returns: How long the next one is kept from now on; nil when none is left.
    mutating func expire(now: Duration) -> Duration? {
        for (path, read) in reads where read.due <= now { remove(path) }
        return reads.values.lazy.map(\.due).min().map { $0 - now }
    }

    private mutating func remove(_ path: PathText) {
        if let read = reads.removeValue(forKey: path) { bytes -= read.value.json.count }
    }
}
