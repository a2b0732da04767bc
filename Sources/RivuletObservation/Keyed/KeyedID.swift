public import FoundationEssentials
import RivuletBase

/// An id that can be a token of a key path.
///
/// Two ids are the same if their tokens have the same bytes. The character `é` as one code point and as two code points
/// are therefore two ids. `String`, `UUID` and the integer types conform. A type with such a raw value needs only the
/// declaration of the conformance. Any other type implements `keyPathToken` and `from(keyPathToken:)`.
public protocol KeyedID: Hashable, Sendable {
    /// The id as text, unescaped.
    var keyPathToken: String { get }

    /// Returns the id with this token; nil for any other text.
    ///
    /// This is no initialiser, so that `compactMap(Int.init)` keeps its meaning.
    static func from(keyPathToken token: String) -> Self?

    /// Returns true if both ids have the same token, byte for byte, and so are the same id.
    func isSpelled(like other: Self) -> Bool

    /// Hashes the bytes of the token.
    func hashSpelling(into hasher: inout Hasher)

    /// True if a URL can carry the token, because it has no NUL.
    var isAddressable: Bool { get }
}

extension KeyedID {
    /// Compares the tokens.
    public func isSpelled(like other: Self) -> Bool { keyPathToken.hasSameBytes(as: other.keyPathToken) }

    /// Hashes the bytes of the token.
    public func hashSpelling(into hasher: inout Hasher) { keyPathToken.hashBytes(into: &hasher) }

    /// Looks for a NUL in the token.
    public var isAddressable: Bool { !keyPathToken.utf8.contains(0) }

    /// Reads a token that is spelled as `keyPathToken` spells it.
    ///
    /// Another spelling, such as a UUID in upper case, names no element.
    package static func from(exactKeyPathToken token: String) -> Self? {
        guard let id = from(keyPathToken: token), id.keyPathToken.utf8.elementsEqual(token.utf8) else { return nil }
        return id
    }
}

extension String: KeyedID {
    /// The string itself.
    public var keyPathToken: String { self }

    /// Takes any string.
    public static func from(keyPathToken token: String) -> String? { token }

    /// Compares the bytes.
    public func isSpelled(like other: String) -> Bool { hasSameBytes(as: other) }

    /// Hashes the bytes.
    public func hashSpelling(into hasher: inout Hasher) { hashBytes(into: &hasher) }
}

extension KeyedID where Self: FixedWidthInteger {
    /// Compares the numbers: a number has only one spelling.
    @inlinable
    public func isSpelled(like other: Self) -> Bool { self == other }

    /// Hashes the number.
    @inlinable
    public func hashSpelling(into hasher: inout Hasher) { hasher.combine(self) }

    /// Always true: digits have no NUL.
    @inlinable public var isAddressable: Bool { true }

    /// The number in decimal digits.
    public var keyPathToken: String { String(self) }

    /// Reads decimal digits; nil if the number does not fit.
    public static func from(keyPathToken token: String) -> Self? { Self(token) }
}

extension UUID: KeyedID {
    /// The form with hyphens, in lower case, as in JSON.
    public var keyPathToken: String { uuidString.lowercased() }

    /// Reads the form with hyphens, in any case.
    public static func from(keyPathToken token: String) -> UUID? { UUID(uuidString: token) }

    /// Compares the UUIDs: a UUID has only one spelling.
    public func isSpelled(like other: UUID) -> Bool { self == other }

    /// Hashes the UUID.
    public func hashSpelling(into hasher: inout Hasher) { hasher.combine(self) }
}

extension Int: KeyedID {}
extension Int8: KeyedID {}
extension Int16: KeyedID {}
extension Int32: KeyedID {}
extension Int64: KeyedID {}
extension Int128: KeyedID {}
extension UInt: KeyedID {}
extension UInt8: KeyedID {}
extension UInt16: KeyedID {}
extension UInt32: KeyedID {}
extension UInt64: KeyedID {}
extension UInt128: KeyedID {}

extension KeyedID where Self: RawRepresentable, RawValue: KeyedID {
    /// The raw value's token.
    public var keyPathToken: String { rawValue.keyPathToken }

    /// Reads the raw value's token; nil if no value has it.
    public static func from(keyPathToken token: String) -> Self? {
        RawValue.from(keyPathToken: token).flatMap { Self(rawValue: $0) }
    }

    /// Compares the raw values.
    public func isSpelled(like other: Self) -> Bool { rawValue.isSpelled(like: other.rawValue) }

    /// Hashes the raw value.
    public func hashSpelling(into hasher: inout Hasher) { rawValue.hashSpelling(into: &hasher) }
}

/// An id as a dictionary key, compared by the bytes of its token.
@usableFromInline
struct KeyedKey<ID: KeyedID>: Hashable, Sendable {
    @usableFromInline let id: ID

    @inlinable
    init(_ id: ID) {
        self.id = id
    }

    @inlinable
    static func == (left: KeyedKey, right: KeyedKey) -> Bool { left.id.isSpelled(like: right.id) }

    @inlinable
    func hash(into hasher: inout Hasher) { id.hashSpelling(into: &hasher) }
}
