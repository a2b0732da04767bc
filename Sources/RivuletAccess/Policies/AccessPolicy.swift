import RivuletBase
import RivuletJSON

/// The grants of roles, of all callers with a credential, and of all callers.
///
/// ```json
/// {"roles": {"editor": [{"actions": ["read", "dispatch"], "app": "todos", "sessions": ["*"]}]},
///  "authenticated": [{"actions": ["read"], "app": "todos", "sessions": ["${me}"]}],
///  "anonymous": [{"actions": ["read"], "app": "todos", "sessions": ["home"]}]}
/// ```
///
/// Each member may be missing.
package struct AccessPolicy: Sendable {
    /// The most bytes of the document.
    package static let documentBytesMax = 262_144
    /// The most roles.
    package static let rolesMax = 256
    /// The most bytes of a role's name.
    package static let roleBytesMax = 255

    private let roles: [ByteText: [Grant]]
    /// The grants of every caller with a credential.
    package let authenticated: [Grant]
    /// The grants of every caller.
    package let anonymous: [Grant]

    /// Creates a policy without grants.
    package init() {
        (roles, authenticated, anonymous) = ([:], [], [])
    }

    /// Reads a policy.
    ///
    /// - Throws: `AccessPolicyError` with the place and the fix.
    package init(parsing bytes: [UInt8]) throws(AccessPolicyError) {
        guard bytes.count <= Self.documentBytesMax else {
            throw AccessPolicyError("The policy has \(bytes.count) bytes. Use at most \(Self.documentBytesMax).")
        }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            let reason = ForeignText.line(error.description)
            throw AccessPolicyError("The policy is not JSON: \(reason). Correct the place.")
        }
        try self.init(document)
    }

    private init(_ document: JSONValue) throws(AccessPolicyError) {
        guard let members = document.members else {
            throw AccessPolicyError("The policy is not an object. Use {\"roles\": {…}, \"authenticated\": […]}.")
        }
        let known = ["roles", "authenticated", "anonymous"]
        for member in members where !known.contains(where: { $0.hasSameBytes(as: member.name) }) {
            let name = ForeignText.quoted(member.name)
            throw AccessPolicyError(
                "The policy has the unknown member \(name). Use \"roles\", \"authenticated\" or \"anonymous\"."
            )
        }
        roles = try Self.roles(of: document)
        let empty = JSONValue.array([])
        authenticated = try Self.grants(of: document["authenticated"] ?? empty, at: "\"authenticated\"")
        anonymous = try Self.grants(of: document["anonymous"] ?? empty, at: "\"anonymous\"")
        if let index = anonymous.firstIndex(where: \.needsSubject) {
            throw AccessPolicyError(
                "The policy's grant at index \(index) of \"anonymous\" has ${sub} or ${claim.NAME}, "
                    + "which an anonymous caller does not have. Use ${me}, or move it to \"authenticated\"."
            )
        }
    }

    /// The number of roles.
    package var roleCount: Int { roles.count }

    /// Returns the grants of a caller with a credential, or of an anonymous caller.
    ///
    /// A caller with a credential has the grants of anonymous callers too, because a request without the credential
    /// would have them. Roles are compared by their bytes; a role that the policy does not have grants nothing.
    package func grants(roles named: Set<String>, isAnonymous: Bool) -> [Grant] {
        guard !isAnonymous else { return anonymous }
        return anonymous + authenticated + named.flatMap { roles[ByteText($0)] ?? [] }
    }

    /// Returns the same grants, each with its location in the policy: `"anonymous"`, `"authenticated"`, `the role "a"`.
    package func locatedGrants(roles named: Set<String>, isAnonymous: Bool) -> [(location: String, grant: Grant)] {
        var grants = anonymous.map { ("\"anonymous\"", $0) }
        guard !isAnonymous else { return grants }
        grants += authenticated.map { ("\"authenticated\"", $0) }
        for name in named.sorted() {
            grants += (roles[ByteText(name)] ?? []).map { ("the role \(ForeignText.quoted(name))", $0) }
        }
        return grants
    }

    /// Returns true if the policy has the role.
    package func has(role name: String) -> Bool { roles[ByteText(name)] != nil }

    private static func roles(of document: JSONValue) throws(AccessPolicyError) -> [ByteText: [Grant]] {
        guard let value = document["roles"] else { return [:] }
        guard let members = value.members, members.count <= rolesMax else {
            throw AccessPolicyError("The policy needs an object of at most \(rolesMax) roles as \"roles\".")
        }
        var roles: [ByteText: [Grant]] = [:]
        for member in members {
            let name = ForeignText.quoted(member.name)
            guard (1...roleBytesMax).contains(member.name.utf8.count), !ForeignText.hasControls(member.name) else {
                throw AccessPolicyError(
                    "The policy's role \(name) needs a name of 1 to \(roleBytesMax) bytes without control characters."
                )
            }
            roles[ByteText(member.name)] = try grants(of: member.value, at: "the role \(name)")
        }
        return roles
    }

    private static func grants(of value: JSONValue, at location: String) throws(AccessPolicyError) -> [Grant] {
        guard let elements = value.elements, elements.count <= Grant.countMax else {
            throw AccessPolicyError("The policy needs an array of at most \(Grant.countMax) grants as \(location).")
        }
        var grants: [Grant] = []
        for (index, element) in elements.enumerated() {
            do throws(GrantError) {
                grants.append(try Grant(element))
            } catch {
                throw AccessPolicyError("The policy's grant at index \(index) of \(location) \(error)")
            }
        }
        return grants
    }
}
