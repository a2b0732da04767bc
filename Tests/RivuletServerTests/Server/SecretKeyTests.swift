// Checks the sources of a server's secret, and that the secret is never disclosed.

import Foundation
import Testing

@testable import RivuletServer

@Suite struct SecretKeyTests {
    private let text = String(repeating: "secret words. ", count: 3)

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func `the same text gives the same keys, one for each purpose`() throws {
        let key = try SecretKey(text)
        #expect(try key.derived(for: "a") == SecretKey("\n \(text)\n").derived(for: "a"))
        #expect(key.derived(for: "a") != key.derived(for: "b"))
        #expect(SecretKey().derived(for: "a") != SecretKey().derived(for: "a"))
    }

    @Test func `a short text is refused`() {
        #expect(throws: ServerError.self) { try SecretKey(String(repeating: "x", count: 31) + "\n\n") }
        #expect(throws: Never.self) { try SecretKey(String(repeating: "x", count: 32)) }
    }

    @Test func `a key does not disclose itself`() throws {
        let key = try SecretKey(text)
        var dumped = ""
        dump(ServerOptions(secretKey: key), to: &dumped)
        #expect(!dumped.contains("secret words") && !dumped.contains("SymmetricKey"))
        #expect("\(key)" == "SecretKey")
    }

    @Test func `a data folder without a key gets one, readable by its owner only, and keeps it`() throws {
        try withFolder { folder in
            let data = folder + "/a/b"
            let key = try SecretKey(keptIn: data).derived(for: "a")
            #expect(try SecretKey(keptIn: data).derived(for: "a") == key)
            #expect(try SecretKey(file: data + "/secret.key").derived(for: "a") == key)
            let attributes = try FileManager.default.attributesOfItem(atPath: data + "/secret.key")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: data) == ["secret.key"])
        }
    }

    @Test func `a stored key that others may read is refused with the remedy`() throws {
        try withFolder { folder in
            _ = try SecretKey(keptIn: folder)
            let path = folder + "/secret.key"
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            for make in [{ try SecretKey(keptIn: folder) }, { try SecretKey(file: path) }] {
                let error = #expect(throws: ServerError.self) { try make() }
                #expect(error?.description == "others may read the secret key file \(path); run: chmod 600 \(path)")
            }
        }
    }

    @Test func `a missing file is an error that names it`() {
        let error = #expect(throws: ServerError.self) { try SecretKey(file: "/nowhere/key") }
        #expect(error?.description.contains("cannot open the secret key file /nowhere/key") == true)
    }

    @Test func `a start logs the source of the key`() throws {
        #expect(SecretKey().notice.hasPrefix("no secret key was given, so this run made its own: "))
        #expect(try SecretKey(text).notice == "secret key given")
        try withFolder { folder in
            let path = folder + "/secret.key"
            let (made, kept, named) = try (SecretKey(keptIn: folder), SecretKey(keptIn: folder), SecretKey(file: path))
            #expect(made.notice == "secret key made: \(path); keep it, see Documentation/Operating.md")
            #expect(kept.notice == "secret key read: \(path)")
            #expect(named.notice == kept.notice)
        }
    }

    @Test func `a start without storage on disk logs nothing about the key`() throws {
        let lines = LogLines()
        for key in [SecretKey(), try SecretKey(text)] { key.logNotice(to: lines.logger(), sessionsAreKept: false) }
        #expect(lines.all.isEmpty)
        SecretKey().logNotice(to: lines.logger(), sessionsAreKept: true)
        try SecretKey(text).logNotice(to: lines.logger(), sessionsAreKept: true)
        #expect(lines.all.count == 2 && lines.all[0].hasPrefix("warning ") && lines.all[1] == "info secret key given")
    }

    @Test func `the error about an unusable data folder names the folder, not a key`() throws {
        try withFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: folder + "/file"))
            for (path, reason) in [
                ("/proc/foo", "No such file"), (folder + "/file", "Not a directory"),
                (folder + "/file/a", "Not a directory"),
            ] {
                let text = #expect(throws: ServerError.self) { try SecretKey(keptIn: path) }?.description ?? ""
                #expect(text.contains("the data folder \(path): \(reason)"))
                #expect(text.contains("choose another folder with --data") && !text.contains("SECRET"))
            }
        }
    }
}
