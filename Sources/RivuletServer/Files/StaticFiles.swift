import FoundationEssentials
import Logging
import RivuletHTTP
import Synchronization

/// The files of the public folder by their paths below it, `/` between names.
///
/// Any thread reads them. `look()` is called by one thread at a time.
final class StaticFiles: Sendable {
    /// The most files that are taken from the folder.
    static let filesMax = 10_000

    private let folder: String
    private let filesMax: Int
    private let fileBytesMax: Int
    private let logger: Logger
    private let files: Mutex<[String: StaticFile]>
    private let state: Mutex<State>

    /// The state that scans keep.
    private struct State {
        var looks: FileLooks
        /// Files that were refused because the limit on files was reached.
        var excess: Set<String> = []
        /// The fingerprint of the folder at a scan that found no work and no file still changing.
        var atRest: FolderFingerprint?
        /// True if the log already says that the folder cannot be read.
        var hasWarned = false
    }

    /// Makes an empty set of files, without a folder.
    init() {
        (folder, filesMax, fileBytesMax) = ("", 0, 0)
        logger = Logger(label: "rivulet")
        files = Mutex([:])
        state = Mutex(State(looks: FileLooks(taken: [:])))
    }

    /// Reads the folder and everything below it, without names that begin with a dot.
    ///
    /// - Throws: when the folder or a file in it cannot be read, when a file is too large, or when the folder has too
    ///   many files.
    init(
        folder: String,
        fileBytesMax: Int,
        filesMax: Int = StaticFiles.filesMax,
        logger: Logger
    ) throws(ServerError) {
        self.folder = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL.path
        (self.filesMax, self.fileBytesMax, self.logger) = (filesMax, fileBytesMax, logger)
        let stamps = try FileStamp.all(below: self.folder)
        guard stamps.count <= filesMax else {
            throw ServerError("the public folder \(folder) has more than \(filesMax) files; serve fewer")
        }
        var files: [String: StaticFile] = [:]
        for (path, stamp) in stamps {
            files[path] = try Self.read(self.folder + "/" + path, stamp, bytesMax: fileBytesMax)
        }
        self.files = Mutex(files)
        // A file that changed while it was read has another stamp by now, and the next scans find it due.
        state = Mutex(State(looks: FileLooks(taken: stamps)))
    }

    /// True if there is a folder to scan.
    var hasFolder: Bool { !folder.isEmpty }

    subscript(path: String) -> StaticFile? { files.withLock { $0[path] } }

    /// Scans the folder once, and takes the files that have stopped changing since the last scan.
    ///
    /// A file that cannot be taken is served with its earlier bytes, if it has any. It causes one warning, and the next
    /// warning only after the file has changed again.
    func look() {
        state.withLock { state in
            let fingerprint = FolderFingerprint(of: folder)
            if let fingerprint, fingerprint == state.atRest { return }
            state.atRest = nil
            let stamps: [String: FileStamp]
            do throws(ServerError) {
                stamps = try FileStamp.all(below: folder)
                state.hasWarned = false
            } catch {
                if !state.hasWarned { logger.warning("\(error); its files are served as they were") }
                state.hasWarned = true
                return
            }
            let isAtRest = state.looks.isAtRest(stamps)
            let work = state.looks.look(stamps)
            if isAtRest { state.atRest = fingerprint } else if !work.isEmpty { take(work, stamps, &state) }
        }
    }

    private func take(_ work: FileLooks.Work, _ stamps: [String: FileStamp], _ state: inout State) {
        var taken: [String: StaticFile] = [:]
        var names = files.withLock { Set($0.keys) }.subtracting(work.gone)
        var excess = state.excess.subtracting(work.due).subtracting(work.gone)
        for path in work.due {
            guard let stamp = stamps[path] else { continue }
            guard names.contains(path) || names.count < filesMax else {
                excess.insert(path)
                state.looks.settle(path, stamp)
                continue
            }
            do throws(ServerError) {
                let file = try Self.read(folder + "/" + path, stamp, bytesMax: fileBytesMax)
                // The file was written to while it was read. It is due again when it has stopped changing.
                guard FileStamp(path: folder + "/" + path) == stamp else { continue }
                taken[path] = file
                names.insert(path)
            } catch {
                logger.warning(
                    names.contains(path)
                        ? "a public file was not taken, and is served as it was: \(error)"
                        : "a public file is not served: \(error)",
                    metadata: ["file": "\(path)"]
                )
            }
            state.looks.settle(path, stamp)
        }
        files.withLock { files in
            for path in work.gone { files[path] = nil }
            files.merge(taken) { $1 }
        }
        if !work.gone.isEmpty {
            for path in excess { state.looks.forget(path) }
        }
        // One line for any number of files. There is no line unless more files are refused than before.
        if excess.count > state.excess.count {
            logger.warning(
                "the public folder has more than \(filesMax) files, the rest is not served; remove some",
                metadata: ["not_served": "\(excess.count)"]
            )
        }
        state.excess = excess
        guard !taken.isEmpty || !work.gone.isEmpty else { return }
        logger.info("public files read anew", metadata: ["taken": "\(taken.count)", "removed": "\(work.gone.count)"])
    }

    private static func read(_ path: String, _ stamp: FileStamp, bytesMax: Int) throws(ServerError) -> StaticFile {
        guard stamp.bytes <= bytesMax else {
            throw ServerError("\(path) has \(stamp.bytes) bytes; a public file has at most \(bytesMax)")
        }
        do {
            return StaticFile(
                contentType: StaticFile.contentType(of: path),
                lastModified: HTTPDate(secondsSince1970: stamp.modified / 1_000_000_000).text,
                bytes: [UInt8](try Data(contentsOf: URL(filePath: path)))
            )
        } catch {
            throw ServerError("the public file \(path) cannot be read: \(error)")
        }
    }
}
