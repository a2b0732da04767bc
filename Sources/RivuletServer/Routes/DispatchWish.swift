import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// How a client wants its dispatch handled and answered.
///
/// Source: <Documentation/HTTP.md#dispatch>.
struct DispatchWish: Sendable {
    let isStrict: Bool
    let expected: [Cursor]
    /// Whether the answer is to be without the changes.
    let isMinimal: Bool
    /// The client's idempotency key.
    let key: String?
    /// What the request does, beside its body: a key is good for one such request only.
    private var action: String { "\(name) strict=\(isStrict)" }
    /// The same without the options.
    private let name: String

    /// Reads the query and the header fields; `known` are further query parameters, which the action names.
    ///
    /// - Throws: 400 for one that is malformed or unknown.
    init(_ request: HTTPRequest, action: String, known: [String] = []) throws(Problem) {
        isStrict = try Query(request, known: known.isEmpty ? Self.known : Self.known + known).flag("strict")
        expected = try ExpectedCursors.parse(request.tags("if-match"))
        isMinimal = HTTPPreferences(request.headers.list(of: "prefer")).wantsMinimal
        key = try request.headers.list(of: "idempotency-key").map { (field) throws(Problem) in try Self.key(field) }
        name = action
    }

    private static let known = ["strict"]

    private static func key(_ field: String) throws(Problem) -> String {
        guard let key = HTTPIdempotencyKey(field) else {
            throw Problem(
                .invalidIdempotencyKey,
                "an Idempotency-Key is one string of 1 to \(HTTPIdempotencyKey.bytesMax) printable ASCII characters in quotes, "
                    + "as \"8e03978e-40d5\""
            )
        }
        return key.text
    }

    /// The claim of the request, when it has a key.
    func claim(body: [UInt8], _ prints: RequestPrints) -> IdempotencyClaim? {
        key.map { key in
            claim(key, body, prints) { [isMinimal] answer in KeptResponse(answer, isMinimal: isMinimal).bytes }
        }
    }

    /// The claim of one line of the request, counted from 1, when it has a key.
    func claim(line: Int, body: [UInt8], _ prints: RequestPrints) -> IdempotencyClaim? {
        key.map { key in
            // A line feed cannot be in a client's key, so no other key is like this one.
            claim("\(key)\n\(line)", body, prints) { [isMinimal] answer in
                isMinimal ? answer.minimalJSON : answer.json
            }
        }
    }

    private func claim(
        _ key: String,
        _ body: [UInt8],
        _ prints: RequestPrints,
        render: @escaping @Sendable (DispatchAnswer) -> [UInt8]
    ) -> IdempotencyClaim {
        IdempotencyClaim(
            key: key,
            fingerprint: prints.fingerprint(of: action, body),
            isOfThis: { [action] in prints.mayBe($0, of: action, body) },
            render: render
        )
    }

    /// The field that says which preference was heeded.
    static let minimalApplied = HTTPField("Preference-Applied", "return=minimal")
}

/// The cursors of an `If-Match` field.
///
/// Source: <Documentation/HTTP.md#dispatch>, RFC 9110 §13.1.1.
enum ExpectedCursors {
    /// The cursors that are met by the session's own; empty when there is no condition.
    ///
    /// `*` asks for nothing. A tag that is no cursor of ours is met by none. The tag of a version of the past stands for that version; its hash is not compared.
    ///
    /// - Throws: 400 for a field that has no entity tag at all.
    static func parse(_ field: String?) throws(Problem) -> [Cursor] {
        guard let field, field != "*" else { return [] }
        guard let tags = HTTPEntityTag.list(field), !tags.isEmpty else {
            throw Problem(
                .invalidCondition,
                "If-Match takes a cursor in quotes, as an answer's ETag has it; found \(field)"
            )
        }
        return tags.map { ContentTag.cursor(in: $0[...]) ?? .nowhere }
    }
}
