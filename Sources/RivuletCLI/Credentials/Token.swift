import ArgumentParser
import RivuletAccess
import RivuletAuth
import RivuletJSON
import RivuletServer
import RivuletStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Makes and reads tokens.
struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a token for a test or a backend, or read one.",
        subcommands: [Make.self, Inspect.self]
    )

    /// Makes a token.
    struct Make: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sign a token, and print it.",
            discussion: """
                The key file is a secret of at least 32 bytes (HS256), or the private key of a pair as PEM, which needs --jwt-alg. The file has \
                mode 0600. A server gets the same secret, or the public key of the pair. The token is the only line on standard output.
                """
        )

        @Option(help: "A secret, or a private key as PEM. (default: RIVULET_JWT_KEY_FILE)")
        var jwtKeyFile: String?

        @Option(help: "The algorithm: HS256, RS256, PS256, ES256, ES384 or EdDSA. PEM needs one.")
        var jwtAlg: String?

        @Option(help: "The claim sub: the name of the caller at its issuer.")
        var subject: String

        @Option(help: "The claim iss. (default: RIVULET_ISSUER, or none)")
        var issuer: String?

        @Option(help: "The claim aud: https://a.example,b. (default: RIVULET_AUDIENCE, or none)")
        var audience: String?

        @Option(help: "The claim roles: reader,editor. (default: none)")
        var roles: String?

        @Option(help: "A file with grants: an array of grants as in a policy, or one. (default: none)")
        var grants: String?

        @Option(help: "The header's kid, for a key set with several keys. (default: none)")
        var keyID: String?

        @Option(help: "The end of the token: a time from now (90s, 15m, 1h, 1d), or a date (2027-01-01T00:00:00Z).")
        var expires = "1h"

        /// The random bytes of a token's id.
        private static let idBytes = 12

        func run() throws {
            let now = Int(WallClock.seconds())
            guard let path = jwtKeyFile ?? Environment.text("JWT_KEY_FILE") else {
                throw ValidationError(
                    "name a secret or a private key with --jwt-key-file FILE, or in RIVULET_JWT_KEY_FILE"
                )
            }
            var draft = TokenDraft(
                subject: subject,
                tokenID: Base64URL.encode((0..<Self.idBytes).map { _ in UInt8.random(in: .min ... .max) }),
                issuedAt: now,
                expires: try Moment.seconds(expires, after: now)
            )
            draft.issuer = issuer ?? Environment.text("ISSUER")
            draft.audiences = DoorOptions.list(audience ?? Environment.text("AUDIENCE"))
            draft.roles = DoorOptions.list(roles)
            draft.grants = try grants.map(GrantFile.read) ?? []
            draft.keyID = keyID
            let file = try CredentialFile(path)
            try file.checkIsPrivate()
            let token: String
            do {
                let algorithm = try CredentialFiles.algorithm(named: jwtAlg ?? Environment.text("JWT_ALG"))
                token = try draft.signed(with: SigningKey(keyFile: file.bytes, algorithm: algorithm))
            } catch let error as AuthConfigurationError {
                throw ServerError("\(path): \(error)")
            }
            if draft.expires - now > TokenIssuer.defaultLifetimeSecondsMax {
                FileDescriptorOutput.standardError.say(
                    "servers take tokens of at most a day, unless the file of issuers (--auth) gives another lifetime\n"
                )
            }
            guard FileDescriptorOutput.standardOutput.write(token + "\n") else {
                throw ServerError("the token could not be printed")
            }
        }
    }

    /// Reads a token.
    struct Inspect: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show a token's header and claims; with the options of a server, say if the server would take it.",
            discussion: """
                Pass the token on standard input, and - as the argument: other users of the machine can read arguments. Neither the token nor \
                a part of its signature is printed. Exits with 1 if the server would refuse the token. Revocations are not known here.
                """
        )

        @OptionGroup(title: "Credentials") var credentials: CredentialOptions

        @Option(help: "The server's address, which is the default audience of a key set. (default: none)")
        var publicURL: String?

        // Several words are taken, so that no error of the parser shows one of them.
        @Argument(help: "- for standard input, or the token.")
        var token: [String]

        func run() throws {
            guard token.count == 1, let word = token.first else {
                throw ValidationError("give one token, or - for standard input")
            }
            var options = ServerOptions(publicURL: publicURL ?? Environment.text("PUBLIC_URL"))
            try credentials.apply(to: &options)
            let text = try word == "-" ? Self.standardInput() : word
            let credential = try Self.credential(in: text)
            let now = Int(WallClock.seconds())
            do throws(CredentialError) {
                for line in try Self.lines(of: credential, at: now) { print(line) }
            } catch {
                print("refused (\(error.reason)): \(error)")
                throw ExitCode.failure
            }
            guard let files = options.credentials else {
                return print("not verified: give a server's keys with --jwt-key-file, --jwks, --auth or --api-keys")
            }
            let authenticator = try files.authenticator(keySource: options.keySource)
            do throws(CredentialError) {
                let identity = try authenticator.identify(credential, at: now)
                print("grants")
                for grant in identity.sources { print("  \(ForeignText.visible(grant.json.description))") }
                if identity.sources.isEmpty { print("  none") }
                print("accepted: a server with these options takes it\(Self.end(of: identity, at: now))")
            } catch {
                print("refused (\(error.reason)): \(error)")
                throw ExitCode.failure
            }
        }

        /// The readable parts of a token, or the id of an API key.
        private static func lines(of credential: [UInt8], at now: Int) throws(CredentialError) -> [String] {
            guard !APIKey.isBeginning(of: credential) else { return ["API key \(try APIKey(parsing: credential).id)"] }
            return try TokenText.lines(of: CompactToken(parsing: credential[...]), at: now)
        }

        private static func end(of identity: Identity, at now: Int) -> String {
            guard let expires = identity.principal?.expires else { return ", without an end" }
            return " until \(Moment.date(expires)), \(Moment.distance(of: expires, from: now))"
        }

        /// The most bytes of standard input: a token with spaces around it.
        private static let inputBytesMax = 16_384

        private static func standardInput() throws -> String {
            var bytes: [UInt8] = []
            var block = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = unsafe read(STDIN_FILENO, &block, block.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else {
                    let code = errno
                    let reason = unsafe String(cString: strerror(code))
                    throw ServerError("cannot read standard input: \(reason) (errno \(code)); pass a token there")
                }
                guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
                bytes += block[..<count]
                guard bytes.count <= inputBytesMax else {
                    throw ValidationError("standard input has more than \(inputBytesMax) bytes; give one token")
                }
            }
        }

        /// The credential without spaces around it and without `Bearer` before it.
        private static func credential(in text: String) throws -> [UInt8] {
            var words = text.split { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\r\n" || $0 == "\r" }
            if words.count == 2, words[0].lowercased() == "bearer" { words.removeFirst() }
            guard words.count == 1, let word = words.first else {
                throw ValidationError(
                    "found \(words.count) words and need one token, as in: rivulet token inspect - < FILE"
                )
            }
            return Array(word.utf8)
        }
    }
}
