import RivuletBase
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// One set of labels of a count; all possible sets are known when the server starts.
protocol MetricLabels: Sendable {
    static var all: [Self] { get }
    /// The index in `all`.
    var index: Int { get }
    var dimensions: [(String, String)] { get }
}

/// A label with the cases of an enumeration as its values, in the snake case of their names.
protocol MetricLabel: MetricLabels, CaseIterable, RawRepresentable where RawValue == Int {
    static var name: String { get }
    /// The number of cases; stored, because counting them makes an array of them.
    static var count: Int { get }
    /// The label's value.
    var value: String { get }
}

extension MetricLabel {
    static var all: [Self] { Array(allCases) }
    var index: Int { rawValue }

    var value: String {
        "\(self)".reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
    }

    var dimensions: [(String, String)] { [(Self.name, value)] }
}

/// Two labels.
struct LabelPair<First: MetricLabel, Second: MetricLabel>: MetricLabels {
    let first: First
    let second: Second

    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    static var all: [Self] { First.all.flatMap { first in Second.all.map { Self(first, $0) } } }
    var index: Int { first.index * Second.count + second.index }
    var dimensions: [(String, String)] { first.dimensions + second.dimensions }
}

/// A request's method; TRACE and unknown methods are `other`.
enum MethodLabel: Int, MetricLabel {
    case get, head, post, put, patch, delete, options, other

    static let name = "method"
    static let count = allCases.count

    init(_ method: HTTPMethod) {
        self =
            switch method {
            case .get: .get
            case .head: .head
            case .post: .post
            case .put: .put
            case .patch: .patch
            case .delete: .delete
            case .options: .options
            case .trace, .other: .other
            }
    }
}

/// The first digit of a status.
enum StatusClass: Int, MetricLabel {
    case informational, success, redirection, clientError, serverError

    static let name = "status"
    static let count = allCases.count

    init(_ status: HTTPStatus) { self = StatusClass(rawValue: Int(status.code) / 100 - 1) ?? .serverError }

    var value: String { "\(rawValue + 1)xx" }
}

/// The status of an answer with a problem document.
struct ProblemStatus: MetricLabels {
    /// The statuses that the server sends; any other status is `other`.
    private static let codes = [
        400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 414, 415, 416, 417, 421, 422, 429, 431, 500, 501, 503,
        505,
        507,
    ]

    let index: Int

    private init(index: Int) {
        self.index = index
    }

    init(_ status: HTTPStatus) {
        index = Self.codes.firstIndex(of: Int(status.code)) ?? Self.codes.count
    }

    static var all: [ProblemStatus] { (0...codes.count).map { ProblemStatus(index: $0) } }
    var dimensions: [(String, String)] { [("status", index < Self.codes.count ? "\(Self.codes[index])" : "other")] }
}

/// The reason that a connection was refused.
enum ConnectionRefusalReason: Int, MetricLabel {
    /// The limit of open connections is reached.
    case limit
    /// The system had no descriptor or no memory for it.
    case system
    /// It does not begin with the PROXY header of a trusted proxy.
    case proxyHeader

    static let name = "cause"
    static let count = allCases.count

    init(_ error: AcceptError) {
        self =
            switch error {
            case .connectionLimit: .limit
            case .failed: .system
            }
    }
}

/// The reason that a request was refused before its body was read to the end.
enum RequestRefusalReason: Int, MetricLabel {
    /// It names a host for which the server does not answer.
    case host
    /// A page of another site sent it, and the server does not allow the page's origin.
    case crossSite
    /// It has the content type of an HTML form, on a resource that needs no body.
    case contentType
    /// A page of another site asks for `me`, and has no cookie that names a caller.
    case caller
    /// Its path names no resource.
    case route
    /// The resource does not have its method.
    case method
    /// It has a body on a resource that takes none, a body that is too large or encoded, or an idempotency key on a
    /// resource without idempotency records.
    case body
    /// There was no memory for its body in time.
    case bodyRoom
    /// Its body made no progress while others waited for memory.
    case bodyStalled

    static let name = "cause"
    static let count = allCases.count

    /// The log line about the first such request; nil if the answer to the client is enough.
    var explanation: String? {
        switch self {
        case .host:
            "A request for an unknown host was refused. If clients know this server by another name, list it in --allowed-hosts."
        case .crossSite:
            "A request from a page of another origin was refused. If the page is yours, list its origin in --allowed-origins."
        case .caller:
            "A page of another site asked for the session me without its cookie, and was refused. Documentation/Security.md has the remedy."
        default: nil
        }
    }
}

/// The result of looking at a request's credential, or of deciding about its permissions.
enum AuthenticationResult: Int, MetricLabel {
    /// The credential is valid.
    case ok
    /// The request has no credential.
    case anonymous
    /// The request has no credential, and its resource needs one.
    case missing
    /// The credential is not valid.
    case refused
    /// The credential does not grant the request.
    case denied
    /// The credential was not verified, because too many credentials of its address were refused.
    case limited

    static let name = "result"
    static let count = allCases.count
}

/// The outcome of a dispatch.
enum DispatchOutcome: Int, MetricLabel {
    case accepted
    /// The first answer was sent again.
    case replayed
    /// The reducer rejected the event.
    case rejected
    /// The body does not decode, an event is internal, or wrappers would have changed values of a strict request.
    case invalid
    /// A condition or an idempotency key does not allow it.
    case conflict
    case notFound
    /// A queue or a memory limit is full.
    case overloaded
    /// Storage cannot write, or the server is stopping.
    case unavailable
    /// An error of the app or of storage.
    case failed

    static let name = "outcome"
    static let count = allCases.count

    init(_ error: SessionError) {
        self =
            switch error {
            case .rejected, .rejectedInArray, .denied: .rejected
            case .body, .internalEvent, .notGranted, .coerced, .unrepresentableNumber: .invalid
            case .precondition, .keyUnderWay, .keyReused, .exists, .deleting: .conflict
            case .notFound, .noValue, .noView, .noElement, .noVersion, .versionGone: .notFound
            case .overloaded, .keysFull, .stateFull: .overloaded
            case .draining, .notServing, .storage(.unavailable), .storage(.closed): .unavailable
            case .storage(.full), .storage(.memoryFull): .unavailable
            case .storage(.tooLarge), .storage(.quota): .overloaded
            case .storage(.indeterminate), .storage(.corrupt), .storage(.incompatible): .failed
            case .reducerFailed, .unreadable: .failed
            }
    }
}

/// The durability of a dispatch: `durable` if its change was on disk before its answer, and `none` if it was not
/// accepted.
enum DispatchDurability: Int, MetricLabel {
    case durable, transient, none

    static let name = "durability"
    static let count = allCases.count

    init(isDurable: Bool) { self = isDurable ? .durable : .transient }
}

/// The kind of a stream's source.
enum StreamKind: Int, MetricLabel {
    case session, view, store, value

    static let name = "kind"
    static let count = allCases.count

    init(_ source: StreamSource) {
        self =
            switch source {
            case .session(_, let topic): topic.view == nil ? .session : .view
            case .shared(let shared): shared.kind == .store ? .store : .value
            }
    }
}

/// The cause of a stream's end: the reason of its `bye`, or `peer` if the client closed first.
struct StreamEnd: MetricLabel {
    private static let reasons = StreamEvent.ByeReason.allCases

    static let allCases = (0..<count).map(StreamEnd.init(index:))
    static let peer = StreamEnd(index: reasons.count)
    static let name = "reason"
    static let count = reasons.count + 1

    let rawValue: Int

    private init(index: Int) { rawValue = index }

    init?(rawValue: Int) {
        guard (0..<Self.count).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    init(_ reason: StreamEvent.ByeReason) { self.init(index: Self.reasons.firstIndex(of: reason) ?? 0) }

    var value: String { self == .peer ? "peer" : Self.reasons[rawValue].rawValue }
}

/// The cause for which a stream did not begin: the reason of the `bye` that was its only event.
enum StreamTurnedAway: Int, MetricLabel {
    case limit, draining, unavailable, revoked, expired

    static let name = "reason"
    static let count = allCases.count

    var value: String { bye.rawValue }

    var bye: StreamEvent.ByeReason {
        switch self {
        case .limit: .limit
        case .draining: .draining
        case .unavailable: .unavailable
        case .revoked: .revoked
        case .expired: .expired
        }
    }
}

/// The way in which a stream begins.
struct StreamStart: MetricLabel {
    private static let reasons = ResetReason.allCases
    private static let others = ["fresh", "merged", "all"]

    /// The client sent no cursor, and the stream begins with a snapshot.
    static let fresh = StreamStart(index: 0)
    /// The stream resumes at the client's cursor, with one change for everything that was missed, or with nothing.
    static let merged = StreamStart(index: 1)
    /// The stream resumes at the client's cursor, with every version that was missed.
    static let all = StreamStart(index: 2)

    static let allCases = (0..<count).map(StreamStart.init(index:))
    static let name = "way"
    static let count = others.count + reasons.count

    let rawValue: Int

    private init(index: Int) { rawValue = index }

    init?(rawValue: Int) {
        guard (0..<Self.count).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The stream begins with a `reset` for this reason.
    init(_ reason: ResetReason) { self.init(index: Self.others.count + (Self.reasons.firstIndex(of: reason) ?? 0)) }

    /// The way in which a stream of a store or a value begins.
    init(_ start: SharedStart) {
        switch start {
        case .fresh: self = .fresh
        case .after: self = .merged
        case .lost(let reason): self.init(reason)
        }
    }

    var value: String {
        guard rawValue >= Self.others.count else { return Self.others[rawValue] }
        return "reset_" + Self.reasons[rawValue - Self.others.count].rawValue.replacing("-", with: "_")
    }
}

/// The outcome of an append to storage.
enum StorageOutcome: Int, MetricLabel {
    case committed
    /// The session's log does not end at the version that the writer expected.
    case conflict
    /// Nothing was written.
    case refused
    /// It may have been written.
    case indeterminate

    static let name = "outcome"
    static let count = allCases.count

    init(_ result: Result<AppendOutcome, StorageError>) {
        self =
            switch result {
            case .success(.committed): .committed
            case .success(.conflict): .conflict
            case .failure(.indeterminate): .indeterminate
            case .failure: .refused
            }
    }
}

/// The kind of an eviction from memory.
enum EvictionKind: Int, MetricLabel {
    /// No stream follows the session.
    case idle
    /// Streams follow the session, and stay open.
    case watched

    static let name = "kind"
    static let count = allCases.count
}
