import RivuletBase

/// Reads JSON text value by value, strictly.
///
/// The reader rejects duplicate keys, more than ``depthMax`` levels, invalid UTF-8, lone surrogates and leading zeros.
/// It also rejects trailing commas, control characters in strings, and byte order marks. Keys are the same if their
/// characters have the same code points: `"\u00e9"` and `"e\u0301"` are two keys. For Swift's `String` they are equal,
/// so ``object(_:)`` rejects an object that has both. After a call has thrown, the reader must not be used again. Copy
/// the reader before an attempt that may fail.
/// Source: RFC 8259.
public struct JSONReader: Sendable {
    /// The most levels of nested arrays and objects.
    public static let depthMax = 128

    /// The number of keys of an object that are compared one by one; for more keys, a set is used.
    private static let listedKeysMax = 16

    /// The treatment of keys that are unknown to the type that reads.
    public enum UnknownKeys: Hashable, Sendable {
        /// Their values are checked and skipped.
        case ignore
        /// They are an `unknownKey` error.
        case reject
    }

    /// The behaviour of ``unknownKey(_:)``.
    public var unknownKeys = UnknownKeys.ignore

    /// True if generated code reads transient fields from the text; false for text from disk.
    public var includesTransient = true

    /// The text; `position` is an index into it.
    private(set) var bytes: ArraySlice<UInt8>
    var position: Int
    /// The number of bytes of the text.
    package var byteCount: Int { bytes.count }

    /// The index in `bytes` at which the whole text begins; the offsets of errors are relative to it.
    let origin: Int

    private let basePointer: String
    private var steps: [Step] = []
    /// The keys read so far in the open objects, outermost object first.
    private var keys: [String] = []

    /// The position in an open array or object: the last member or element that the reader reached.
    private struct Step {
        static let isKey = -1
        static let isBeforeFirst = -2

        var key = ""
        /// The element's index, or one of the constants.
        var index = isBeforeFirst
    }

    /// Creates a reader at the start of the text; `pointer` precedes the pointers of errors.
    public init(_ bytes: [UInt8], pointer: String = "") {
        self.init(bytes[...], pointer: pointer)
    }

    /// Creates a reader at the start of the text; `pointer` precedes the pointers of errors.
    public init(_ bytes: ArraySlice<UInt8>, pointer: String = "") {
        self.bytes = bytes
        position = bytes.startIndex
        origin = bytes.startIndex
        basePointer = pointer
        skipWhiteSpace()
    }

    /// Checks that the text is one JSON value.
    ///
    /// A reader stops at the first error, so a mismatch may hide malformed text after it. This function tells the two
    /// cases apart.
    /// - Throws: ``JSONError`` with a true ``JSONError/isMalformed``.
    public static func validate(_ bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        try reader.skip()
        try reader.finish()
    }

    /// Returns the error to report after a read of a text has failed.
    ///
    /// If the text is malformed after that error, the error of the malformed text is returned.
    package static func mostSevereError(of bytes: [UInt8], after error: JSONError) -> JSONError {
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

    /// The position in the text, in bytes from its start.
    ///
    /// Before a value is read, it is the position of the value's first byte.
    public var offset: Int { position - origin }

    /// Returns the kind of the next value, which stays unread.
    ///
    /// - Throws: `malformed` if no value follows.
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

    /// Reads an object and calls `body` for every member in the order of the text.
    ///
    /// `body` reads the member's value, which is one value. A value that `body` leaves unread is skipped.
    /// - Throws: `mismatch` at a key that is another spelling of an earlier key, because a Swift type would keep only
    ///   one of the two.
    public mutating func object(
        _ body: (_ key: String, _ reader: inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        try object(keepsSpellings: false, body)
    }

    /// Reads an object.
    ///
    /// With `keepsSpellings`, two spellings of a key are two keys for `body`.
    package mutating func object(
        keepsSpellings: Bool,
        _ body: (_ key: String, _ reader: inout JSONReader) throws(JSONError) -> Void
    ) throws(JSONError) {
        try open(.object)
        let level = steps.count - 1
        let firstKey = keys.count
        var manyKeys = ManyKeys()
        var isFirst = true
        while try continues(until: UInt8(ascii: "}"), isFirst: isFirst) {
            isFirst = false
            guard position < bytes.endIndex, bytes[position] == UInt8(ascii: "\"") else {
                throw unexpected("a key in quotes", at: position)
            }
            let keyPosition = position
            let key = try scanString()
            steps[level] = Step(key: key, index: Step.isKey)
            if let known = claim(key, from: firstKey, keepsSpellings, &manyKeys) {
                guard known.hasSameBytes(as: key) else {
                    throw error(.mismatch, Self.spelledTwice(key), at: keyPosition)
                }
                throw error(.duplicateKey, "the key \"\(key)\" occurs twice", at: keyPosition)
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

    /// Reads an object with one member, and returns its key and a reader of its value.
    ///
    /// Returns nil and reads nothing if anything else follows. A call of ``object(_:)`` then throws the matching
    /// error.
    package mutating func singleMember() throws(JSONError) -> (key: String, value: JSONReader)? {
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

    /// True if the next value is an object without members.
    ///
    /// The value must be well-formed, and it stays unread.
    package var isEmptyObject: Bool {
        let start = afterWhiteSpace(position)
        guard start < bytes.endIndex, bytes[start] == UInt8(ascii: "{") else { return false }
        let next = afterWhiteSpace(start + 1)
        return next < bytes.endIndex && bytes[next] == UInt8(ascii: "}")
    }

    /// Reads an array and calls `body` for every element in order.
    ///
    /// `body` reads the element, which is one value. An element that `body` leaves unread is skipped.
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

    /// Checks one value of any kind and skips it.
    public mutating func skip() throws(JSONError) {
        switch try peek() {
        case .null: try null()
        case .bool: _ = try bool()
        case .number: try skipNumber()
        case .string: _ = try string()
        case .array: try array { (_, reader) throws(JSONError) in try reader.skip() }
        case .object: try object(keepsSpellings: true) { (_, reader) throws(JSONError) in try reader.skip() }
        }
    }

    /// Checks one value without moving the reader, and checks that no object in it has one key in two spellings.
    func checkSpellings() throws(JSONError) {
        var reader = self
        try reader.readSpellings()
    }

    private mutating func readSpellings() throws(JSONError) {
        switch try peek() {
        case .array: try array { (_, reader) throws(JSONError) in try reader.readSpellings() }
        case .object: try object { (_, reader) throws(JSONError) in try reader.readSpellings() }
        case .null, .bool, .number, .string: try skip()
        }
    }

    /// Checks one value and returns its bytes as they are in the text.
    public mutating func capture() throws(JSONError) -> [UInt8] {
        skipWhiteSpace()
        let start = position
        try skip()
        return Array(bytes[start..<position])
    }

    /// Checks one value, skips it, and returns a reader of that value alone.
    ///
    /// The new reader reports the same positions as this one, and it copies no text.
    public mutating func value() throws(JSONError) -> JSONReader {
        skipWhiteSpace()
        let start = position
        try skip()
        // The reader is made after the skip, because shared storage is copied when it changes.
        return JSONReader(start..<position, of: self)
    }

    /// Makes a reader of a part of a text; without the whole text, it is cheaper than a changed copy.
    private init(_ part: Range<Int>, of whole: borrowing JSONReader) {
        unknownKeys = whole.unknownKeys
        includesTransient = whole.includesTransient
        bytes = whole.bytes[part]
        position = part.lowerBound
        origin = whole.origin
        basePointer = whole.basePointer
        steps = whole.steps
        keys = whole.keys
    }

    /// Handles the value of an unknown key: skips it or rejects the key, as ``unknownKeys`` says.
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
    /// - Throws: `malformed` if anything else follows.
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

    /// Returns true if another member or element follows.
    ///
    /// Skips the comma before it, or the closing bracket.
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

    /// The keys of an object with many keys, compared by their bytes or by Swift's `==`.
    private struct ManyKeys {
        var exact: Set<ByteText> = []
        var spelled: Set<String> = []
    }

    /// Records a key of the innermost object.
    ///
    /// Returns the earlier key that conflicts with it, or nil.
    private mutating func claim(
        _ key: String,
        from firstKey: Int,
        _ keepsSpellings: Bool,
        _ manyKeys: inout ManyKeys
    ) -> String? {
        if keys.count - firstKey < Self.listedKeysMax {
            for known in keys[firstKey...] where keepsSpellings ? known.hasSameBytes(as: key) : known == key {
                return known
            }
            keys.append(key)
            return nil
        }
        if keepsSpellings {
            if manyKeys.exact.isEmpty { manyKeys.exact.formUnion(keys[firstKey...].lazy.map(ByteText.init)) }
            return manyKeys.exact.insert(ByteText(key)).inserted ? nil : key
        }
        if manyKeys.spelled.isEmpty { manyKeys.spelled.formUnion(keys[firstKey...]) }
        let (isNew, known) = manyKeys.spelled.insert(key)
        return isNew ? nil : known
    }

    private static func spelledTwice(_ key: String) -> String {
        "the key \"\(key)\" has two spellings, composed and decomposed, which are the same key here; write it once"
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
