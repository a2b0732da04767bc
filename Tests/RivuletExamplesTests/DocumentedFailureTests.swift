// Owns the sample of a failure in Documentation/Testing.md, compiled and run.

import Foundation
import Rivulet
import RivuletTesting
import Synchronization
import Testing

@testable import RivuletExamples

@Suite struct DocumentedFailureTests {
    @Test func `the failure of a wrong expectation is the one that the page shows`() async throws {
        let failures = Mutex<[String]>([])
        await withKnownIssue {
            let store = TestStore(TodosApp())
            await store.send(.add(id: "milk", title: "Milk")) { $0.p.todos.append(Todo(id: "milk", title: "Milk")) }
            await store.send(.insert(id: "tea", title: "Tea", at: 0)) { state in
                state.p.todos[id: "milk"]?.title = "Oat milk"
            }
        } matching: { issue in
            failures.withLock { $0 += issue.comments.map(\.rawValue) }
            return true
        }
        let texts = failures.withLock { $0 }
        let failure = try #require(texts.first)
        #expect(texts.count == 1)
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let page = root.deletingLastPathComponent().appending(path: "Documentation/Testing.md")
        #expect(try String(contentsOf: page, encoding: .utf8).contains("\n```\n\(failure)\n```\n"))
    }
}
