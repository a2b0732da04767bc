/// The fields `Accept` and `Accept-Encoding`, each as one list (`HTTPHeaders.list(of:)`).
///
/// Source: RFC 9110 sections 12.4.2, 12.5.1 and 12.5.3.
package enum HTTPAccept {
    /// Returns true if a media type such as `text/event-stream` is acceptable; without the field, every type is.
    package static func accepts(type: String, in field: String?) -> Bool {
        // Nearly all clients that want a certain type send only this type.
        field == type || quality(ofType: type, in: field) > 0
    }

    /// Returns the type in `types` that the client prefers; nil if it accepts none.
    ///
    /// Of types that the client prefers equally, the first type in `types` is returned.
    package static func preferredType(of types: [String], in field: String?) -> String? {
        var best: (type: String, quality: Int)?
        for type in types {
            let quality = quality(ofType: type, in: field)
            if quality > best?.quality ?? 0 { best = (type, quality) }
        }
        return best?.type
    }

    /// Returns true if a content coding such as `gzip` is preferred at least as much as no coding.
    ///
    /// Without the field, the result is false.
    package static func accepts(encoding: String, in field: String?) -> Bool {
        guard let field else { return false }
        let wanted = quality(of: [encoding, "*"], in: field) ?? 0
        return wanted > 0 && wanted >= quality(of: ["identity"], in: field) ?? 0
    }

    /// Returns true if the field refuses a content coding such as `identity`, by its name or by `*`.
    package static func refuses(encoding: String, in field: String?) -> Bool {
        guard let field else { return false }
        return quality(of: [encoding, "*"], in: field) == 0
    }

    /// Returns the quality of a media type, in thousandths; the most specific range that covers it decides.
    private static func quality(ofType type: String, in field: String?) -> Int {
        guard let field, field.contains(where: { $0 != " " && $0 != "\t" }) else { return 1_000 }
        let family = type.prefix { $0 != "/" } + "/*"
        return quality(of: [type, String(family), "*/*"], in: field) ?? 0
    }

    /// Returns the quality of the first of `names` that the field has, in thousandths; nil if it has none of them.
    ///
    /// Parameters of a range other than its weight are ignored.
    private static func quality(of names: [String], in field: String) -> Int? {
        var best: (rank: Int, quality: Int)?
        for item in field.parts(between: UInt8(ascii: ",")) {
            let parts = item.parts(between: UInt8(ascii: ";")).map { part in
                part.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            let rank = parts.first.flatMap { names.firstIndex(of: $0) } ?? .max
            guard rank < best?.rank ?? .max else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            best = (rank, weight.map(thousandths) ?? 1_000)
        }
        return best?.quality
    }

    /// Parses a weight from 0 to 1 with at most three decimals; any other text has the weight 0.
    private static func thousandths(_ weight: Substring) -> Int {
        let digits = Array(weight.utf8)
        guard let whole = digits.first, whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else { return 0 }
        guard digits.count > 1 else { return whole == UInt8(ascii: "1") ? 1_000 : 0 }
        let decimals = digits.dropFirst(2)
        guard digits[1] == UInt8(ascii: "."), decimals.count <= 3, decimals.allSatisfy(ASCII.isDigit) else { return 0 }
        let fraction = zip(decimals, [100, 10, 1]).reduce(0) { $0 + Int($1.0 - UInt8(ascii: "0")) * $1.1 }
        return whole == UInt8(ascii: "0") ? fraction : fraction == 0 ? 1_000 : 0
    }
}
