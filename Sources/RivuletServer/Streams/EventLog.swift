import DequeModule

/// The last events of one group on one loop, numbered without gaps.
///
/// The events of one turn are one entry, so that each subscriber gets them in one write.
/// In a group of compressed streams an entry has two forms. The chained form is for subscribers whose last bytes are
/// the previous entry, the independent form for other subscribers.
struct EventLog {
    private struct Entry {
        /// The form for subscribers whose last bytes are the previous entry.
        let chained: StreamBlock
        /// The form for other subscribers; a compressed group makes it when it is needed.
        var independent: StreamBlock?
        let text: StreamBlock
        /// The cursor of a subscriber that has this entry.
        let cursor: String
        /// The tally of the group's text up to the end of this entry; empty in a group that is not compressed.
        let tally: GzipTally
        /// The number of events in the entry.
        let eventCount: Int
    }

    private let isCompressed: Bool
    private var entries: Deque<Entry> = []
    /// The number of the first entry.
    private(set) var start: UInt64 = 0
    /// The cursor just before the first entry.
    private var startCursor: String
    private var startTally = GzipTally()
    /// The text of the entry that was made last, even if that entry was dropped.
    private var lastText: StreamBlock?
    /// The events of this turn, which are no entry yet.
    private var open: [StreamBlock] = []
    private var openCursor: String?
    /// The bytes of all entries' texts, without framing.
    private(set) var byteCount = 0

    /// Makes an empty log for a group that is at this cursor.
    init(at cursor: String, isCompressed: Bool) {
        startCursor = cursor
        self.isCompressed = isCompressed
    }

    /// The number of the next entry.
    var end: UInt64 { start + UInt64(entries.count) }

    /// Adds an event of this turn.
    mutating func append(_ block: StreamBlock, cursor: String) {
        open.append(block)
        openCursor = cursor
    }

    /// Makes one entry from the events of this turn.
    mutating func close(_ coder: StreamCoder) {
        guard let cursor = openCursor else { return }
        let eventCount = open.count
        let text = open.count == 1 ? open[0] : coder.joined(open)
        open.removeAll(keepingCapacity: true)
        openCursor = nil
        var tally = entries.last?.tally ?? startTally
        var chained: StreamBlock?
        if isCompressed {
            tally.append(text.withContent { GzipTally($0) })
            chained = lastText.map { coder.chained(text, after: $0) }
            lastText = text
        }
        let independent = isCompressed ? (chained == nil ? coder.independent(text) : nil) : text
        guard let sent = chained ?? independent else { return }
        let entry = Entry(
            chained: sent,
            independent: independent,
            text: text,
            cursor: cursor,
            tally: tally,
            eventCount: eventCount
        )
        entries.append(entry)
        byteCount += entry.text.count
    }

    /// Returns the last entry, in the chained form or in the independent form.
    mutating func last(isChained: Bool, _ coder: StreamCoder) -> StreamBlock? {
        entries.isEmpty ? nil : form(of: entries.count - 1, isChained: isChained, coder)
    }

    /// Returns the entries from that number on; `isChained` chooses the form of the first entry.
    mutating func blocks(from number: UInt64, isChained: Bool, _ coder: StreamCoder) -> [StreamBlock] {
        let first = index(of: number)
        guard first < entries.count else { return [] }
        let beginning = form(of: first, isChained: isChained, coder)
        return [beginning] + entries[(first + 1)...].map(\.chained)
    }

    private mutating func form(of index: Int, isChained: Bool, _ coder: StreamCoder) -> StreamBlock {
        if isChained { return entries[index].chained }
        if let independent = entries[index].independent { return independent }
        let independent = coder.independent(entries[index].text)
        entries[index].independent = independent
        return independent
    }

    /// Returns the smallest entry number for which that entry and all later entries together have at most `bytesMax`
    /// bytes.
    func number(ofLast bytesMax: Int) -> UInt64 {
        var (number, count) = (end, 0)
        for entry in entries.reversed() {
            count += entry.text.count
            guard count <= bytesMax else { break }
            number -= 1
        }
        return number
    }

    /// The number of events in the entries from that number on.
    func eventCount(from number: UInt64) -> Int { entries[index(of: number)...].reduce(0) { $0 + $1.eventCount } }

    /// The cursor just before the entry with that number.
    func cursor(before number: UInt64) -> String {
        let index = index(of: number)
        return index == 0 ? startCursor : entries[index - 1].cursor
    }

    /// The tally of the group's text before the entry with that number.
    func tally(before number: UInt64) -> GzipTally {
        let index = index(of: number)
        return index == 0 ? startTally : entries[index - 1].tally
    }

    /// Drops the entries before that number.
    mutating func drop(before number: UInt64) {
        while start < number, let entry = entries.popFirst() {
            start += 1
            byteCount -= entry.text.count
            startCursor = entry.cursor
            startTally = entry.tally
        }
    }

    private func index(of number: UInt64) -> Int { number > start ? min(Int(number - start), entries.count) : 0 }
}
