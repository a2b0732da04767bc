// Owns the tests of Unix sockets: their files, and the processes that answer on them.

import Foundation
import RivuletEventLoop
import Testing

@Suite final class SocketFileTests {
    private let folder = "/tmp/rivulet-\(UInt32.random(in: 0...UInt32.max))"
    private var path: String { folder + "/a.sock" }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }

    deinit { _ = try? FileManager.default.removeItem(atPath: folder) }

    /// The kind and mode of the file at the path, as `stat` has them; nil if there is none.
    private var mode: UInt32? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? UInt32(status.st_mode) : nil
    }

    private func error(_ body: () throws -> Void) -> String? {
        #expect(throws: LoopError.self, performing: body).map { "\($0)" }
    }

    @Test func `the file has the mode 0660 until it is removed`() throws {
        let loops = try (0..<2).map { try EventLoop(index: $0) }
        let file = try ListenerGroup.bind(path: path, loops: loops)
        #expect(mode == UInt32(S_IFSOCK) | 0o660)
        file.remove()
        #expect(mode == nil)
        file.remove()
        for loop in loops { loop.stopListening() }
    }

    @Test func `a path on which a loop listens is in use, and is free after its end`() throws {
        let first = try EventLoop(index: 0)
        _ = try ListenerGroup.bind(path: path, loops: [first])
        let second = try EventLoop(index: 1)
        let text = error { _ = try ListenerGroup.bind(path: path, loops: [second]) }
        #expect(text == "bind \(path): EADDRINUSE address already in use")
        #expect(mode != nil)
        first.stopListening()
        // Without an answer the file is that of an ended process.
        #expect(mode != nil)
        let file = try ListenerGroup.bind(path: path, loops: [second])
        #expect(mode == UInt32(S_IFSOCK) | 0o660)
        file.remove()
        second.stopListening()
    }

    @Test func `a file that another process has put in its place is not removed`() throws {
        let loop = try EventLoop(index: 0)
        let file = try ListenerGroup.bind(path: path, loops: [loop])
        try FileManager.default.removeItem(atPath: path)
        try Data("other".utf8).write(to: URL(filePath: path))
        file.remove()
        #expect(mode != nil)
        loop.stopListening()
    }

    @Test func `a file of another kind is never replaced`() throws {
        let loop = try EventLoop(index: 0)
        try Data("other".utf8).write(to: URL(filePath: path))
        #expect(error { _ = try ListenerGroup.bind(path: path, loops: [loop]) }?.contains("ENOTSOCK") == true)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("other".utf8))
    }

    @Test func `a path that no socket can have is an error`() throws {
        let loop = try EventLoop(index: 0)
        for (path, name) in [
            (folder + "/none/a.sock", "ENOENT"), ("", "EINVAL"),
            (String(repeating: "x", count: SocketFile.pathBytesMax + 1), "ENAMETOOLONG"),
        ] {
            #expect(error { _ = try ListenerGroup.bind(path: path, loops: [loop]) }?.contains(name) == true, "\(path)")
        }
        #expect(SocketFile.pathBytesMax == 107)
    }
}
