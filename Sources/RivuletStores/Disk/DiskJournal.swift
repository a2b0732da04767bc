internal import Crypto
internal import FoundationEssentials

/// The files that take their place and those that go, in one commit.
///
/// Once the journal has its name the commit is made: what is in it is done, now or at the next opening. Doing it twice is no harm.
struct DiskJournal {
    var puts: [DiskItemName]
    var removals: [DiskItemName]

    static let file = "journal"
    static let newFile = "journal.new"

    /// A line for each file, and a digest of them all.
    var fileBytes: [UInt8] {
        let lines = puts.map { "put \($0.digest)\n" } + removals.map { "remove \($0.digest)\n" }
        let text = Array(lines.joined().utf8)
        return text + Array("end \(DiskItemName.hexadecimal(SHA256.hash(data: text)))\n".utf8)
    }

    init(puts: [DiskItemName], removals: [DiskItemName]) {
        self.puts = puts
        self.removals = removals
    }

    /// Reads what `fileBytes` made; nil: it is damaged.
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

    /// Does what is written, as far as it is not done.
    func replay(in folder: DiskFolder) throws(ItemStorageError) {
        for name in puts { try folder.rename(name.newFile, to: name.file) }
        for name in removals { try folder.remove(name.file) }
        // The journal goes when what it says is durable, and before another commit writes files that it could take for its own.
        try folder.sync()
        try folder.remove(Self.file)
        try folder.sync()
    }
}
