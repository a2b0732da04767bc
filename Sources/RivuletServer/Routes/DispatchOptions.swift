import RivuletAccess
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The options of a dispatch, for its handling and its answer.
///
/// Source: <Documentation/HTTP.md#dispatch>.
struct DispatchOptions: Sendable {
    /// The caller to which a session counts that the dispatch creates; nil without limits.
    ///
    /// It is beside the flags, so that the options stay within 64 bytes and are copied without a call.
    var creator: LimitKey?
    let isStrict: Bool
    /// True if the answer is to leave out the changes.
    let isMinimal: Bool
    let expected: [Cursor]
    /// The client's idempotency key.
    let key: String?
    /// The caller with its permissions; nil on a server that asks for no credentials.
    let sender: DispatchSender?
    /// The action and options of the request, without its body; an idempotency key is valid for one action and body
    /// only.
    ///
    /// The answer has the part of the state that the caller may read, so the name of this part is an option too: a
    /// credential of the same caller that grants less gets no answer of the wider one.
    private var action: String {
        let mask = sender.map { $0.reads.isAll ? "" : " mask=\($0.reads.name)" } ?? ""
        return "\(name) strict=\(isStrict)\(mask)"
    }
    /// The action without the options.
    private let name: String

    /// Reads the query and the header fields.
    ///
    /// `known` are further query parameters of the resource; `action` contains their values.
    ///
    /// - Throws: 400 for an unknown query parameter, or a parameter or field that is malformed.
    init(_ request: borrowing HTTPRequest, _ permit: Permit, action: String, known: [String] = []) throws(Problem) {
        isStrict = try Query(request, known: known.isEmpty ? Self.known : Self.known + known).flag("strict")
        expected = try ExpectedCursors.parse(request.tags("if-match"))
        isMinimal = HTTPPreferences(request.headers.list(of: "prefer")).wantsMinimal
        key = try request.headers.list(of: "idempotency-key").map { (field) throws(Problem) in try Self.key(field) }
        name = action
        sender = permit.sender
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

    /// The sessions to which the request may dispatch: a caller that may create none needs a stored one.
    var scope: SessionScope { sender?.mayCreate == false ? .stored : .usable }

    /// The reservation of the request; nil if it has no key.
    func reservation(body: [UInt8], _ fingerprints: RequestFingerprints) -> IdempotencyReservation? {
        key.map { key in
            reservation(key, body, fingerprints) { [isMinimal] answer in
                RecordedResponse(answer, isMinimal: isMinimal).bytes
            }
        }
    }

    /// The reservation of one line of the request, counted from 1; nil if the request has no key.
    func reservation(line: Int, body: [UInt8], _ fingerprints: RequestFingerprints) -> IdempotencyReservation? {
        key.map { key in
            // A client's key cannot contain a line feed, so no other key equals this one.
            reservation("\(key)\n\(line)", body, fingerprints) { [isMinimal] answer in
                isMinimal ? answer.minimalJSON : answer.json
            }
        }
    }

    private func reservation(
        _ key: String,
        _ body: [UInt8],
        _ fingerprints: RequestFingerprints,
        render: @escaping @Sendable (DispatchAnswer) -> [UInt8]
    ) -> IdempotencyReservation {
        IdempotencyReservation(
            key: scoped(key),
            name: key,
            fingerprint: fingerprints.fingerprint(of: action, body),
            isOfThis: { [action] in fingerprints.mayBe($0, of: action, body) },
            render: render
        )
    }

    /// The key with the caller's name before it, so that no caller gets the answer to another caller's request.
    ///
    /// A key without a caller does not begin with a line feed.
    private func scoped(_ key: String) -> String { sender?.caller.me.map { "\n\($0)\n\(key)" } ?? key }

    /// The field that names the applied preference.
    static let minimalApplied = HTTPField("Preference-Applied", "return=minimal")
}

/// The cursors of an `If-Match` field.
///
/// Source: <Documentation/HTTP.md#dispatch>, RFC 9110 §13.1.1.
enum ExpectedCursors {
    /// Returns the cursors of the condition, at least one of which must match; empty if there is no condition.
    ///
    /// `*` sets no condition. A tag without a cursor never matches. The tag of a past version stands for that version;
    /// its hash is not compared.
    ///
    /// - Throws: 400 for a field that is not a list of entity tags, or has no tag.
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
