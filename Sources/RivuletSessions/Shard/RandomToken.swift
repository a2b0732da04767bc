/// Makes tokens of `[a-z0-9]` from the system's random numbers, or from a given number.
package enum RandomToken {
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// Returns a token of `count` letters, each worth 5.17 bits.
    package static func make(count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return String(
            decoding: (0..<count).map { _ in letters[Int.random(in: 0..<36, using: &generator)] },
            as: UTF8.self
        )
    }

    /// Returns the token of `count` letters for a number.
    package static func token(of number: UInt64, count: Int) -> String {
        var rest = number
        let bytes = (0..<count).map { _ in
            defer { rest /= 36 }
            return letters[Int(rest % 36)]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a new epoch, 8 letters.
    package static func epoch() -> String { make(count: 8) }

    /// Returns a new incarnation id, 4 letters.
    package static func incarnation() -> String {
        let name = make(count: 4)
        return name == Cursor.logIncarnation ? incarnation() : name
    }

    /// Returns a session id that cannot be guessed: 26 letters, 134 bits.
    package static func sessionID() -> String { make(count: 26) }
}
