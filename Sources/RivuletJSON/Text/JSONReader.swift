/// Reads JSON text value by value, strictly.
///
/// Refused: duplicate keys, more than ``depthMax`` levels, invalid UTF-8, lone surrogates, leading zeros, trailing
/// commas, control characters in strings, byte order marks. Keys that Swift holds equal, by canonical equivalence, count as
/// duplicates.
/// Once a call has thrown, the reader must not be used again; copy it before an attempt that may fail.
/// Source: RFC 8259.
public struct JSONReader: Sendable {
    /// How deep arrays and objects may be nested, in levels.
    public static let depthMax = 128

    /// How many keys of one object are compared one by one before a set takes over.
    private static let listedKeysMax = 16

    /// What happens to keys that the reading type does not know.
    public enum UnknownKeys: Hashable, Sendable {
        /// Their values are checked and skipped.
        case ignore
        /// They are an `unknownKey` error.
        case reject
    }

    /// What ``unknownKey(_:)`` does.
    public var unknownKeys = UnknownKeys.ignore

    /// Whether generated code takes transient fields from the text: false when it comes from disk.
    public var includesTransient = true

    /// The text; `position` is an index into it.
    private(set) var bytes: ArraySlice<UInt8>
    var position: Int

    /// Where the whole text starts, from which errors count.
    let origin: Int

    private let basePointer: String
    private var steps: [Step] = []
    /// The keys met so far in the objects that are open, outermost first.
    private var keys: [String] = []

    /// Where the reader is in one open array or object: the last member or element that it came to.
    private struct Step {
        static let isKey = -1
        static let isBeforeFirst = -2

        var key = ""
        /// The element's index, or one of the constants.
        var index = isBeforeFirst
    }

    /// Creates a reader at the start of the text; `pointer` is put before the places that errors name.
    public init(_ bytes: [UInt8], pointer: String = "") {
        self.init(bytes[...], pointer: pointer)
    }

    /// Creates a reader at the start of the text; `pointer` is put before the places that errors name.
    public init(_ bytes: ArraySlice<UInt8>, pointer: String = "") {
        self.bytes = bytes
        position = bytes.startIndex
        origin = bytes.startIndex
        basePointer = pointer
        skipWhiteSpace()
    }

    /// Checks that the text is one JSON value.
    ///
    /// A reader stops at the first fault, so a mismatch may hide malformed text behind it; this tells which it is.
    /// - Throws: ``JSONError`` whose ``JSONError/isMalformed`` is true.
    public static func validate(_ bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        try reader.skip()
        try reader.finish()
    }

    /// The fault to tell of a text whose reading ended with an error: malformed text behind its place is the graver one.
    package static func gravestFault(of bytes: [UInt8], after error: JSONError) -> JSONError {
        guard !error.isMalformed else { return error }
        do throws(JSONError) { try validate(bytes) } catch let graver { return graver }
        return error
    }

    /// The JSON Pointer of the value being read.
    public var pointer: String {
        var text = basePointer
        for step in steps {
            switch step.index {
            case Step.isBeforeFirst: break
            case Step.isKey: text += "/" + JSONPointer.escape(step.key)
            default: text += "/\(step.index)"
            }
        }
        return text
    }

    /// The place in the text, in bytes from its start: before a value is read, its first byte.
    public var offset: Int { position - origin }

    /// The kind of the next value, which stays unread.
    ///
    /// - Throws: `malformed` when no value follows.
    public func peek() throws(JSONError) -> JSONKind {
        let next = afterWhiteSpace(position)
        switch next < bytes.endIndex ? bytes[next] : 0 {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw unexpected("a value", at: next)
        }
    }

    /// Reads an object, calling `body` for every member in the text's order.
    ///
    /// `body` reads the member's value, one; a value that it leaves unread is skipped.
    public mutating func object(
        _ body: (_ key: String, _ reader: inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        try open(.object)
        let level = steps.count - 1
        let firstKey = keys.count
        var manyKeys = Set<String>()
        var isFirst = true
        while try continues(until: UInt8(ascii: "}"), isFirst: isFirst) {
            isFirst = false
            guard position < bytes.endIndex, bytes[position] == UInt8(ascii: "\"") else {
                throw unexpected("a key in quotes", at: position)
            }
            let keyPosition = position
            let key = try scanString()
            steps[level] = Step(key: key, index: Step.isKey)
            guard claim(key, from: firstKey, manyKeys: &manyKeys) else {
                throw error(.duplicateKey, "the key \"\(key)\" is there twice", at: keyPosition)
            }
            skipWhiteSpace()
            guard position < bytes.endIndex, bytes[position] == UInt8(ascii: ":") else {
                throw unexpected("\":\"", at: position)
            }
            position += 1
            skipWhiteSpace()
            let start = position
            try body(key, &self)
            if position == start { try skip() }
        }
        keys.removeLast(keys.count - firstKey)
        steps.removeLast()
    }

    /// Reads an object with one member: its key, and a reader of its value alone; nil, with nothing read, for anything else.
    ///
    /// The errors of ``object(_:)`` tell what it is then.
    package mutating func soleMember() throws(JSONError) -> (key: String, value: JSONReader)? {
        guard try peek() == .object else { return nil }
        let (start, outerSteps) = (position, steps)
        try open(.object)
        skipWhiteSpace()
        if position < bytes.endIndex, bytes[position] == UInt8(ascii: "\"") {
            let key = try scanString()
            steps[steps.count - 1] = Step(key: key, index: Step.isKey)
            skipWhiteSpace()
            if position < bytes.endIndex, bytes[position] == UInt8(ascii: ":") {
                position += 1
                let value = try value()
                skipWhiteSpace()
                if position < bytes.endIndex, bytes[position] == UInt8(ascii: "}") {
                    position += 1
                    steps = outerSteps
                    return (key, value)
                }
            }
        }
        position = start
        steps = outerSteps
        return nil
    }

    /// Whether the next value, which is well-formed and stays unread, is an object without members.
    package var isEmptyObject: Bool {
        let start = afterWhiteSpace(position)
        guard start < bytes.endIndex, bytes[start] == UInt8(ascii: "{") else { return false }
        let next = afterWhiteSpace(start + 1)
        return next < bytes.endIndex && bytes[next] == UInt8(ascii: "}")
    }

    /// Reads an array, calling `body` for every element in order.
    ///
    /// `body` reads the element, one value; an element that it leaves unread is skipped.
    public mutating func array(
        _ body: (_ index: Int, _ reader: inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        try open(.array)
        let level = steps.count - 1
        var index = 0
        while try continues(until: UInt8(ascii: "]"), isFirst: index == 0) {
            steps[level].index = index
            let start = position
            try body(index, &self)
            if position == start { try skip() }
            index += 1
        }
        steps.removeLast()
    }

    /// Checks one value of any kind and goes past it.
    public mutating func skip() throws(JSONError) {
        switch try peek() {
        case .null: try null()
        case .bool: _ = try bool()
        case .number: try skipNumber()
        case .string: _ = try string()
        case .array: try array { (_, reader) throws(JSONError) in try reader.skip() }
        case .object: try object { (_, reader) throws(JSONError) in try reader.skip() }
        }
    }

    /// Checks one value and returns its bytes as they stand in the text.
    public mutating func capture() throws(JSONError) -> [UInt8] {
        skipWhiteSpace()
        let start = position
        try skip()
        return Array(bytes[start..<position])
    }

    /// Checks one value, goes past it, and returns a reader of that value alone.
    ///
    /// It names the same places as this one, and copies no text.
    public mutating func value() throws(JSONError) -> JSONReader {
        skipWhiteSpace()
        let start = position
        try skip()
        // Copied after it is skipped, for what is shared has to be copied when it changes.
        var reader = self
        reader.position = start
        reader.bytes = bytes[start..<position]
        return reader
    }

    /// Deals with the value of a key that nobody knows: skips it, or refuses the key, as ``unknownKeys`` says.
    ///
    /// - Throws: `unknownKey`, or an error of the skipped value.
    public mutating func unknownKey(_ key: String) throws(JSONError) {
        switch unknownKeys {
        case .ignore: try skip()
        case .reject: throw error(.unknownKey, "the key \"\(key)\" is not known here")
        }
    }

    /// Ends the reading: only white space may follow.
    ///
    /// - Throws: `malformed` when something else follows.
    public mutating func finish() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.endIndex else { throw unexpected("nothing more", at: position) }
    }

    // MARK: - Structure

    private mutating func open(_ kind: JSONKind) throws(JSONError) {
        guard try peek() == kind else { throw mismatch(kind.article) }
        skipWhiteSpace()
        guard steps.count < Self.depthMax else {
            throw error(.tooDeep, "arrays and objects are nested deeper than \(Self.depthMax) levels", at: position)
        }
        position += 1
        steps.append(Step())
    }

    /// Whether another member or element follows; goes past the comma before it, or past the closing bracket.
    private mutating func continues(until closing: UInt8, isFirst: Bool) throws(JSONError) -> Bool {
        skipWhiteSpace()
        let byte = position < bytes.endIndex ? bytes[position] : 0
        if byte == closing {
            position += 1
            return false
        }
        guard !isFirst else { return true }
        guard byte == UInt8(ascii: ",") else {
            throw unexpected(closing == UInt8(ascii: "}") ? "\",\" or \"}\"" : "\",\" or \"]\"", at: position)
        }
        position += 1
        skipWhiteSpace()
        return true
    }

    /// Notes a key of the innermost object; false when it was there before.
    private mutating func claim(_ key: String, from firstKey: Int, manyKeys: inout Set<String>) -> Bool {
        if keys.count - firstKey < Self.listedKeysMax {
            for index in firstKey..<keys.count where keys[index] == key { return false }
            keys.append(key)
            return true
        }
        if manyKeys.isEmpty { manyKeys.formUnion(keys[firstKey...]) }
        return manyKeys.insert(key).inserted
    }

    mutating func skipWhiteSpace() {
        position = afterWhiteSpace(position)
    }

    private func afterWhiteSpace(_ start: Int) -> Int {
        var index = start
        while index < bytes.endIndex {
            switch bytes[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            default: return index
            }
        }
        return index
    }
}
