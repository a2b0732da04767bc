import Foundation
import Rivulet
import Testing

@Suite struct NodeFileTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rivulet-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
        }
        try body(folder)
    }

    @Test func `a node finds the runs on its folder again`() throws {
        try withFolder { folder in
            #expect(NodeFile(of: "a", in: folder).runs.isEmpty)
            var file = NodeFile(of: "a", in: folder)
            file.begin(7)
            file.begin(.max)
            try file.write(in: folder)
            #expect(NodeFile(of: "a", in: folder) == file)
            #expect(NodeFile(of: "a", in: folder).runs == [7, .max])
        }
    }

    @Test func `the folder of another node gives no runs`() throws {
        try withFolder { folder in
            var file = NodeFile(of: "a", in: folder)
            file.begin(7)
            try file.write(in: folder)
            #expect(NodeFile(of: "b", in: folder).runs.isEmpty)
        }
    }

    @Test func `a damaged file gives no runs`() throws {
        try withFolder { folder in
            try "{".write(toFile: folder + "/node.json", atomically: true, encoding: .utf8)
            #expect(NodeFile(of: "a", in: folder).runs.isEmpty)
        }
    }

    @Test func `only the latest runs are kept`() {
        var file = NodeFile(node: "a")
        for run in UInt64(1)...20 { file.begin(run) }
        #expect(file.runs == Array(5...20))
    }

    @Test func `a node begins again five times a minute at most`() {
        var file = NodeFile(node: "a")
        var outcomes: [Bool] = []
        // A clock that was set back forgets the restarts of the future.
        for time in [100, 101, 102, 103, 104, 159, 160, 50] { outcomes.append(file.restart(at: time)) }
        #expect(outcomes == [true, true, true, true, true, false, true, true])
    }

    @Test func `a folder that cannot be written names the file`() {
        #expect(throws: (any Error).self) { try NodeFile(node: "a").write(in: "/no/such/folder") }
    }
}
