public import FoundationEssentials

/// An id that can be a token of a key path.
///
/// Two ids of one collection need different tokens. Strings, all integers and raw-representable types of these conform; a type of
/// one's own conforms by giving its text.
public protocol KeyedID: Hashable, Sendable {
    /// The id as text, unescaped.
    var keyPathToken: String { get }

    /// Reads what `keyPathToken` gives; nil for any other text.
    ///
    /// No initialiser, so that `compactMap(Int.init)` keeps meaning what it did.
    static func from(keyPathToken token: String) -> Self?

    /// Whether an equal id has the same token, byte for byte.
    func isSpelled(like other: Self) -> Bool
}

extension KeyedID {
    /// Compares the tokens.
    public func isSpelled(like other: Self) -> Bool {
        keyPathToken.utf8.elementsEqual(other.keyPathToken.utf8)
    }

    /// Reads a token that is spelled as `keyPathToken` spells it.
    ///
    /// Another spelling, such as that of a UUID in upper case, names nothing.
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
}

extension KeyedID where Self: FixedWidthInteger {
    /// A number is spelled in one way.
    @inlinable
    public func isSpelled(like other: Self) -> Bool { self == other }

    /// The number in decimal digits.
    public var keyPathToken: String { String(self) }

    /// Reads decimal digits; nil when the number does not fit.
    public static func from(keyPathToken token: String) -> Self? { Self(token) }
}

extension UUID: KeyedID {
    /// The form with hyphens, in lower case, as in JSON.
    public var keyPathToken: String { uuidString.lowercased() }

    /// Reads the form with hyphens, in any case.
    public static func from(keyPathToken token: String) -> UUID? { UUID(uuidString: token) }
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

    /// Reads the raw value's token; nil when no value has it.
    public static func from(keyPathToken token: String) -> Self? {
        RawValue.from(keyPathToken: token).flatMap { Self(rawValue: $0) }
    }
}
