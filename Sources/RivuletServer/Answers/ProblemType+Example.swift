import RivuletAccess
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletObservation
import RivuletSessions
import RivuletStores

extension ProblemType {
    /// A document of the type, as a server with the default limits sends it.
    var example: JSONValue {
        var problem = exampleProblem
        if problem.hasHiddenCause {
            problem.members.append(("trace_id", JSONValue.string("4bf92f3577b34da6a3ce929d0e0e4736").json))
        }
        return (try? JSONValue(parsing: problem.json)) ?? .null
    }

    /// The problem of the example.
    ///
    /// It is made from an error if possible, so that it has the text and the members of a real answer.
    private var exampleProblem: Problem {
        let key = SessionKey(app: "counter", id: "a")
        let limits = ServerLimits()
        let refused = RejectedEventError(
            index: 1,
            eventName: "rename",
            rejection: RejectionError("title must not be empty")
        )
        return switch self {
        case .malformedRequest: Problem(self, "an HTTP/1.1 request must have a Host header")
        case .malformedBody:
            Problem(JSONError(kind: .malformed, offset: 12, pointer: "/setCount", detail: "expected a value"))
        case .unexpectedBody: Problem(self, "GET takes no body here; send none. Nothing has changed")
        case .invalidQuery: Problem(self, "unknown query parameter \"limt\"; this resource knows: after, limit")
        case .invalidKeyPath:
            Problem(
                self,
                "the state of app \"todos\" cannot have the key path \"/p/titel\"; GET /v1/apps/todos shows its fields"
            )
        case .invalidSessionID: Problem(self, "a session id is 1 to 128 letters, digits, \"_\" or \"-\"; found \"a b\"")
        case .invalidCondition:
            Problem(
                self,
                "If-Match takes a cursor in quotes, as an answer's ETag has it; found k3v9x0qa.7"
            )
        case .invalidIdempotencyKey:
            Problem(
                self,
                "an Idempotency-Key is one string of 1 to 255 printable ASCII characters in quotes, as \"8e03978e-40d5\""
            )
        case .keyNotKept:
            Problem(
                self,
                "this resource has no idempotency records; send no Idempotency-Key. Nothing has changed"
            )
        case .unexpectedState:
            Problem(
                self,
                "a fork begins with the other session's state; leave \"state\" out, or create a session"
            )
        case .streamTooLarge:
            Problem(
                self,
                "these paths have 90000000 bytes; a stream is sent at most \(LoopLimits().unsentBytesMax) at once: watch fewer"
            )
        case .credentialMisplaced:
            .credentialMisplaced("The request has two Authorization headers; send one. Nothing has changed.")
        case .unauthorized: .credentialRefused(because: nil)
        case .notGranted: Problem(.notGranted(event: "reset", index: 0))
        case .crossSite:
            Problem(
                self,
                "Requests from pages of other sites are refused. If pages of https://shop.example may use this server, start it with --allowed-origins https://shop.example (RIVULET_ALLOWED_ORIGINS). Nothing has changed."
            )
        case .unknownCaller:
            Problem(
                self,
                "The session \"me\" is not served to origins that are allowed by \"*\" alone. Start the server with --allowed-origins for the page's own origin, or name a session by its id. Nothing has changed."
            )
        case .internalEvent: Problem(.internalEvent(name: "close", index: nil))
        case .notFound: Problem(self, "there is no resource \"/v1/ap\"")
        case .appNotFound: Problem(self, "there is no app \"todo\"; this server hosts: counter, notes, todos")
        case .sessionNotFound: Problem(.notFound(key))
        case .valueNotFound: Problem(.noElement("/p/todos/7"))
        case .viewNotFound: Problem(self, "app \"counter\" has no view \"list\"; it has CounterView")
        case .versionNotFound: Problem(.noVersion(9, current: 7))
        case .streamNotFound:
            Problem(
                self,
                "there is no such stream; it has ended, or its client has reconnected, which makes another stream"
            )
        case .itemNotFound: Problem(.noItem("a"), epoch: "")
        case .methodNotAllowed: Problem(self, "POST is not a method of this resource; it has GET, HEAD, OPTIONS")
        case .keyPathNotBound:
            Problem(
                self,
                "no binding is declared for the key path \"/p/history\", so it is changed by events only; app \"counter\" binds /p/count, /p/step, /p/title, /p/limits/warnAt"
            )
        case .notAcceptable: Problem(self, "change streams are text/event-stream; accept that")
        case .requestTimeout:
            Problem(
                self,
                "The request's head did not arrive within \(limits.headTimeMax) (headTimeMax). Nothing has changed. Send the request again."
            )
        case .sessionExists: Problem(.exists(key))
        case .sessionBeingDeleted: Problem(.deleting(key))
        case .keyInUse: Problem(.keyUnderWay("8e03978e-40d5"))
        case .streamWithoutPaths:
            Problem(
                self,
                "a stream of a store or a value has no paths; open a stream of a session or a view"
            )
        case .versionGone: Problem(.versionGone(3, oldest: 120))
        case .pageGone: Problem(.pageGone(after: "a"), epoch: "")
        case .preconditionFailed: Self.preconditionExample
        case .bodyTooLarge: Problem(self, HTTPError.tooLarge(HTTPLimits()).detail)
        case .answersTooLarge:
            Problem(
                self,
                "not dispatched: the answers to the earlier lines take \(limits.lineAnswerBytesMax) bytes (lineAnswerBytesMax); send this line and the rest in another request, or ask for Prefer: return=minimal"
            )
        case .changeTooLarge: Problem(StorageError.tooLarge(limitBytes: 1_000_000_000))
        case .targetTooLong:
            Problem(
                self,
                "The request target is longer than \(limits.targetBytesMax) bytes (targetBytesMax). Nothing has changed. Send a shorter one."
            )
        case .unsupportedContentType:
            Problem(
                self,
                "send JSON in UTF-8 with Content-Type: application/json (found none); curl --json does"
            )
        case .unsupportedContentEncoding:
            Problem(
                self,
                "the server decodes no Content-Encoding; send the body as it is. Found gzip"
            )
        case .rangeNotSatisfiable: Problem(self, "the file has 512 bytes, and Range asks for none of them")
        case .expectationFailed: Problem(self, "the only expectation that can be met is 100-continue")
        case .misdirectedRequest:
            Problem(
                self,
                "This server does not answer for the host \"evil.example\". If it should, start it with --allowed-hosts evil.example (RIVULET_ALLOWED_HOSTS). Nothing has changed."
            )
        case .invalidBody:
            Problem(
                JSONError(
                    kind: .mismatch,
                    offset: 12,
                    pointer: "/setCount",
                    detail: "expected an integer, found a string"
                )
            )
        case .eventRejected: Problem(.rejectedInArray(refused))
        case .coercionRefused:
            Problem(.coerced([CoercedValue(path: "/p/count", from: Array("500".utf8), to: Array("100".utf8))]))
        case .noJSONForm: Problem(.unrepresentableNumber)
        case .loginRefused: LoginCookie.tooLong(5_120)
        case .keyReused: Problem(.keyReused("8e03978e-40d5"))
        case .quotaExceeded: .limitedExample
        case .headTooLarge:
            Problem(
                self,
                "The header block is longer than \(limits.headerBytesMax) bytes (headerBytesMax). Nothing has changed. Send a shorter one."
            )
        case .appFailed: Problem(.reducerFailed(eventName: "add"))
        case .sessionUnreadable: Problem(StorageError.corrupt(key, detail: ""))
        case .storedValueUnreadable: Problem(.damagedItem("a"), epoch: "")
        case .keptAnswerUnreadable: Self.recordExample
        case .storageIndeterminate: Problem(StorageError.indeterminate(detail: ""))
        case .storageDamaged: Problem(StorageError.corrupt(nil, detail: ""))
        case .storageIncompatible: Problem(StorageError.incompatible(detail: ""))
        case .serverFault: Problem(.fault(""), epoch: "")
        case .notImplemented: Problem(self, "the only transfer coding that can be read is chunked")
        case .overloaded: Problem(.overloaded("events waiting in session a"))
        case .serverStopping: Problem(.draining)
        case .storageUnavailable: Problem(StorageError.unavailable(detail: ""))
        case .secretsUnavailable: Problem(.keychain(.missingEntitlement), epoch: "")
        case .notReady: Self.notReadyExample
        case .ownerUnavailable: .ownerUnavailable
        case .outcomeUnknown: .outcomeUnknown
        case .nodeHalted: .nodeHalted
        case .httpVersionNotSupported: Problem(self, "only HTTP/1.1 and HTTP/1.0 are served")
        case .stateFull: Problem(.stateFull(key, limitBytes: SessionLimits().stateBytesMax))
        case .diskFull: Problem(StorageError.full(detail: ""))
        case .memoryFull: Problem(StorageError.memoryFull(limitBytes: MemoryStorageLimits().bytesMax))
        case .quota:
            Problem(StorageError.quota(QuotaExcess(app: "todos", scope: .owner, measure: .sessions, limit: 100)))
        case .storeFull: Problem(.store(.full(limitBytes: StoreLimits().bytesMax)), epoch: "")
        case .revocationsFull: .revocationsFull
        }
    }

    private static var recordExample: Problem {
        var problem = Problem(
            .keptAnswerUnreadable,
            "The idempotency record of this key cannot be read. The event took effect at the first request. Read the session to see its effect."
        )
        problem.hasHiddenCause = true
        return problem
    }

    private static var notReadyExample: Problem {
        var problem = Problem(StorageError.unavailable(detail: ""))
        problem.type = .notReady
        return problem
    }

    private static var preconditionExample: Problem {
        let position = Cursor.Position(version: 8, transients: 0)
        let cursor = Cursor(epoch: "k3v9x0qa", position: position, incarnation: "b2aa")
        let state = Array(#"{"p":{"count":8},"t":{}}"#.utf8)
        return Problem(.precondition(.moved, current: StateAnswer(cursor: cursor, value: state)))
    }
}
