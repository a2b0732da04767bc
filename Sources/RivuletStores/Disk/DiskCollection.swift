internal import Crypto
internal import FoundationEssentials
import RivuletBase

/// A collection in its own folder, and the keys that its files have.
struct DiskCollection {
    private let folder: DiskFolder
    /// Nil until the files have been read.
    private(set) var keys: DiskKeys?
    /// True if a commit that an earlier process left unfinished has been finished or removed.
    private var isRecovered = false

    /// Creates the collection with a name, below a directory.
    init(_ name: String, in directory: String) {
        folder = DiskFolder(path: directory + "/" + Self.folderName(of: name))
    }

    /// Returns the name of a collection's folder.
    ///
    /// Letters, digits, "-" and "_" stay, and other bytes are escaped. A long name is replaced by its digest.
    static func folderName(of name: String) -> String {
        let isPlain = { (byte: UInt8) in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                || byte == 95
        }
        let escaped = name.utf8.map { byte in
            isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + DiskItemName.hexadecimal([byte]).uppercased()
        }
        let text = escaped.joined()
        return text.utf8.count <= 128 ? "items-" + text : "digest-" + DiskItemName(name).digest
    }

    /// Reads all item files of the collection.
    ///
    /// Files with other names are ignored.
    mutating func contents() throws(ItemStorageError) -> StoredCollection {
        try recover()
        var keys = DiskKeys()
        var items: [DiskItem] = []
        var damaged: [DamagedItem] = []
        for file in try folder.names() {
            guard let name = DiskItemName(file: file, suffix: DiskItemName.fileSuffix) else { continue }
            guard let bytes = try folder.read(file) else { continue }
            switch DiskItem.read(bytes, from: name, path: folder.path + "/" + file) {
            case .success(let item):
                items.append(item)
                let identity = DiskKeys.Identity(arrival: item.arrival, created: item.item.created)
                keys.items[ByteText(item.item.key)] = identity
                keys.nextArrival = max(keys.nextArrival, item.arrival &+ 1)
            case .failure(let error):
                damaged.append(error.item)
                keys.damaged.insert(name)
            }
        }
        self.keys = keys
        items.sort { $0.arrival < $1.arrival }
        return StoredCollection(items: items.map(\.item), damaged: damaged)
    }

    /// The error of a commit that may or may not have been made.
    struct Unfinished: Error {
        let cause: ItemStorageError
    }

    /// Makes changes, all or none; durable on return.
    ///
    /// - Throws: `ItemStorageError` if nothing was changed, `Unfinished` if the outcome is unknown.
    mutating func commit(_ changes: [ItemChange], itemsMax: Int, time: Int64) throws {
        if keys == nil { _ = try contents() }
        let commit = DiskCommit(changes, to: keys ?? DiskKeys(), time: time)
        guard commit.keys.items.count <= itemsMax else { throw ItemStorageError.tooMany(limit: itemsMax) }
        let puts = commit.puts.keys.map { DiskItemName($0.text) }
        let journal = DiskJournal(puts: puts, removals: Array(commit.removals))
        if journal.puts.isEmpty, journal.removals.isEmpty { return }
        do {
            if !journal.puts.isEmpty { try folder.make() }
            for (key, item) in commit.puts {
                try folder.write(item.fileBytes, to: DiskItemName(key.text).newFile)
            }
            if journal.puts.count + journal.removals.count > 1 {
                try folder.write(journal.fileBytes, to: DiskJournal.newFile)
                // The names of the new files must be durable before the journal gets its final name.
                try folder.sync()
            }
        } catch {
            discard(journal)
            throw error
        }
        try finish(journal)
        keys = commit.keys
    }

    /// Makes the commit: renames or removes its only file, or gives the journal its final name.
    private mutating func finish(_ journal: DiskJournal) throws {
        do {
            switch (journal.puts.first, journal.removals.first, journal.puts.count + journal.removals.count) {
            case (let name?, _, 1): try folder.rename(name.newFile, to: name.file)
            case (_, let name?, 1): try folder.remove(name.file)
            default: try folder.rename(DiskJournal.newFile, to: DiskJournal.file)
            }
        } catch {
            discard(journal)
            throw error
        }
        do {
            try folder.sync()
            if journal.puts.count + journal.removals.count > 1 { try journal.replay(in: folder) }
        } catch {
            throw Unfinished(cause: error)
        }
    }

    /// Removes the new files of a commit that is not made.
    ///
    /// Files that remain are removed at the next opening.
    private func discard(_ journal: DiskJournal) {
        for name in journal.puts.map(\.newFile) + [DiskJournal.newFile] {
            do {
                try folder.remove(name)
            } catch {
                return
            }
        }
    }

    /// Finishes a commit that has a journal, and removes the remains of a commit that has none.
    private mutating func recover() throws(ItemStorageError) {
        guard !isRecovered else { return }
        if let bytes = try folder.read(DiskJournal.file) {
            guard let journal = DiskJournal(bytes) else {
                let detail = "\(folder.path)/\(DiskJournal.file) fails its checksum"
                throw .corrupt(detail: detail)
            }
            try journal.replay(in: folder)
        }
        for file in try folder.names() {
            let isNew = DiskItemName(file: file, suffix: DiskItemName.newSuffix) != nil
            if isNew || file == DiskJournal.newFile { try folder.remove(file) }
        }
        isRecovered = true
    }
}
