// Part of Rivulet. See README.md for the architecture.
// Owns the public folder: read once at start, served from memory.

import FoundationEssentials
import RivuletHTTP

/// The files of the public folder by their paths below it, `/` between names.
struct StaticFiles: Sendable {
    /// The most files that are taken from the folder.
    private static let filesMax = 10_000

    private let files: [String: StaticFile]

    /// No files at all.
    init() {
        files = [:]
    }

    /// Reads the folder and everything below it but names that begin with a dot.
    ///
    /// - Throws: when the folder or a file in it cannot be read, is too large, or there are too many.
    init(folder: String, fileBytesMax: Int) throws(ServerError) {
        let root = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL
        var files: [String: StaticFile] = [:]
        for path in try Self.paths(below: root) {
            guard files.count < Self.filesMax else {
                throw ServerError("the public folder \(folder) has more than \(Self.filesMax) files; serve fewer")
            }
            files[path] = try Self.read(root.appending(path: path), fileBytesMax: fileBytesMax)
        }
        self.files = files
    }

    subscript(path: String) -> StaticFile? { files[path] }

    private static func paths(below root: URL) throws(ServerError) -> [String] {
        guard kind(of: root.path) == .typeDirectory else {
            throw ServerError("the public folder \(root.path) is not a folder; name another with --public")
        }
        do {
            return try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { name in
                let isHidden = name.split(separator: "/").contains { $0.hasPrefix(".") }
                return !isHidden && kind(of: root.appending(path: name).path) == .typeRegular
            }
        } catch {
            throw ServerError("the public folder \(root.path) cannot be read: \(error)")
        }
    }

    /// What is at the path; nil when there is nothing that can be looked at.
    ///
    /// Links are not followed.
    private static func kind(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    private static func read(_ file: URL, fileBytesMax: Int) throws(ServerError) -> StaticFile {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            let bytes = [UInt8](try Data(contentsOf: file))
            guard bytes.count <= fileBytesMax else {
                throw ServerError("\(file.path) has \(bytes.count) bytes; a public file has at most \(fileBytesMax)")
            }
            let changed = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            return StaticFile(
                contentType: StaticFile.contentType(of: file.lastPathComponent),
                lastModified: HTTPDate(secondsSince1970: Int64(changed)).text,
                bytes: bytes
            )
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError("the public file \(file.path) cannot be read: \(error)")
        }
    }
}
