// The pages of a database file, as a failing disk damages them and a checking tool reads them.

import CPageChecksums
import Foundation

/// A database file that no engine uses, page by page.
///
/// The number of the first page is 1.
struct DatabasePages {
    let path: String
    private(set) var bytes: [UInt8]

    static let pageBytes = 4_096

    init(_ path: String) throws {
        self.path = path
        bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    var count: Int { bytes.count / Self.pageBytes }

    /// The number of reserved bytes of each page, from the header.
    var reservedBytes: Int { Int(bytes[20]) }

    /// The pages with a wrong checksum in their last eight bytes.
    ///
    /// The checksum is computed here, without SQLite.
    var wrongPages: [Int] {
        (1...count).filter { page in
            let start = (page - 1) * Self.pageBytes
            var (first, second): (UInt32, UInt32) = (0, 0)
            for offset in stride(from: start, to: start + Self.pageBytes - 8, by: 8) {
                first &+= word(at: offset) &+ second
                second &+= word(at: offset + 4) &+ first
            }
            let end = start + Self.pageBytes
            return word(at: end - 8) != first || word(at: end - 4) != second
        }
    }

    private func word(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
    }

    /// The offset of a text in a page; nil if the page does not have it.
    func offset(of text: String, inPage page: Int) -> Int? {
        let page = bytes[(page - 1) * Self.pageBytes..<page * Self.pageBytes]
        return page.firstRange(of: Array(text.utf8)).map { $0.lowerBound - page.startIndex }
    }

    /// Flips one bit, as a failing disk does.
    mutating func flip(bit: Int, ofByte offset: Int, inPage page: Int) throws {
        bytes[(page - 1) * Self.pageBytes + offset] ^= 1 << UInt8(bit)
        try write()
    }

    /// Changes bytes of a page and stamps it, as a faulty program does.
    mutating func edit(page: Int, _ change: (inout ArraySlice<UInt8>) -> Void) throws {
        let range = (page - 1) * Self.pageBytes..<page * Self.pageBytes
        change(&bytes[range])
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            // SAFETY: the page lies within the buffer.
            guard let start = bytes.baseAddress else { return }
            unsafe page_checksums_stamp(start + range.lowerBound, Int32(Self.pageBytes))
        }
        try write()
    }

    /// Writes in place, so that the file's other names and its mode stay.
    private func write() throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }
}

extension RawDatabase {
    /// The first page of a table or an index.
    func rootPage(of name: String) throws -> Int? {
        try text("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'").flatMap { Int($0) }
    }
}
