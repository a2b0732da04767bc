import RivuletAccess
import RivuletBase
import RivuletJSON

/// The description of several issuers, with the names of their key files.
///
/// ```json
/// {"issuers": [{"issuer": "https://login.example.com", "jwks": "https://login.example.com/jwks.json",
///               "audiences": ["https://api.example.com"], "types": ["JWT"], "rolesClaim": "realm_access.roles"},
///              {"issuer": "backend", "keyFile": "backend.pem", "algorithm": "ES256", "lifetime": 600}]}
/// ```
///
/// The reader opens no file: it returns descriptions.
package struct IssuerFile: Sendable {
    /// The most bytes of the document.
    package static let documentBytesMax = 65_536

    /// The source of an issuer's keys.
    package enum KeySource: Sendable, Hashable {
        /// A secret or a PEM document, with its algorithm.
        case keyFile(path: String, SignatureAlgorithm?)
        /// A JSON Web Key Set: a path, or an https URL. RSA keys without `alg` are of the algorithm.
        case keySet(String, SignatureAlgorithm?)
    }

    /// One issuer, without its keys.
    package struct Description: Sendable {
        package let name: String?
        package let audiences: [String]
        package let types: Set<TokenIssuer.TokenType>
        package let source: KeySource
        /// Nil for the claim of the other issuers.
        package let rolesClaim: RolesClaim?
        package let lifetimeSecondsMax: Int

        /// Creates the issuer of these keys.
        package func issuer(keys: KeySet) throws(AuthConfigurationError) -> TokenIssuer {
            try TokenIssuer(
                name: name,
                audiences: audiences,
                types: types,
                keys: keys,
                lifetimeSecondsMax: lifetimeSecondsMax,
                rolesClaim: rolesClaim
            )
        }
    }

    /// In the order of the file, at least one.
    package let issuers: [Description]

    /// Reads the document.
    ///
    /// `audiences` are those of an issuer that names none, such as the public URL of the server.
    ///
    /// - Throws: `AuthConfigurationError` with the issuer and the member at fault.
    package init(parsing bytes: [UInt8], audiences: [String]) throws(AuthConfigurationError) {
        guard bytes.count <= Self.documentBytesMax else {
            throw .document("The file of issuers has \(bytes.count) bytes. Use at most \(Self.documentBytesMax).")
        }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: bytes)
        } catch {
            let reason = ForeignText.line(error.description)
            throw .document("The file of issuers is not JSON: \(reason). Correct the place.")
        }
        let elements = document["issuers"]?.elements ?? []
        guard document.members?.count == 1, (1...TokenVerifier.issuersMax).contains(elements.count) else {
            let count = TokenVerifier.issuersMax
            throw .document("The file of issuers needs an object with 1 to \(count) objects as \"issuers\" alone.")
        }
        var issuers: [Description] = []
        for (index, element) in elements.enumerated() {
            issuers.append(try Description(element, at: index, audiences: audiences))
        }
        self.issuers = issuers
    }
}

extension IssuerFile.Description {
    private static let members = [
        "issuer", "audiences", "types", "keyFile", "jwks", "algorithm", "rolesClaim", "lifetime",
    ]

    fileprivate init(_ value: JSONValue, at index: Int, audiences: [String]) throws(AuthConfigurationError) {
        let label = value["issuer"]?.stringValue.map(ForeignText.quoted) ?? "at index \(index)"
        func fault(_ text: String) -> AuthConfigurationError {
            .document("The issuer \(label) of the file of issuers \(text)")
        }
        guard let members = value.members else { throw fault("is not an object.") }
        if let other = members.first(where: { member in !Self.members.contains { $0.hasSameBytes(as: member.name) } }) {
            throw fault("has the unknown member \(ForeignText.quoted(other.name)). Remove it.")
        }
        /// A text that is there; nil if the member is missing.
        func text(_ name: String) throws(AuthConfigurationError) -> String? {
            guard let member = value[name] else { return nil }
            guard let text = member.stringValue, !text.isEmpty else { throw fault("needs a text as \"\(name)\".") }
            return text
        }
        func texts(_ name: String) throws(AuthConfigurationError) -> [String]? {
            guard let member = value[name] else { return nil }
            let texts = member.elements?.compactMap(\.stringValue) ?? []
            guard !texts.isEmpty, texts.count == member.elements?.count else {
                throw fault("needs an array of texts as \"\(name)\".")
            }
            return texts
        }
        name = try text("issuer")
        self.audiences = try texts("audiences") ?? audiences
        var types: Set<TokenIssuer.TokenType> = []
        for name in try texts("types") ?? [TokenIssuer.TokenType.accessToken.rawValue] {
            guard let type = TokenIssuer.TokenType(rawValue: name) else {
                throw fault("has the unknown type \(ForeignText.quoted(name)). Use at+jwt or JWT.")
            }
            types.insert(type)
        }
        self.types = types
        var algorithm: SignatureAlgorithm?
        if let name = try text("algorithm") {
            algorithm = SignatureAlgorithm(name: name)
            guard algorithm != nil else {
                let known = SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw fault("has the unknown algorithm \(ForeignText.quoted(name)). Use one of \(known).")
            }
        }
        switch (try text("keyFile"), try text("jwks")) {
        case (let path?, nil): source = .keyFile(path: path, algorithm)
        case (nil, let location?):
            guard algorithm == nil || algorithm == .rs256 || algorithm == .ps256 else {
                throw fault("has \"algorithm\" beside \"jwks\": each key names its own. Use RS256, PS256 or none.")
            }
            guard !location.hasPrefix("http:") else { throw fault("has a \"jwks\" without TLS. Use https.") }
            source = .keySet(location, algorithm)
        case (nil, nil), (.some, .some): throw fault("needs one of \"keyFile\" and \"jwks\".")
        }
        let claim = try text("rolesClaim")
        rolesClaim = claim.flatMap(RolesClaim.init)
        guard claim == nil || rolesClaim != nil else {
            throw fault("needs at most \(RolesClaim.bytesMax) bytes as \"rolesClaim\".")
        }
        guard let lifetime = value["lifetime"] else {
            lifetimeSecondsMax = TokenIssuer.defaultLifetimeSecondsMax
            return
        }
        guard let seconds = lifetime.integerValue, (1...TokenIssuer.lifetimeSecondsLimit).contains(seconds) else {
            throw fault("needs 1 to \(TokenIssuer.lifetimeSecondsLimit) seconds as \"lifetime\".")
        }
        lifetimeSecondsMax = seconds
    }
}
