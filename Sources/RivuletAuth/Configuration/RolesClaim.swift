import RivuletBase
package import RivuletJSON

/// The claim with the roles of a caller: its name, or a path of names such as `realm_access.roles`.
///
/// A member with the whole name goes before the path, since names such as `https://example.com/roles` have dots. The
/// claim is an array of texts, or one text of words. The words of `scope` are roles too.
package struct RolesClaim: Sendable, Hashable, CustomStringConvertible {
    /// The claim where no other is configured.
    package static let `default` = RolesClaim(name: "roles")
    /// The most bytes of the claim's name.
    package static let bytesMax = 255
    /// The most roles of a caller; the others are ignored.
    package static let rolesMax = 256

    /// The name or the path.
    package let description: String

    private init(name: String) {
        description = name
    }

    /// Creates a claim; nil for an empty name and for one of more than ``bytesMax`` bytes.
    package init?(_ name: String) {
        guard (1...Self.bytesMax).contains(name.utf8.count) else { return nil }
        self.init(name: name)
    }

    /// Returns the roles in verified claims.
    ///
    /// Values of other types are no roles.
    package func roles(of claims: JSONValue) -> Set<String> {
        let named = claims[description] ?? value(of: claims)
        let scopes = claims["scope"]?.stringValue.map(Self.words) ?? []
        return Set((Self.texts(of: named) + scopes).prefix(Self.rolesMax))
    }

    private func value(of claims: JSONValue) -> JSONValue? {
        description.split(separator: ".", omittingEmptySubsequences: false)
            .reduce(claims as JSONValue?) { value, name in value?[String(name)] }
    }

    private static func texts(of value: JSONValue?) -> [String] {
        if let text = value?.stringValue { return words(of: text) }
        return value?.elements?.compactMap(\.stringValue) ?? []
    }

    private static func words(of text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
