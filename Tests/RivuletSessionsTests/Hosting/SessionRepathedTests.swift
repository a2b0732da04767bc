// Checks the cursors of streams with paths that differ from their URLs.

import RivuletJSON
import RivuletSessions
import Testing

@Suite struct SessionRepathedTests {
    private static func topic(
        _ paths: String...,
        format: StreamFormat = .changes,
        isRepathed: Bool = false
    ) throws -> StreamTopic {
        StreamTopic(
            paths: try paths.map { try JSONPointer(parsing: $0) },
            format: format,
            isRepathed: isRepathed
        )
    }

    @Test func `every event of a stream with changed paths names the paths in its cursor`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let joined = try harness.subscribe(try Self.topic("/p/count", isRepathed: true))
        let name = try #require(joined.cursor.paths)
        #expect(name.utf8.count == 6)
        #expect(joined.first.map { $0.cursor?.paths } == [name])
        try harness.dispatch(#"{"add":1}"#)
        let change = try #require(harness.sink.delivered.last?.event.cursor)
        #expect(change.paths == name)
        #expect("\(change)".utf8.count <= Cursor.bytesMax)
        let resumed = try harness.subscribe(
            try Self.topic("/p/count", isRepathed: true),
            resume: "\(joined.cursor)"
        )
        #expect(resumed.first.map(\.name) == [.change])
        #expect(resumed.first.map { $0.cursor } == [change])
        #expect(try harness.subscribe(try Self.topic("/p/count")).cursor.paths == nil)
    }

    @Test func `a cursor with paths is valid for the same paths only, however a stream requests them`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let topic = try Self.topic("/p/count", "/p/title", isRepathed: true)
        let cursor = "\(try harness.subscribe(topic).cursor)"
        #expect(try harness.subscribe(try Self.topic("/p/title", "/p/count"), resume: cursor).first.isEmpty)
        for other in [
            try Self.topic("/p/count"), try Self.topic("/p/count", isRepathed: true),
            try Self.topic("/p/count", "/p/title", format: .jsonPatch),
        ] {
            let reset = try #require(try harness.subscribe(other, resume: cursor).first.first)
            #expect(reset.name == .reset)
            #expect(reset.text.contains(#""reason":"paths-changed""#))
        }
        harness.restart()
        #expect(try harness.subscribe(topic, resume: cursor).first.allSatisfy { $0.name == .change })
    }

    @Test func `streams with changed paths and streams that began with those paths are separate groups`() throws {
        let harness = try SessionHarness()
        let plain = try harness.subscribe(try Self.topic("/p/count"))
        let changed = try harness.subscribe(try Self.topic("/p/count", isRepathed: true))
        #expect(plain.group != changed.group)
        try harness.dispatch(#"{"add":1}"#)
        #expect(Set(harness.sink.delivered.map(\.group)) == [plain.group, changed.group])
    }

    @Test func `If-Match accepts a cursor with paths for its position`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let cursor = try harness.subscribe(try Self.topic("/p/count", isRepathed: true)).cursor
        #expect(try harness.dispatch(#"{"add":1}"#, expected: [cursor]).version == 2)
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"add":1}"#, expected: [cursor]) }
    }
}
