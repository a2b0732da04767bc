// Checks that the files of the public folder are served as they are now.

import Foundation
import Logging
import Synchronization
import Testing

@testable import RivuletServer

@Suite struct StaticFilesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    private let lines = LogLines()

    private func withFiles(
        _ contents: [String: String],
        bytesMax: Int = 1_000,
        filesMax: Int = 10,
        _ body: (StaticFiles) throws -> Void
    ) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in contents { try write(text, name) }
        try body(StaticFiles(folder: folder, fileBytesMax: bytesMax, filesMax: filesMax, logger: lines.logger()))
    }

    private func write(_ text: String, _ name: String) throws {
        let path = folder + "/" + name
        let parent = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.endIndex))
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    private func text(_ files: StaticFiles, _ name: String) -> String? {
        files[name].map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test func `a changed file is served after a check that finds it unchanged since the last one`() throws {
        try withFiles(["a.txt": "one", "kept.txt": "kept"]) { files in
            let tag = files["a.txt"]?.tag
            try write("second", "a.txt")
            files.look()
            #expect(text(files, "a.txt") == "one")
            files.look()
            #expect(text(files, "a.txt") == "second" && files["a.txt"]?.tag != tag)
            #expect(text(files, "kept.txt") == "kept")
            #expect(lines.all == ["info public files read anew removed=0 taken=1"])
        }
    }

    @Test func `new files appear, removed ones go, and hidden ones stay hidden`() throws {
        try withFiles(["a.txt": "one"]) { files in
            try write("deep", "b/c.html")
            try write("hidden", ".git/config")
            try FileManager.default.removeItem(atPath: folder + "/a.txt")
            files.look()
            #expect(text(files, "a.txt") == "one" && files["b/c.html"] == nil)
            files.look()
            #expect(files["a.txt"] == nil && text(files, "b/c.html") == "deep" && files[".git/config"] == nil)
            #expect(files["b/c.html"]?.contentType == "text/html; charset=utf-8")
        }
    }

    @Test func `a file that grew too large is served as before, warns once, and is read again when it has shrunk`()
        throws
    {
        try withFiles(["a.txt": "one"], bytesMax: 5) { files in
            try write("too large", "a.txt")
            for _ in 1...4 { files.look() }
            #expect(text(files, "a.txt") == "one")
            let warnings = lines.all.filter { $0.hasPrefix("warning") }
            #expect(warnings.count == 1 && warnings.first?.contains("has 9 bytes; a public file has at most 5") == true)
            try write("two", "a.txt")
            files.look()
            files.look()
            #expect(text(files, "a.txt") == "two")
        }
    }

    @Test func `files without room are one log line, and wait until another file is removed`() throws {
        try withFiles(["a.txt": "one"], filesMax: 1) { files in
            for name in ["b.txt", "c.txt", "d.txt"] { try write(name, name) }
            for _ in 1...4 { files.look() }
            #expect(files["b.txt"] == nil)
            #expect(
                lines.all == [
                    "warning the public folder has more than 1 files, the rest is not served; remove some not_served=3"
                ]
            )
            try FileManager.default.removeItem(atPath: folder + "/a.txt")
            for _ in 1...4 { files.look() }
            #expect(files["a.txt"] == nil && text(files, "b.txt") == "b.txt" && files["c.txt"] == nil)
            #expect(lines.all.count == 3)
        }
    }

    @Test func `a new file that cannot be read has a log line that it is not served`() throws {
        try withFiles(["a.txt": "one"], bytesMax: 5) { files in
            try write("too large", "b.txt")
            for _ in 1...4 { files.look() }
            #expect(lines.all.count == 1 && lines.all.first?.hasPrefix("warning a public file is not served: ") == true)
        }
    }

    @Test func `the fingerprint of a folder changes with each served file, and with no other`() throws {
        try withFiles(["a.txt": "one", "b/c.txt": "two"]) { _ in
            var last = try #require(FolderFingerprint(of: folder))
            func changes(_ edit: () throws -> Void) throws -> Bool {
                try edit()
                defer { last = FolderFingerprint(of: folder) ?? last }
                return FolderFingerprint(of: folder) != last
            }
            #expect(try !changes {})
            #expect(try !changes { try write("hidden", ".a") })
            #expect(try changes { try write("three", "a.txt") })
            #expect(try changes { try write("three", "b/c.txt") })
            #expect(
                try changes {
                    try FileManager.default.moveItem(atPath: folder + "/b/c.txt", toPath: folder + "/b/d.txt")
                }
            )
            #expect(
                try changes { try FileManager.default.moveItem(atPath: folder + "/b/d.txt", toPath: folder + "/d.txt") }
            )
            #expect(try changes { try FileManager.default.removeItem(atPath: folder + "/b") })
            #expect(
                try changes {
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/d.txt")
                }
            )
        }
        #expect(FolderFingerprint(of: folder) == nil)
    }

    @Test func `after the removal of the folder its files are served as before, and one warning is logged`() throws {
        try withFiles(["a.txt": "one"]) { files in
            try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
            for _ in 1...3 { files.look() }
            #expect(text(files, "a.txt") == "one" && lines.all.count == 1)
            try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder)
            for _ in 1...3 { files.look() }
            #expect(text(files, "a.txt") == "one" && lines.all.count == 1)
        }
    }

    @Test func `a start refuses files that are too large or too many, and a path that is no folder`() throws {
        try withFiles(["a.txt": "one"]) { _ in
            for (path, bytesMax, filesMax, words) in [
                (folder, 2, 10, "has 3 bytes"), (folder, 10, 0, "more than 0 files"),
                (folder + "/a.txt", 10, 10, "is not a folder; name another with --public"),
            ] {
                let error = #expect(throws: ServerError.self) {
                    try StaticFiles(folder: path, fileBytesMax: bytesMax, filesMax: filesMax, logger: lines.logger())
                }
                #expect(error?.description.contains(words) == true)
            }
        }
    }
}
