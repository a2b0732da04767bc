import DequeModule

/// The last events of one group on one loop, numbered without gaps.
///
/// What comes within a turn is one entry, so that it is one write to each subscriber. In a group of compressed streams an entry has two forms: for those
/// whose last bytes are the entry before, and for others.
struct EventLog {
    private struct Entry {
        /// As it is sent to those who were sent the entry before last.
        let chained: StreamBlock
        /// As it is sent to others; in a compressed group made when it is needed.
        var independent: StreamBlock?
        let text: StreamBlock
        /// Where one stands who has it.
        let cursor: String
        /// What this group has sent up to its end; in a group that is not compressed nothing.
        let tally: GzipTally
        /// How many events it has.
        let eventCount: Int
    }

    private let isCompressed: Bool
    private var entries: Deque<Entry> = []
    /// The number of the first entry.
    private(set) var start: UInt64 = 0
    /// Where one stands who has nothing of the entries, but all before.
    private var startCursor: String
    private var startTally = GzipTally()
    /// The entry that was made last, also when it is gone from here.
    private var lastText: StreamBlock?
    /// What came in this turn.
    private var open: [StreamBlock] = []
    private var openCursor: String?
    /// The bytes of all entries' texts, without framing.
    private(set) var byteCount = 0

    /// An empty log, of a group that stands at a cursor.
    init(at cursor: String, isCompressed: Bool) {
        startCursor = cursor
        self.isCompressed = isCompressed
    }

    /// The number of the next entry.
    var end: UInt64 { start + UInt64(entries.count) }

    /// Notes an event of this turn.
    mutating func append(_ block: StreamBlock, cursor: String) {
        open.append(block)
        openCursor = cursor
    }

    /// Makes one entry of what came in this turn.
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

    /// The last entry, for those who were sent the one before last, or for others.
    mutating func last(isChained: Bool, _ coder: StreamCoder) -> StreamBlock? {
        entries.isEmpty ? nil : form(of: entries.count - 1, isChained: isChained, coder)
    }

    /// The entries from that number on, for a subscriber that was sent the one before last, or for another.
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

    /// The number from which on the entries have no more bytes than that.
    func number(ofLast bytesMax: Int) -> UInt64 {
        var (number, count) = (end, 0)
        for entry in entries.reversed() {
            count += entry.text.count
            guard count <= bytesMax else { break }
            number -= 1
        }
        return number
    }

    /// How many events the entries from that number on have.
    func eventCount(from number: UInt64) -> Int { entries[index(of: number)...].reduce(0) { $0 + $1.eventCount } }

    /// Where one stands whose next entry has that number.
    func cursor(before number: UInt64) -> String {
        let index = index(of: number)
        return index == 0 ? startCursor : entries[index - 1].cursor
    }

    /// What the group had sent before the entry with that number.
    func tally(before number: UInt64) -> GzipTally {
        let index = index(of: number)
        return index == 0 ? startTally : entries[index - 1].tally
    }

    /// Lets go of the entries before that number.
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
