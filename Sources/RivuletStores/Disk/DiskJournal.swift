internal import Crypto
internal import FoundationEssentials

/// The files that one commit renames and removes.
///
/// Once the journal has its final name, the commit is made: its steps are done now or at the next opening. Steps that
/// are done twice do no harm.
struct DiskJournal {
    var puts: [DiskItemName]
    var removals: [DiskItemName]

    static let file = "journal"
    static let newFile = "journal.new"

    /// A line for each file, and a digest of all lines.
    var fileBytes: [UInt8] {
        let lines = puts.map { "put \($0.digest)\n" } + removals.map { "remove \($0.digest)\n" }
        let text = Array(lines.joined().utf8)
        return text + Array("end \(DiskItemName.hexadecimal(SHA256.hash(data: text)))\n".utf8)
    }

    init(puts: [DiskItemName], removals: [DiskItemName]) {
        self.puts = puts
        self.removals = removals
    }

    /// Reads the output of `fileBytes`; nil if it is damaged.
    init?(_ bytes: [UInt8]) {
        self.init(puts: [], removals: [])
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let name = DiskItemName(digest: String(words[1])) else { return nil }
            switch words[0] {
            case "put": puts.append(name)
            case "remove": removals.append(name)
            default: continue
            }
        }
        guard fileBytes == bytes else { return nil }
    }

    /// Does the journal's steps that have not been done yet.
    func replay(in folder: DiskFolder) throws(ItemStorageError) {
        for name in puts { try folder.rename(name.newFile, to: name.file) }
        for name in removals { try folder.remove(name.file) }
        // The journal is removed when its steps are durable. A later commit could otherwise write files that this
        // journal would rename.
        try folder.sync()
        try folder.remove(Self.file)
        try folder.sync()
    }
}
