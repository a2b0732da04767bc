// Checks the answer to each error.

import RivuletEngine
import RivuletJSON
import RivuletSessions
import RivuletStores
import Testing

@testable import RivuletServer

@Suite struct ProblemTests {
    private static let key = SessionKey(app: "counter", id: "a")

    @Test(
        arguments: [
            (SessionError.notFound(key), 404), (.exists(key), 409), (.deleting(key), 409), (.rejected("no"), 422),
            (.internalEvent(name: "close", index: nil), 403), (.internalEvent(name: "close", index: 2), 403),
            (.reducerFailed(eventName: "x"), 500),
            (.unrepresentableNumber, 422), (.noValue("/p/x"), 404),
            (.noElement("/p/x/0"), 404), (.overloaded("queue"), 503), (.draining, 503),
            (.keyUnderWay("k"), 409), (.keyReused("k"), 422), (.keysFull(key, seconds: 9), 429),
            (.unreadable(key, detail: "x"), 500), (.storage(.full(detail: "x")), 507),
            (.stateFull(key, limitBytes: 1), 507), (.storage(.closed), 503),
            (.storage(.unavailable(detail: "x")), 503), (.storage(.indeterminate(detail: "x")), 500),
            (.storage(.corrupt(key, detail: "x")), 500), (.storage(.tooLarge(limitBytes: 1)), 413),
            (.body(JSONError(kind: .malformed, detail: "x")), 400),
            (.body(JSONError(kind: .mismatch, detail: "x")), 422),
        ] as [(SessionError, Int)]
    )
    func `every error of a session has its status`(_ error: SessionError, _ status: Int) {
        #expect(Problem(error).status == status)
    }

    @Test func `damage of one session says that others are unaffected, damage of the whole storage does not`() {
        let key = SessionKey(app: "counter", id: "one")
        let one = Problem(SessionError.storage(.corrupt(key, detail: "x"))).detail
        #expect(one.contains("session \"one\" is damaged. "))
        #expect(one.contains("Other sessions are not affected"))
        let whole = Problem(SessionError.storage(.corrupt(nil, detail: "x")))
        #expect(whole.status == 500)
        #expect(whole.detail.contains("the storage is damaged. "))
        #expect(!whole.detail.contains("Other sessions"))
        #expect(!whole.detail.contains("delete"))
    }

    @Test func `no answer has details of storage that belong to the log`() {
        let canary = "/srv/canary/rivulet.db: SELECT canary"
        let errors: [StorageError] = [
            .unavailable(detail: canary), .indeterminate(detail: canary), .full(detail: canary),
            .incompatible(detail: canary),
            .corrupt(nil, detail: canary), .corrupt(Self.key, detail: canary),
        ]
        for error in errors {
            let problem = Problem(SessionError.storage(error))
            #expect(!String(decoding: problem.json, as: UTF8.self).contains("canary") && problem.hasHiddenCause)
            #expect(error.logText.contains(canary) && !error.logText.contains(Self.key.id + "\""))
        }
        let items: [ItemStorageError] = [
            .unavailable(detail: canary), .indeterminate(detail: canary), .full(detail: canary),
            .incompatible(detail: canary),
            .corrupt(detail: canary),
        ]
        for error in items.map(SharedError.storage) + [.fault(canary)] {
            let problem = Problem(error, epoch: "")
            #expect(!String(decoding: problem.json, as: UTF8.self).contains("canary") && problem.hasHiddenCause)
        }
    }

    @Test func `a refusal with all details has no hidden cause`() {
        for error in [SessionError.notFound(Self.key), .rejected("no"), .draining, .stateFull(Self.key, limitBytes: 1)]
        {
            #expect(!Problem(error).hasHiddenCause)
        }
    }

    @Test func `a problem has the members of RFC 9457 and pointers to the errors`() throws {
        let problem = Problem(JSONError(kind: .malformed, offset: 7, pointer: "/a", detail: "expected a comma"))
        let document = try JSONValue(parsing: problem.json)
        #expect(document["type"]?.stringValue == "/problems/malformed-body")
        #expect(document["status"]?.integerValue == 400)
        #expect(document["title"]?.stringValue == "The body cannot be read")
        #expect(document["detail"]?.stringValue?.contains("byte 7") == true)
        #expect(document["errors"]?[0]?["pointer"]?.stringValue == "/a")
    }

    @Test func `a request for an element by position gets an answer about ids`() {
        #expect(Problem(.noValue("/p/x")).detail == #"the state has no value at "/p/x""#)
        #expect(Problem(.noElement("/p/x/0")).detail.hasSuffix("; elements are addressed by their id, not by position"))
    }

    @Test func `a wrong content type is answered with the right one, without an example event`() {
        let problem = #expect(throws: Problem.self) { try JSONBody.checkType("text/plain") }
        #expect(
            problem?.detail == "send JSON in UTF-8 with Content-Type: application/json (found \"text/plain\"); "
                + "curl --json does"
        )
    }

    @Test func `the answer to a reducer's failure does not have the error`() throws {
        let document = try JSONValue(parsing: Problem(.reducerFailed(eventName: "add")).json)
        #expect(document["status"]?.integerValue == 500)
        #expect(
            document["detail"]?.stringValue
                == #"the app failed at the event "add", which is an error of the app and is logged; nothing has changed"#
        )
    }

    @Test func `a rejection in an array has a pointer to the event, like errors of a body`() throws {
        let rejection = RejectionError("title must not be empty")
        let refused = RejectedEventError(index: 2, eventName: "rename", rejection: rejection)
        let document = try JSONValue(parsing: Problem(.rejectedInArray(refused)).json)
        #expect(document["status"]?.integerValue == 422)
        #expect(
            document["detail"]?.stringValue
                == #"the event at /2, "rename", was rejected, and the whole array with it; nothing has changed: title must not be empty"#
        )
        #expect(document["errors"] == [["pointer": "/2", "detail": "title must not be empty"]])
    }

    @Test(
        arguments: [
            (.moved, "the session has moved on; it stands at "),
            (
                .reloaded,
                "the session was loaded anew since this cursor, and its transient values may have changed "
            ),
            (.otherHistory, "the cursor is from another history of the session, or from before a deployment "),
            (.ahead, "the session does not have this version yet; it stands at "),
            (.noCursor, "no tag of the condition is a cursor; it stands at "),
        ] as [(CursorMismatch, String)]
    )
    func `a failed condition is answered with its reason and the session's cursor`(
        _ mismatch: CursorMismatch,
        _ words: String
    ) throws {
        let cursor = try #require(Cursor("k3v9x0qa.7.b2aa-0"))
        let problem = Problem(.precondition(mismatch, current: StateAnswer(cursor: cursor, value: Array("{}".utf8))))
        #expect(problem.status == 412)
        #expect(problem.detail.hasPrefix(words))
        #expect(problem.detail.hasSuffix("; it stands at k3v9x0qa.7.b2aa-0"))
        #expect(problem.members.map(\.name) == ["cursor", "value"])
    }

    @Test func `a reducer's message is the problem's detail, unchanged`() throws {
        let document = try JSONValue(parsing: Problem(.rejected("title must \"not\" be empty")).json)
        #expect(document["detail"]?.stringValue == "title must \"not\" be empty")
    }
}
