// Owns the sample of callers in Documentation/Testing.md, compiled and run, and checks what a test store fails on.

import RivuletAccess
import RivuletEngine
import RivuletObservation
import RivuletTesting
import Synchronization
import Testing

// DocumentationTests checks that this file has every sample of that section, line by line.

@ObservableState
struct Wall: PersistentState {
    var posts: [String: String] = [:]
    var authors: [String: String] = [:]
}

@AppEvent
enum WallEvent {
    case post(id: String, text: String, author: String)
    case remove(String)
}

struct WallApp: GuardedApp {
    typealias State = AppState<Wall, EmptyTransient>

    let name = "wall"
    let defaultState = State(t: EmptyTransient(), p: Wall())

    func reduce(into state: inout State, event: WallEvent) throws {
        switch event {
        case .post(let id, let text, let author):
            guard !text.isEmpty else { throw RejectionError("a post needs a text") }
            state.p.posts[id] = text
            state.p.authors[id] = author
        case .remove(let id):
            state.p.posts[id] = nil
            state.p.authors[id] = nil
        }
    }

    func admit(_ event: WallEvent, from caller: Caller, state: State) throws -> WallEvent {
        switch event {
        case .post(let id, let text, _): return .post(id: id, text: text, author: caller.me ?? "")
        case .remove(let id):
            guard caller.has(role: "moderator") || state.p.authors[id] == caller.me else {
                throw AccessDenied("only the author removes a post")
            }
            return event
        }
    }
}

@Suite struct DocumentedCallersTests {
    @Test func `only the author and a moderator remove a post`() async throws {
        let (ann, bob) = (Caller.test("ann"), Caller.test("bob"))
        let me = try #require(ann.me)
        let store = TestStore(WallApp())
        await store.send(.post(id: "1", text: "Tea?", author: ""), from: ann) { state in
            state.p.posts["1"] = "Tea?"
            state.p.authors["1"] = me
        }
        await store.send(.remove("1"), from: bob, expectDenial: "only the author removes a post")
        await store.send(.remove("1"), from: .test("eve", roles: ["moderator"])) { state in
            state.p.posts = [:]
            state.p.authors = [:]
        }
    }

    // MARK: - Failures

    /// Returns the messages of the issues that a closure records.
    private func issues(_ body: () async -> Void) async -> [String] {
        let texts = Mutex<[String]>([])
        await withKnownIssue {
            await body()
        } matching: { issue in
            texts.withLock { $0.append(issue.comments.map(\.rawValue).joined()) }
            return true
        }
        return texts.withLock { $0 }
    }

    @Test func `a denial that was not expected, another reason and an admission fail`() async {
        let texts = await issues {
            let store = TestStore(WallApp())
            store.exhaustivity = .off
            await store.send(.post(id: "1", text: "Tea?", author: ""), from: .test("ann"))
            await store.send(.remove("1"))
            await store.send(.remove("1"), expectDenial: "no")
            await store.send(.remove("1"), from: .test("ann"), expectDenial: "no")
        }
        let me = Caller.test("ann").me ?? ""
        #expect(
            texts == [
                "{\"remove\":\"1\"} was denied: only the author removes a post",
                "{\"remove\":\"1\"} was denied with another reason: expected \"no\", was \"only the author removes a post\"",
                "{\"remove\":\"1\"} was admitted from caller \(me); expected the denial \"no\"",
            ]
        )
    }

    @Test func `a rejection is asserted for a caller, and the events of an array are admitted together`() async {
        let store = TestStore(WallApp())
        let ann = Caller.test("ann")
        await store.send(.post(id: "1", text: "", author: ""), from: ann, expectRejection: "a post needs a text")
        await store.send(
            atomically: [.post(id: "1", text: "a", author: ""), .post(id: "2", text: "b", author: "")],
            from: ann
        ) { state in
            state.p.posts = ["1": "a", "2": "b"]
            state.p.authors = ["1": ann.me ?? "", "2": ann.me ?? ""]
        }
        #expect(store.state.p.authors["2"]?.isEmpty == false)
    }

    @Test func `callers of tests have a me of their own for each subject and issuer`() throws {
        let callers = [Caller.test("ann"), .test("bob"), .test("ann", issuer: "https://one.example")]
        let names = try callers.map { try #require($0.me) }
        #expect(Set(names).count == 3)
        for name in names {
            #expect(name.utf8.count == 26)
            #expect(name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz234567".utf8.contains($0) })
        }
        #expect(Caller.test("ann") == .test("ann"))
        #expect(!Caller.test("ann").isAnonymous)
    }
}
