import RivuletAuth
import RivuletHTTP
import RivuletSessions

/// The facts about a request that its answer and its log line need.
struct RequestTraits {
    let version: HTTPVersion
    let method: MethodLabel
    var isKeepAlive: Bool
    /// The request's header fields; nil for a head that could not be read.
    var headers: HTTPHeaders?
    /// Fields that the answer has in addition to its own.
    var fields: [HTTPField] = []
    private var rare: Rare?

    init(version: HTTPVersion, method: MethodLabel, isKeepAlive: Bool, headers: HTTPHeaders? = nil) {
        (self.version, self.method, self.isKeepAlive, self.headers) = (version, method, isKeepAlive, headers)
    }

    /// The traits that few requests have, stored apart, so that copying the traits of a dispatch is cheap.
    private final class Rare {
        var trace: TraceParent?
        var began: UInt64 = 0
        var constantFields: [UInt8]?
        var identity: Identity?
        var bodyCharge: LimitCharge?
        var seat: StreamSeat?
        var opening: TicketOpening?
        var asked: StreamTopic?
        var forwarded: ForwardedFacts?
        var openedTicket: Result<PeerOpening, CredentialError>?

        /// Makes a copy, which belongs to one value of `RequestTraits`.
        init(_ other: Rare?) {
            (trace, began, constantFields) = (other?.trace, other?.began ?? 0, other?.constantFields)
            (identity, bodyCharge, seat) = (other?.identity, other?.bodyCharge, other?.seat)
            (opening, asked) = (other?.opening, other?.asked)
            (forwarded, openedTicket) = (other?.forwarded, other?.openedTicket)
        }
    }

    /// The trace that the request is a part of; nil if the client named none, and the log has not needed one yet.
    var trace: TraceParent? {
        get { rare?.trace }
        set { change { $0.trace = newValue } }
    }

    /// The time at which the request was taken, in nanoseconds of the monotonic clock; 0 if the log does not need it.
    var began: UInt64 {
        get { rare?.began ?? 0 }
        set { change { $0.began = newValue } }
    }

    /// The block of constant header lines in the answer, made by `ConstantFields`.
    ///
    /// A nil block means the default lines, with which no page of another origin may read the answer.
    var constantFields: [UInt8]? {
        get { rare?.constantFields }
        set { change { $0.constantFields = newValue } }
    }

    /// The caller of a request for a stream; nil for other requests, and on a server that asks for no credentials.
    var identity: Identity? {
        get { rare?.identity }
        set { change { $0.identity = newValue } }
    }

    /// The bytes of the body that were counted, and that are taken back if the request is refused.
    var bodyCharge: LimitCharge? {
        get { rare?.bodyCharge }
        set { change { $0.bodyCharge = newValue } }
    }

    /// The place of a stream that is about to begin, in the counts of its caller; nil without limits.
    var seat: StreamSeat? {
        get { rare?.seat }
        set { change { $0.seat = newValue } }
    }

    /// The ticket with which the request opens a stream.
    var opening: TicketOpening? {
        get { rare?.opening }
        set { change { $0.opening = newValue } }
    }

    /// The topic of a request for a stream of which the caller's permissions leave out a part; nil otherwise.
    var asked: StreamTopic? {
        get { rare?.asked }
        set { change { $0.asked = newValue } }
    }

    /// The facts of the node that took the request; nil if this node did.
    var forwarded: ForwardedFacts? {
        get { rare?.forwarded }
        set { change { $0.forwarded = newValue } }
    }

    /// The answer of the node that made the request's ticket; nil if no node was asked.
    var openedTicket: Result<PeerOpening, CredentialError>? {
        get { rare?.openedTicket }
        set { change { $0.openedTicket = newValue } }
    }

    private mutating func change(_ body: (Rare) -> Void) {
        let copy = Rare(rare)
        body(copy)
        rare = copy
    }

    var isHead: Bool { method == .head }
}
