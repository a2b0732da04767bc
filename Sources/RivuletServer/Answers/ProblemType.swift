import RivuletHTTP

/// A cause of refusals, which a problem document names as its `type`.
///
/// Each type has a page at its address, with the texts of `ProblemTable`. A raw value is a part of the contract.
/// Source: RFC 9457 section 3.1.1.
enum ProblemType: String, CaseIterable, Sendable {
    case malformedRequest = "malformed-request"
    case malformedBody = "malformed-body"
    case unexpectedBody = "unexpected-body"
    case invalidQuery = "invalid-query"
    case invalidKeyPath = "invalid-key-path"
    case invalidSessionID = "invalid-session-id"
    case invalidCondition = "invalid-condition"
    case invalidIdempotencyKey = "invalid-idempotency-key"
    case keyNotKept = "key-not-kept"
    case unexpectedState = "unexpected-state"
    case streamTooLarge = "stream-too-large"
    case credentialMisplaced = "credential-misplaced"
    case unauthorized
    case notGranted = "not-granted"
    case crossSite = "cross-site"
    case unknownCaller = "unknown-caller"
    case internalEvent = "internal-event"
    case notFound = "not-found"
    case appNotFound = "app-not-found"
    case sessionNotFound = "session-not-found"
    case valueNotFound = "value-not-found"
    case viewNotFound = "view-not-found"
    case versionNotFound = "version-not-found"
    case streamNotFound = "stream-not-found"
    case itemNotFound = "item-not-found"
    case methodNotAllowed = "method-not-allowed"
    case keyPathNotBound = "key-path-not-bound"
    case notAcceptable = "not-acceptable"
    case requestTimeout = "request-timeout"
    case sessionExists = "session-exists"
    case sessionBeingDeleted = "session-being-deleted"
    case keyInUse = "key-in-use"
    case streamWithoutPaths = "stream-without-paths"
    case versionGone = "version-gone"
    case pageGone = "page-gone"
    case preconditionFailed = "precondition-failed"
    case bodyTooLarge = "body-too-large"
    case answersTooLarge = "answers-too-large"
    case changeTooLarge = "change-too-large"
    case targetTooLong = "target-too-long"
    case unsupportedContentType = "unsupported-content-type"
    case unsupportedContentEncoding = "unsupported-content-encoding"
    case rangeNotSatisfiable = "range-not-satisfiable"
    case expectationFailed = "expectation-failed"
    case misdirectedRequest = "misdirected-request"
    case invalidBody = "invalid-body"
    case eventRejected = "event-rejected"
    case coercionRefused = "coercion-refused"
    case noJSONForm = "no-json-form"
    case loginRefused = "login-refused"
    case keyReused = "key-reused"
    case quotaExceeded = "quota-exceeded"
    case headTooLarge = "head-too-large"
    case appFailed = "app-failed"
    case sessionUnreadable = "session-unreadable"
    case storedValueUnreadable = "stored-value-unreadable"
    case keptAnswerUnreadable = "kept-answer-unreadable"
    case storageIndeterminate = "storage-indeterminate"
    case storageDamaged = "storage-damaged"
    case storageIncompatible = "storage-incompatible"
    case serverFault = "server-fault"
    case notImplemented = "not-implemented"
    case overloaded
    case serverStopping = "server-stopping"
    case storageUnavailable = "storage-unavailable"
    case secretsUnavailable = "secrets-unavailable"
    case notReady = "not-ready"
    case ownerUnavailable = "owner-unavailable"
    case outcomeUnknown = "outcome-unknown"
    case nodeHalted = "node-halted"
    case httpVersionNotSupported = "http-version-not-supported"
    case stateFull = "state-full"
    case diskFull = "disk-full"
    case memoryFull = "memory-full"
    case storeFull = "store-full"
    case revocationsFull = "revocations-full"
    case quota

    /// The status of the answer.
    var status: Int {
        switch self {
        case .malformedRequest, .malformedBody, .unexpectedBody, .invalidQuery, .invalidKeyPath, .invalidSessionID,
            .invalidCondition, .invalidIdempotencyKey, .keyNotKept, .unexpectedState, .streamTooLarge,
            .credentialMisplaced:
            400
        case .unauthorized: 401
        case .notGranted, .crossSite, .unknownCaller, .internalEvent: 403
        case .notFound, .appNotFound, .sessionNotFound, .valueNotFound, .viewNotFound, .versionNotFound,
            .streamNotFound, .itemNotFound:
            404
        case .methodNotAllowed, .keyPathNotBound: 405
        case .notAcceptable: 406
        case .requestTimeout: 408
        case .sessionExists, .sessionBeingDeleted, .keyInUse, .streamWithoutPaths: 409
        case .versionGone, .pageGone: 410
        case .preconditionFailed: 412
        case .bodyTooLarge, .answersTooLarge, .changeTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedContentType, .unsupportedContentEncoding: 415
        case .rangeNotSatisfiable: 416
        case .expectationFailed: 417
        case .misdirectedRequest: 421
        case .invalidBody, .eventRejected, .coercionRefused, .noJSONForm, .loginRefused, .keyReused: 422
        case .quotaExceeded: 429
        case .headTooLarge: 431
        case .appFailed, .sessionUnreadable, .storedValueUnreadable, .keptAnswerUnreadable, .storageIndeterminate,
            .storageDamaged, .storageIncompatible, .serverFault:
            500
        case .notImplemented: 501
        case .overloaded, .serverStopping, .storageUnavailable, .secretsUnavailable, .notReady, .ownerUnavailable,
            .outcomeUnknown, .nodeHalted:
            503
        case .httpVersionNotSupported: 505
        case .stateFull, .diskFull, .memoryFull, .storeFull, .revocationsFull, .quota: 507
        }
    }

    /// The `type` of a problem document, resolved against the address of the request.
    ///
    /// Source: <https://www.iana.org/assignments/http-problem-types>.
    var address: String {
        self == .quotaExceeded ? "https://iana.org/assignments/http-problem-types#quota-exceeded" : page
    }

    /// The path of the page about the type.
    var page: String { "/problems/\(rawValue)" }

    /// The type of a request that could not be read.
    init(_ kind: HTTPError.Kind) {
        self =
            switch kind {
            case .badRequest: .malformedRequest
            case .requestTimeout: .requestTimeout
            case .contentTooLarge: .bodyTooLarge
            case .uriTooLong: .targetTooLong
            case .expectationFailed: .expectationFailed
            case .requestHeaderFieldsTooLarge: .headTooLarge
            case .notImplemented: .notImplemented
            case .httpVersionNotSupported: .httpVersionNotSupported
            }
    }
}
