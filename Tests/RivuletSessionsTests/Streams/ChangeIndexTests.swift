// Checks that an index of changes brings every reader to the present state, with no more changes than necessary.

import RivuletJSON
import RivuletObservation
import RivuletSessions
import SeededRandom
import Testing

@Suite struct ChangeIndexTests {
    private static func position(_ version: UInt64) -> Cursor.Position {
        Cursor.Position(version: version, transients: 0)
    }

    private static func index(entriesMax: Int = 1_000, bytesMax: Int = 1_000_000) -> ChangeIndex {
        ChangeIndex(from: position(0), entriesMax: entriesMax, bytesMax: bytesMax)
    }

    private static func change(_ operation: StateChange.Operation, _ path: String) -> StateChange {
        StateChange(operation: operation, path: path, index: 0, value: nil)
    }

    @Test func `a field that is written a million times has one entry`() {
        var index = Self.index()
        for version in 1...1_000_000 {
            index.record([Self.change(.replace, "/p/count")], at: Self.position(UInt64(version)))
        }
        #expect(index.count == 2)
        #expect(index.changes(after: Self.position(999_999)) == [MissedChange(path: "/p/count")])
        #expect(index.changes(after: Self.position(1_000_000)).isEmpty)
    }

    @Test func `changes come in the order of the last writes, each path once`() {
        var index = Self.index()
        for (version, path) in ["/a", "/b", "/a", "/c/d"].enumerated() {
            index.record([Self.change(.replace, path)], at: Self.position(UInt64(version + 1)))
        }
        #expect(index.changes(after: Self.position(0)) == ["/b", "/a", "/c/d"].map(MissedChange.init))
        #expect(index.changes(after: Self.position(2)) == ["/a", "/c/d"].map(MissedChange.init))
    }

    @Test func `the first missed change of an element shows if the reader has the element`() {
        var index = Self.index()
        let program: [StateChange.Operation] = [.add, .remove, .add, .remove]
        for (version, operation) in program.enumerated() {
            index.record([Self.change(operation, "/items/a")], at: Self.position(UInt64(version + 1)))
        }
        for (version, operation) in program.enumerated() {
            let missed = index.changes(after: Self.position(UInt64(version)))
            #expect(missed == [MissedChange(Self.change(operation, "/items/a"))])
        }
    }

    @Test func `a reader gets the collection, or the element alone, if the index forgot the element's first change`()
        throws
    {
        var index = Self.index()
        for version in 1...10 {
            index.record(
                [Self.change(version % 2 == 1 ? .add : .remove, "/items/a")],
                at: Self.position(UInt64(version))
            )
        }
        let document = ReadableDocument { path, writer in
            guard path.tokens == ["items"] else { return false }
            writer.raw(Array("[]".utf8))
            return true
        }
        let missed = index.changes(after: Self.position(1))
        func changes(at path: String) throws -> [StateChange] {
            try #require(PathSet([try JSONPointer(parsing: path)]).changes(missing: missed, in: document))
        }
        let collection = try changes(at: "/items")
        #expect(collection.map(\.operation) == [.replace])
        #expect(collection.map(\.path) == ["/items"])
        let element = try changes(at: "/items/a")
        #expect(element.map(\.operation) == [.remove])
        let other = try changes(at: "/items/b")
        #expect(other.isEmpty)
    }

    @Test func `a full index keeps recent changes exactly, and merges older ones into outer paths`() {
        var index = Self.index(entriesMax: 100)
        for version in 1...1_000 {
            index.record([Self.change(.replace, "/p/items/\(version)/title")], at: Self.position(UInt64(version)))
        }
        #expect(index.count <= 100)
        #expect(
            index.changes(after: Self.position(998))
                == ["/p/items/999/title", "/p/items/1000/title"].map(MissedChange.init)
        )
        #expect(index.changes(after: Self.position(1)).first == MissedChange(path: "/p/items"))
    }

    @Test func `an index without room reports the whole state as changed`() {
        var index = Self.index(entriesMax: 0)
        index.record([Self.change(.replace, "/p/count")], at: Self.position(1))
        index.record([Self.change(.add, "/p/items/a")], at: Self.position(2))
        #expect(index.count == 0)
        #expect(index.bytes == 0)
        #expect(index.changes(after: Self.position(1)) == [MissedChange(path: "")])
        #expect(index.changes(after: Self.position(2)).isEmpty)
    }

    @Test func `the limit of an index includes the bytes of long paths`() {
        var index = Self.index(bytesMax: 10_000)
        for version in 1...100 {
            let path = "/p/" + String(repeating: "x", count: 1_000) + "\(version)"
            index.record([Self.change(.replace, path)], at: Self.position(UInt64(version)))
            #expect(index.bytes <= 10_000)
        }
        #expect(index.changes(after: Self.position(99)).count == 1)
    }

    @Test func `a reader from before the beginning of an index may have missed any change`() {
        let index = ChangeIndex(from: Self.position(7), entriesMax: 10, bytesMax: 10_000)
        #expect(index.changes(after: Self.position(6)) == [MissedChange(path: "")])
        #expect(index.changes(after: Self.position(7)).isEmpty)
    }

    /// The limits on the entries of an index, from none to more than are written.
    private static let limits = [0, 1, 3, 8, 20, 1_000]

    @Test(arguments: 0..<12)
    func `an index brings every reader to the present state`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = try SessionHarness()
        let start = try harness.session().read(.root).get()
        var indices = Self.limits.map {
            ChangeIndex(from: start.cursor.position, entriesMax: $0, bytesMax: $0 * 1_000)
        }
        var documents = [try JSONValue(parsing: start.value)]
        var positions = [start.cursor.position]
        var steps: [[StateChange]] = [[]]
        for _ in 0..<120 {
            let isQuiet = Int.random(in: 0..<4, using: &generator) == 0
            let event = isQuiet ? TallyProgram.quietEvent(&generator) : TallyProgram.event(&generator)
            let answer = try harness.dispatch(event)
            guard !answer.changes.isEmpty else { continue }
            for place in indices.indices { indices[place].record(answer.changes, at: answer.cursor.position) }
            documents.append(try JSONValue(parsing: Array(try harness.value("").utf8)))
            positions.append(answer.cursor.position)
            steps.append(answer.changes)
            guard Int.random(in: 0..<4, using: &generator) == 0, let now = documents.last else { continue }
            let place = Int.random(in: documents.indices, using: &generator)
            if seed % 2 == 0 { indices[2] = indices[2].within(entriesMax: 3, bytesMax: 3_000) }
            for paths in TallyProgram.watches {
                let written = steps[(place + 1)...].flatMap(\.self).map(\.path)
                for (limit, index) in zip(Self.limits, indices) {
                    let missed = index.changes(after: positions[place])
                    let told = try check(missed, from: documents[place], to: now, at: paths, harness)
                    #expect(index.count <= limit)
                    if limit == 1_000 { #expect(told.allSatisfy { isWritten($0.path, in: written) }) }
                }
            }
        }
    }

    private func check(
        _ missed: [MissedChange],
        from old: JSONValue,
        to now: JSONValue,
        at paths: [String],
        _ harness: SessionHarness
    ) throws -> [StateChange] {
        let session = try harness.session()
        let document = ReadableDocument { path, writer in
            guard case .success(let answer) = session.read(path) else { return false }
            writer.raw(answer.value)
            return true
        }
        let watched = PathSet(try paths.map { try JSONPointer(parsing: $0) })
        let told = try #require(watched.changes(missing: missed, in: document))
        var reader = StreamReader(paths: paths)
        try reader.read(old)
        for change in told { try reader.make(change) }
        #expect(try reader.texts == StreamReader.texts(of: now, at: paths), "\(paths): \(missed)")
        return told
    }

    /// True if a path is equal to, within or around a written path.
    private func isWritten(_ path: String, in written: [String]) -> Bool {
        written.contains { other in
            (path + "/").utf8.starts(with: (other + "/").utf8) || (other + "/").utf8.starts(with: (path + "/").utf8)
        }
    }
}
