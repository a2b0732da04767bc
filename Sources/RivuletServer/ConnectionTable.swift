// Part of Rivulet. See README.md for the architecture.
// Owns what a loop knows of each of its connections.

import RivuletEventLoop
import RivuletHTTP

/// The connections of one loop, by their slots.
struct ConnectionTable {
    /// What an answer has to know of its request.
    struct RequestTraits {
        let version: HTTPVersion
        let method: MethodLabel
        var isKeepAlive: Bool
        /// What it said of the form of its answer; nil for what was no request.
        var headers: HTTPHeaders?
        /// Fields that its answer has beside its own, whatever it is.
        var fields: [HTTPField] = []
        /// The trace that it is a part of; nil: its client named none, and its log has needed none yet.
        var trace: TraceParent?
        /// When it was taken, in nanoseconds of the monotonic clock; 0: its log does not need that.
        var began: UInt64 = 0
        /// The constant lines of its answer; nil: those of an answer that no page of another origin may read. See `ConstantFields`.
        var constantFields: [UInt8]?

        var isHead: Bool { method == .head }
    }

    /// One open connection.
    struct Entry {
        /// Which of the connections of its slot it is.
        let generation: UInt32
        /// Where its client is, or the proxy in front of it.
        let address: PeerAddress.IP
        fileprivate var isOpen = true
        var http = HTTPConnection()
        /// The request whose answer is under way.
        var request: RequestTraits?
        /// When the current deadline passes, in milliseconds of the loop's clock; 0 for none.
        var due: UInt64 = 0
        /// The deadline that `due` belongs to.
        var armed: HTTPDeadline?
        /// Its place in the wheel of deadlines.
        var timer: TimerID?
        /// When it comes up there, in milliseconds of the loop's clock; `due` may be later by now.
        var timerDue: UInt64 = 0
        /// Whether the driver is in this connection's turn, so that an answer given at once does not start another.
        var isInTurn = false
        /// Whether it carries a stream: no further request will be handed out.
        var isStream = false
        /// Whether the stream that it asks for is to be compressed.
        var wantsGzip = false
        /// Whether that is to be told what it missed version by version.
        var resumesAll = false
        /// Whether the client takes its answers so slowly that its next request waits until the socket drains.
        var isCongested = false
        /// What waited for a congested client when it was looked at last.
        var unsentBytes = 0

        init(generation: UInt32, address: PeerAddress.IP) {
            self.generation = generation
            self.address = address
        }

        /// What stands in a slot without a connection.
        fileprivate static var closed: Entry {
            var entry = Entry(generation: 0, address: PeerAddress.IP(v4: 0))
            entry.isOpen = false
            return entry
        }

        /// A request is handed out; the deadline that it met is done with, also when the next one is of the same kind.
        mutating func begin(_ request: RequestTraits) {
            self.request = request
            resume()
        }

        /// The same for the request that is begun: its body is complete.
        mutating func resume() {
            isInTurn = true
            armed = nil
            due = 0
        }

        /// Sets the time that bounds the connection, when another one does than before.
        mutating func arm(now: UInt64, limits: HTTPLimits) {
            guard http.deadline != armed else { return }
            armed = http.deadline
            due = armed.map { now + limits.time(of: $0).milliseconds } ?? 0
        }
    }

    private var entries: [Entry] = []
    /// How many are open.
    private(set) var count = 0

    /// Adds a connection that has just been opened.
    mutating func open(_ id: ConnectionID, from address: PeerAddress.IP) {
        let slot = Int(id.slot)
        while entries.count <= slot { entries.append(.closed) }
        if !entries[slot].isOpen { count += 1 }
        entries[slot] = Entry(generation: id.generation, address: address)
    }

    /// Forgets a connection.
    mutating func close(_ id: ConnectionID) {
        guard isOpen(id) else { return }
        entries[Int(id.slot)] = .closed
        count -= 1
    }

    func isOpen(_ id: ConnectionID) -> Bool {
        let slot = Int(id.slot)
        return slot < entries.count && entries[slot].isOpen && entries[slot].generation == id.generation
    }

    /// Edits the entry in place; nil when the connection is gone.
    mutating func update<Result>(_ id: ConnectionID, _ body: (inout Entry) -> Result) -> Result? {
        guard isOpen(id) else { return nil }
        return body(&entries[Int(id.slot)])
    }

    /// All connections and their entries.
    func forEach(_ body: (ConnectionID, Entry) -> Void) {
        for (slot, entry) in entries.enumerated() where entry.isOpen {
            body(ConnectionID(slot: UInt32(slot), generation: entry.generation), entry)
        }
    }
}
