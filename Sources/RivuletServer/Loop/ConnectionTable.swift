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
        private var rare: Rare?

        init(version: HTTPVersion, method: MethodLabel, isKeepAlive: Bool, headers: HTTPHeaders? = nil) {
            (self.version, self.method, self.isKeepAlive, self.headers) = (version, method, isKeepAlive, headers)
        }

        /// The traits that few requests have, apart, so that the traits of a dispatch are copied at little cost.
        private final class Rare {
            var trace: TraceParent?
            var began: UInt64 = 0
            var constantFields: [UInt8]?

            /// A copy, which belongs to one value of `RequestTraits`.
            init(_ other: Rare?) {
                (trace, began, constantFields) = (other?.trace, other?.began ?? 0, other?.constantFields)
            }
        }

        /// The trace that the request is a part of; nil: its client named none, and its log has needed none yet.
        var trace: TraceParent? {
            get { rare?.trace }
            set { change { $0.trace = newValue } }
        }

        /// When the request was taken, in nanoseconds of the monotonic clock; 0: its log does not need that.
        var began: UInt64 {
            get { rare?.began ?? 0 }
            set { change { $0.began = newValue } }
        }

        /// The constant lines of the answer, of `ConstantFields`; nil: those of an answer that no page of another origin may read.
        var constantFields: [UInt8]? {
            get { rare?.constantFields }
            set { change { $0.constantFields = newValue } }
        }

        private mutating func change(_ body: (Rare) -> Void) {
            let copy = Rare(rare)
            body(copy)
            rare = copy
        }

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
        mutating func begin(_ request: consuming RequestTraits) {
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

    /// Begins a request; false when one is under way, or the connection is gone.
    mutating func begin(_ id: ConnectionID, _ request: consuming RequestTraits) -> Bool {
        guard isOpen(id), entries[Int(id.slot)].request == nil else { return false }
        entries[Int(id.slot)].begin(request)
        return true
    }

    /// Ends the request under way, and returns its traits; nil when there is none.
    mutating func takeRequest(_ id: ConnectionID) -> RequestTraits? {
        guard isOpen(id) else { return nil }
        return entries[Int(id.slot)].request.take()
    }

    /// All connections and their entries.
    func forEach(_ body: (ConnectionID, Entry) -> Void) {
        for (slot, entry) in entries.enumerated() where entry.isOpen {
            body(ConnectionID(slot: UInt32(slot), generation: entry.generation), entry)
        }
    }
}
