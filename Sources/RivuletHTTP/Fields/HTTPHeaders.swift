/// The header lines of a request, in the order they were sent.
///
/// All lines share one block of bytes, so a request takes two allocations for any number of headers. Strings are made
/// on demand. Names are in lower case.
package struct HTTPHeaders: Sendable {
    /// The position of one line in the block.
    struct Line: Sendable {
        var nameStart: UInt16
        var nameCount: UInt16
        var valueStart: UInt16
        var valueCount: UInt16

        var name: Range<Int> { Int(nameStart)..<Int(nameStart) + Int(nameCount) }
        var value: Range<Int> { Int(valueStart)..<Int(valueStart) + Int(valueCount) }
    }

    /// The head as it was sent, except that header names are in lower case.
    let block: [UInt8]
    private let lines: [Line]

    init(block: [UInt8], lines: [Line]) {
        self.block = block
        self.lines = lines
    }

    /// The number of header lines.
    package var count: Int { lines.count }

    /// The value of the first line called `name`, without the white space around it.
    ///
    /// `name` must be in lower case. Bytes that are not UTF-8 are replaced.
    package subscript(name: String) -> String? {
        firstLine(called: name).map { String(decoding: block[$0.value], as: UTF8.self) }
    }

    /// Returns the bytes of the first value called `name` (in lower case).
    package func bytes(of name: String) -> ArraySlice<UInt8>? {
        firstLine(called: name).map { block[$0.value] }
    }

    /// Returns true if the first line called `name` (in lower case) has exactly this value; allocates no string.
    package func has(_ name: String, _ value: String) -> Bool {
        firstLine(called: name).map { ASCII.isEqual(block, $0.value, value) } ?? false
    }

    /// Returns true if exactly one line is called `name` (in lower case), with exactly these bytes as its value.
    package func isOnly(_ name: String, _ value: [UInt8]) -> Bool {
        var isFound = false
        let count = name.utf8.count
        for line in lines where Int(line.nameCount) == count && isLine(line, called: name) {
            guard !isFound, block.span.extracting(line.value).hasManyBytes(of: value.span) else { return false }
            isFound = true
        }
        return isFound
    }

    /// Returns true if there is a line called `name` (in lower case).
    package func contains(_ name: String) -> Bool { firstLine(called: name) != nil }

    /// Returns the values of all lines called `name` (in lower case), in order.
    package func values(of name: String) -> [String] {
        lines.filter { isLine($0, called: name) }.map { String(decoding: block[$0.value], as: UTF8.self) }
    }

    /// Returns the values of all lines called `name` as one list, joined by ", ".
    ///
    /// Source: RFC 9110 section 5.3.
    package func list(of name: String) -> String? {
        guard let first = self[name] else { return nil }
        let all = values(of: name)
        return all.count == 1 ? first : all.joined(separator: ", ")
    }

    /// All lines as (lower-case name, value), in the order they were sent.
    package var all: [(name: String, value: String)] {
        lines.map { line in
            (String(decoding: block[line.name], as: UTF8.self), String(decoding: block[line.value], as: UTF8.self))
        }
    }

    /// Returns the head of the request without the lines of some names (in lower case), and with further fields.
    func head(without names: Set<String>, adding fields: [HTTPField]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(block.count + 128)
        bytes += block.prefix { $0 != ASCII.carriageReturn }
        bytes += "\r\n".utf8
        for line in lines where !names.contains(String(decoding: block[line.name], as: UTF8.self)) {
            bytes += block[line.name]
            bytes += ": ".utf8
            bytes += block[line.value]
            bytes += "\r\n".utf8
        }
        for field in fields { bytes += "\(field.name): \(field.value)\r\n".utf8 }
        return bytes + "\r\n".utf8
    }

    private func firstLine(called name: String) -> Line? {
        // Most requested names are missing, and differ in length from the existing names.
        let count = name.utf8.count
        for line in lines where Int(line.nameCount) == count && isLine(line, called: name) { return line }
        return nil
    }

    private func isLine(_ line: Line, called name: String) -> Bool {
        ASCII.isEqual(block, line.name, name)
    }
}
