internal import Crypto
internal import FoundationEssentials

/// A document with its key, its times and its arrival number, as its file has them.
struct DiskItem {
    /// The number of keys that were added to the collection before this document's key.
    let arrival: UInt64
    let item: StoredItem

    /// The first bytes of every file; the digit is the format's version.
    private static let magic = Array("RIVUITM1".utf8)
    private static let headBytes = magic.count + 5 * 8

    /// The bytes of the file: a head of fixed size, the key, the document, and a digest of all three.
    var fileBytes: [UInt8] {
        let key = Array(item.key.utf8)
        var bytes = Self.magic
        bytes.reserveCapacity(Self.headBytes + key.count + item.document.count + SHA256.byteCount)
        for number in [
            arrival, UInt64(bitPattern: item.created), UInt64(bitPattern: item.updated), UInt64(key.count),
            UInt64(item.document.count),
        ] {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        bytes += key
        bytes += item.document
        bytes += SHA256.hash(data: bytes)
        return bytes
    }

    init(arrival: UInt64, item: StoredItem) {
        self.arrival = arrival
        self.item = item
    }

    /// Returns the content of a file, or its damage; the file's name must match its key.
    static func read(_ bytes: [UInt8], from name: DiskItemName, path: String) -> Result<DiskItem, ReadError> {
        let key = key(in: bytes).flatMap { DiskItemName($0) == name ? $0 : nil }
        func damage(_ what: String) -> Result<DiskItem, ReadError> {
            .failure(ReadError(item: DamagedItem(key: key, detail: "\(path) \(what)")))
        }
        guard let key else { return damage("is not an item's file, or has the name of another item's file") }
        let digestStart = bytes.count - SHA256.byteCount
        let documentStart = headBytes + key.utf8.count
        guard digestStart >= documentStart, number(4, in: bytes) == UInt64(digestStart - documentStart) else {
            return damage("has another size than its head says")
        }
        guard SHA256.hash(data: bytes[..<digestStart]) == bytes[digestStart...] else {
            return damage("fails its checksum")
        }
        let item = StoredItem(
            key: key,
            document: Array(bytes[documentStart..<digestStart]),
            created: Int64(bitPattern: number(1, in: bytes)),
            updated: Int64(bitPattern: number(2, in: bytes))
        )
        return .success(DiskItem(arrival: number(0, in: bytes), item: item))
    }

    /// The error of an item that cannot be read.
    struct ReadError: Error {
        let item: DamagedItem
    }

    private static func key(in bytes: [UInt8]) -> String? {
        guard bytes.count >= headBytes, bytes.starts(with: magic) else { return nil }
        guard let count = Int(exactly: number(3, in: bytes)), count <= bytes.count - headBytes else { return nil }
        return String(validating: bytes[headBytes..<headBytes + count], as: UTF8.self)
    }

    private static func number(_ index: Int, in bytes: [UInt8]) -> UInt64 {
        let start = magic.count + index * 8
        return bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The name of an item's file: a digest of its key, because keys may have any content and length.
struct DiskItemName: Hashable {
    /// The digest, 64 hexadecimal digits.
    let digest: String

    /// The name of the file.
    var file: String { digest + Self.fileSuffix }
    /// The name of the file before it is renamed to ``file``.
    var newFile: String { digest + Self.newSuffix }

    static let fileSuffix = ".item"
    static let newSuffix = ".new"

    init(_ key: String) {
        digest = Self.hexadecimal(SHA256.hash(data: Array(key.utf8)))
    }

    /// Creates a name from a file name with a suffix; nil if the file is not the engine's.
    init?(file: String, suffix: String) {
        guard file.hasSuffix(suffix) else { return nil }
        self.init(digest: String(file.dropLast(suffix.count)))
    }

    /// Creates a name from a digest in a journal; nil if the text is not a digest.
    init?(digest: String) {
        guard digest.utf8.count == 2 * SHA256.byteCount,
            digest.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        self.digest = digest
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
