import Crypto
package import RivuletAccess
import RivuletBase
package import RivuletJSON

/// The file of API keys: their hashes, grants and expiry.
///
/// Secrets are not in it.
///
/// ```json
/// {"keys": [{"id": "7m2k9xq4", "name": "billing", "sha256": "630dcd29…", "grants": […],
///            "expires": "2027-01-01T00:00:00Z"}]}
/// ```
///
/// `name` and `expires` may be missing. The file is read and written as a whole; the edits are pure.
package struct APIKeyFile: Sendable {
    /// The most bytes of the file.
    package static let documentBytesMax = 1_048_576
    /// The most keys of the file.
    package static let keysMax = 1_024
    /// The most bytes of a name.
    package static let nameBytesMax = 255

    /// One key, without its secret.
    package struct Record: Sendable {
        package let id: String
        package let name: String?
        package let grants: [Grant]
        /// Seconds since 1970; nil if the key does not expire.
        package let expires: Int?
        let hash: [UInt8]
        /// The grants as they are in the file.
        let grantsJSON: [JSONValue]
    }

    /// In the order of the file.
    package private(set) var records: [Record] = []
    private var positions: [String: Int] = [:]

    /// Creates a file without keys.
    package init() {}

    /// Reads a file.
    ///
    /// - Throws: `AuthConfigurationError` with the key and the member at fault.
    package init(parsing bytes: [UInt8]) throws(AuthConfigurationError) {
        guard bytes.count <= Self.documentBytesMax else {
            throw .document("The file of API keys has \(bytes.count) bytes. Use at most \(Self.documentBytesMax).")
        }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            let reason = ForeignText.line(error.description)
            throw .document("The file of API keys is not JSON: \(reason). Restore the file, or correct the JSON.")
        }
        guard let members = document.members, members.count == 1, let keys = document["keys"]?.elements else {
            throw .document("The file of API keys is not an object with \"keys\" alone. Use rivulet keys add.")
        }
        for (index, key) in keys.enumerated() { try append(Record(key, at: index)) }
    }

    /// Adds a key, and returns it with its text, which is shown once.
    ///
    /// - Throws: `AuthConfigurationError` for a full file, and for a name, grants or an expiry out of their limits.
    package mutating func add(
        name: String?,
        grants: [JSONValue],
        expires: Int?,
        using random: inout some RandomNumberGenerator
    ) throws(AuthConfigurationError) -> APIKey {
        var key = APIKey(using: &random)
        while positions[key.id] != nil { key = APIKey(using: &random) }
        let record = try Record(id: key.id, name: name, expires: expires, hash: Array(key.hash), grants: grants)
        var file = self
        try file.append(record)
        let count = file.bytes.count
        guard count <= Self.documentBytesMax else {
            throw .document(
                "The file of API keys would have \(count) bytes. Use at most \(Self.documentBytesMax): shorten the grants, "
                    + "or remove keys that are not in use."
            )
        }
        self = file
        return key
    }

    /// Removes a key; returns false if the file has none with this id.
    package mutating func remove(id: String) -> Bool {
        guard let position = positions[id] else { return false }
        records.remove(at: position)
        positions = Dictionary(records.enumerated().map { ($1.id, $0) }) { first, _ in first }
        return true
    }

    /// The bytes of the file.
    package var bytes: [UInt8] {
        let keys = JSONValue.array(records.map(\.json))
        return Array((JSONValue.object([.init(name: "keys", value: keys)]).description + "\n").utf8)
    }

    /// Returns the principal of the key with this id; nil if there is none.
    func principal(id: String) -> Principal? { positions[id].map { records[$0].principal } }

    /// Returns the fingerprint of the key with this id; nil if there is none.
    func fingerprint(id: String) -> KeyFingerprint? {
        positions[id].map { KeyFingerprint(of: [records[$0].hash]) }
    }

    /// Verifies an API key; `now` is in seconds since 1970.
    ///
    /// The hashes are compared in constant time. An unknown id is refused without a comparison,
    /// because ids are no secrets.
    package func verify(_ credential: [UInt8], at now: Int) throws(CredentialError) -> Principal {
        let key = try APIKey(parsing: credential)
        guard let record = positions[key.id].map({ records[$0] }) else { throw .apiKeyID(key.id) }
        guard key.hash == record.hash else { throw .apiKeySecret(key.id) }
        if let expires = record.expires, now >= expires { throw .apiKeyExpired(key.id) }
        return record.principal
    }

    private mutating func append(_ record: Record) throws(AuthConfigurationError) {
        let name = ForeignText.quoted(record.id)
        guard records.count < Self.keysMax else {
            throw .apiKey(name: name, "is over the limit of \(Self.keysMax) keys. Remove keys that are not in use.")
        }
        guard positions[record.id] == nil else {
            throw .apiKey(name: name, "is in the file twice. Remove one of the two.")
        }
        positions[record.id] = records.count
        records.append(record)
    }
}

extension APIKeyFile.Record {
    /// The principal of the key.
    fileprivate var principal: Principal {
        Principal(
            subject: Principal.apiKeySubjectPrefix + id,
            issuer: nil,
            credential: .apiKey(id: id),
            issuedAt: nil,
            expires: expires,
            grants: grants,
            claims: claims
        )
    }

    private static let members: Set<String> = ["id", "name", "sha256", "grants", "expires"]

    fileprivate init(_ value: JSONValue, at index: Int) throws(AuthConfigurationError) {
        let label = value["id"]?.stringValue.map(ForeignText.quoted) ?? "at index \(index)"
        guard let members = value.members else { throw .apiKey(name: label, "is not an object. Use rivulet keys add.") }
        if let other = members.first(where: { !Self.members.contains($0.name) }) {
            throw .apiKey(name: label, "has the unknown member \(ForeignText.quoted(other.name)). Remove it.")
        }
        guard let id = value["id"]?.stringValue, APIKey.isID(id.utf8) else {
            throw .apiKey(name: label, "needs 8 characters of a-z and 0-9 as \"id\".")
        }
        let hash = value["sha256"]?.stringValue.flatMap { HexadecimalText.decode($0.utf8) }
        guard let hash, hash.count == SHA256.byteCount else {
            throw .apiKey(name: label, "needs 64 hexadecimal digits in lower case as \"sha256\".")
        }
        guard let grants = value["grants"]?.elements else {
            throw .apiKey(name: label, "needs an array of objects as \"grants\".")
        }
        var expires: Int?
        if let member = value["expires"] {
            guard let time = member.stringValue.flatMap(RFC3339.init(parsing:)) else {
                throw .apiKey(name: label, "needs a time such as \"2027-01-01T00:00:00Z\" as \"expires\".")
            }
            expires = time.seconds
        }
        guard value["name"].map({ $0.stringValue != nil }) != false else {
            throw .apiKey(name: label, "needs a string as \"name\".")
        }
        try self.init(id: id, name: value["name"]?.stringValue, expires: expires, hash: hash, grants: grants)
    }

    /// Checks the limits and the grants.
    fileprivate init(
        id: String,
        name: String?,
        expires: Int?,
        hash: [UInt8],
        grants: [JSONValue]
    ) throws(AuthConfigurationError) {
        let label = ForeignText.quoted(id)
        guard (1...Grant.countMax).contains(grants.count) else {
            throw .apiKey(name: label, "needs 1 to \(Grant.countMax) objects as \"grants\".")
        }
        var read: [Grant] = []
        for (index, grant) in grants.enumerated() {
            do throws(GrantError) {
                read.append(try Grant(grant))
            } catch {
                throw .apiKey(name: label, "has a fault: the grant at index \(index) \(error)")
            }
        }
        (self.id, self.name, self.expires, self.hash) = (id, name, expires, hash)
        (self.grants, grantsJSON) = (read, grants)
        if let name, name.isEmpty || name.utf8.count > APIKeyFile.nameBytesMax {
            throw .apiKey(name: label, "needs 1 to \(APIKeyFile.nameBytesMax) bytes as \"name\".")
        }
        if let name, ForeignText.hasControls(name) {
            throw .apiKey(name: label, "has a control character in its name \(ForeignText.quoted(name)). Remove it.")
        }
        guard expiresText != nil || expires == nil else {
            throw .apiKey(name: label, "expires after the year 9999. Choose an earlier time.")
        }
    }

    private var expiresText: String? { expires.flatMap { RFC3339(seconds: $0, nanoseconds: 0)?.text } }

    /// The record of the file.
    fileprivate var json: JSONValue {
        let optional = [("name", name), ("expires", expiresText)].compactMap { member, text in
            text.map { JSONValue.Member(name: member, value: .string($0)) }
        }
        let hash = JSONValue.string(String(decoding: HexadecimalText.encode(hash), as: UTF8.self))
        return .object(
            [.init(name: "id", value: .string(id)), .init(name: "sha256", value: hash)]
                + optional + [.init(name: "grants", value: .array(grantsJSON))]
        )
    }

    /// The name, if the key has one.
    fileprivate var claims: JSONValue {
        .object(name.map { [.init(name: "name", value: .string($0))] } ?? [])
    }
}
