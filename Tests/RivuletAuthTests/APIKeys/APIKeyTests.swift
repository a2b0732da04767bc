import RivuletAccess
import RivuletAuth
import RivuletJSON
import SeededRandom
import Testing

@Suite struct APIKeyTests {
    private static let grants: [JSONValue] = [.object([.init(name: "actions", value: .array([.string("operate")]))])]

    private static func key() -> APIKey {
        var random = SeededGenerator(seed: 1)
        return APIKey(using: &random)
    }

    private static func file(_ document: String) -> String? {
        do throws(AuthConfigurationError) {
            _ = try APIKeyFile(parsing: Array(document.utf8))
            return nil
        } catch {
            return error.description
        }
    }

    private static func refusal(_ file: APIKeyFile, _ key: String, at now: Int = 0) -> CredentialError? {
        do { _ = try file.verify(Array(key.utf8), at: now) } catch { return error }
        return nil
    }

    @Test func `a key has its form, and reads back`() throws {
        let key = Self.key()
        #expect(try #require(key.text.wholeMatch(of: /rvk_([a-z0-9]{8})_[A-Za-z0-9_-]{43}_[0-9a-f]{8}/)).1 == key.id)
        #expect(try APIKey(parsing: Array(key.text.utf8)).text == key.text)
        #expect(APIKey.isBeginning(of: Array(key.text.utf8)))
        #expect(!APIKey.isBeginning(of: Array(try TestIssuer(kind: .hmac).token().utf8)))
        #expect(APIKey().text != APIKey().text)
    }

    @Test func `the checksum is the CRC-32 of all characters before it`() throws {
        // Python: zlib.crc32(b"rvk_7m2k9xq4_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_")
        let text = "rvk_7m2k9xq4_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_421608d8"
        #expect(try APIKey(parsing: Array(text.utf8)).id == "7m2k9xq4")
    }

    @Test func `each change of a character is found by the checksum`() {
        let text = Array(Self.key().text.utf8)
        for position in text.indices {
            for digit in Array("aZ0_-.=".utf8) where digit != text[position] {
                var changed = text
                changed[position] = digit
                #expect(throws: CredentialError.apiKeyForm) { try APIKey(parsing: changed) }
            }
        }
    }

    @Test(arguments: ["", "rvk_", "rvk_a_b_c", "rvk", "Bearer rvk_"])
    func `another form is refused`(_ text: String) {
        #expect(throws: CredentialError.apiKeyForm) { try APIKey(parsing: Array(text.utf8)) }
        #expect(throws: CredentialError.apiKeyForm) {
            try APIKey(parsing: Array((Self.key().text + text + " ").utf8))
        }
    }

    @Test func `no text of a key has its secret`() {
        let key = Self.key()
        var dump = ""
        Swift.dump(key, to: &dump)
        #expect(dump == "- APIKey(\(key.id))\n")
    }

    @Test func `a key that was added is verified, also after the file is written and read`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let first = try file.add(name: "billing", grants: Self.grants, expires: 1_000, using: &random)
        let second = try file.add(name: nil, grants: Self.grants, expires: nil, using: &random)
        let read = try APIKeyFile(parsing: file.bytes)
        #expect(read.bytes == file.bytes)
        #expect(!String(decoding: file.bytes, as: UTF8.self).contains(first.text.dropFirst(13).prefix(43)))
        for file in [file, read] {
            let principal = try file.verify(Array(first.text.utf8), at: 999)
            #expect(principal.subject == "key:\(first.id)")
            #expect(principal.issuer == nil)
            #expect(principal.expires == 1_000)
            #expect(principal.claims["name"]?.stringValue == "billing")
            #expect(principal.grants.map(\.actions) == [[.operate]])
            #expect(Self.refusal(file, first.text, at: 1_000) == .apiKeyExpired(first.id))
            #expect(try file.verify(Array(second.text.utf8), at: .max).expires == nil)
        }
        #expect(read.records.map(\.id) == [first.id, second.id])
        #expect(read.records.map(\.name) == ["billing", nil])
    }

    @Test func `a removed key is refused, and the others stay`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let keys = try (0..<3).map { _ in try file.add(name: nil, grants: Self.grants, expires: nil, using: &random) }
        let (first, last) = (keys[0].text, keys[2].text)
        let removals = [file.remove(id: keys[1].id), file.remove(id: keys[1].id)]
        #expect(removals == [true, false])
        #expect(Self.refusal(file, first) == nil)
        #expect(Self.refusal(file, keys[1].text) == .apiKeyID(keys[1].id))
        #expect(Self.refusal(file, last) == nil)
    }

    @Test func `the secret of another key is refused`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let key = try file.add(name: nil, grants: Self.grants, expires: nil, using: &random)
        var others = SeededGenerator(seed: 2)
        let other = APIKey(using: &others)
        try #require(other.id != key.id)
        // The file gets the first key's record under the other key's id.
        let text = String(decoding: file.bytes, as: UTF8.self).replacing(key.id, with: other.id)
        let changed = try APIKeyFile(parsing: Array(text.utf8))
        #expect(Self.refusal(changed, other.text) == .apiKeySecret(other.id))
        #expect(Self.refusal(changed, key.text) == .apiKeyID(key.id))
    }

    @Test func `a file names the key and the member at fault`() {
        let hash = String(repeating: "0a", count: 32)
        func fault(_ members: String) -> String? { Self.file("{\"keys\":[{\(members)}]}") }
        let right = "\"id\":\"abcdefgh\",\"sha256\":\"\(hash)\",\"grants\":[{\"actions\":[\"operate\"]}]"
        #expect(fault(right) == nil)
        #expect(fault(right + ",\"name\":\"a\",\"expires\":\"2027-01-01T00:00:00Z\"") == nil)
        #expect(fault("") == "The API key at index 0 needs 8 characters of a-z and 0-9 as \"id\".")
        #expect(fault("\"id\":\"ABCDEFGH\"") == "The API key \"ABCDEFGH\" needs 8 characters of a-z and 0-9 as \"id\".")
        let digits = "The API key \"abcdefgh\" needs 64 hexadecimal digits in lower case as \"sha256\"."
        #expect(fault("\"id\":\"abcdefgh\"") == digits)
        #expect(fault("\"id\":\"abcdefgh\",\"sha256\":\"\(hash.uppercased())\"") == digits)
        #expect(fault("\"id\":\"abcdefgh\",\"sha256\":\"\(hash)00\"") == digits)
        #expect(
            fault("\"id\":\"abcdefgh\",\"sha256\":\"\(hash)\"")
                == "The API key \"abcdefgh\" needs an array of objects as \"grants\"."
        )
        let grants = "The API key \"abcdefgh\" needs 1 to 64 objects as \"grants\"."
        #expect(fault("\"id\":\"abcdefgh\",\"sha256\":\"\(hash)\",\"grants\":[]") == grants)
        #expect(
            fault("\"id\":\"abcdefgh\",\"sha256\":\"\(hash)\",\"grants\":[1]")
                == "The API key \"abcdefgh\" has a fault: the grant at index 0 is not an object."
        )
        #expect(
            fault(right + ",\"expires\":1")
                == "The API key \"abcdefgh\" needs a time such as \"2027-01-01T00:00:00Z\" as \"expires\"."
        )
        #expect(fault(right + ",\"name\":1") == "The API key \"abcdefgh\" needs a string as \"name\".")
        #expect(fault(right + ",\"name\":\"\"") == "The API key \"abcdefgh\" needs 1 to 255 bytes as \"name\".")
        #expect(fault(right + ",\"key\":1") == "The API key \"abcdefgh\" has the unknown member \"key\". Remove it.")
        #expect(
            Self.file("{\"keys\":[{\(right)},{\(right)}]}")
                == "The API key \"abcdefgh\" is in the file twice. Remove one of the two."
        )
        #expect(Self.file("{\"keys\":[1]}") == "The API key at index 0 is not an object. Use rivulet keys add.")
        let shape = "The file of API keys is not an object with \"keys\" alone. Use rivulet keys add."
        #expect(Self.file("[]") == shape)
        #expect(Self.file("{\"keys\":[],\"x\":1}") == shape)
        #expect(Self.file("{\"keys\":[]}") == nil)
        #expect(Self.file("{\"keys\":[]")?.hasPrefix("The file of API keys is not JSON: ") == true)
        #expect(
            Self.file(String(repeating: " ", count: 1_048_577))
                == "The file of API keys has 1048577 bytes. Use at most 1048576."
        )
    }

    @Test func `a full file takes no more keys, and names and grants have limits`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        for _ in 0..<APIKeyFile.keysMax {
            _ = try file.add(name: nil, grants: Self.grants, expires: nil, using: &random)
        }
        #expect(throws: AuthConfigurationError.self) {
            try file.add(name: nil, grants: Self.grants, expires: nil, using: &random)
        }
        #expect(file.records.count == APIKeyFile.keysMax)
        var empty = APIKeyFile()
        #expect(throws: AuthConfigurationError.self) {
            try empty.add(name: nil, grants: [], expires: nil, using: &random)
        }
        #expect(throws: AuthConfigurationError.self) {
            try empty.add(name: "", grants: Self.grants, expires: nil, using: &random)
        }
        #expect(throws: AuthConfigurationError.self) {
            try empty.add(name: nil, grants: Self.grants, expires: .max, using: &random)
        }
        #expect(empty.records.isEmpty)
        // A refused key leaves no trace.
        #expect(try APIKeyFile(parsing: empty.bytes).records.isEmpty)
    }

    @Test func `a key that would make the file too large is not added`() throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        let sessions = JSONValue.array((0..<64).map { .string("\($0)" + String(repeating: "a", count: 126)) })
        let grant = JSONValue.object([
            .init(name: "actions", value: .array([.string("read")])), .init(name: "app", value: .string("a")),
            .init(name: "sessions", value: sessions),
        ])
        let grants = Array(repeating: grant, count: 64)
        let key = try file.add(name: nil, grants: grants, expires: nil, using: &random)
        let before = file.bytes
        #expect(before.count > APIKeyFile.documentBytesMax / 2)
        var line: String?
        do throws(AuthConfigurationError) {
            _ = try file.add(name: nil, grants: grants, expires: nil, using: &random)
        } catch {
            line = error.description
        }
        #expect(line?.hasPrefix("The file of API keys would have ") == true)
        let isUnchanged = file.bytes == before
        #expect(isUnchanged)
        #expect(file.records.map(\.id) == [key.id])
        #expect(try APIKeyFile(parsing: file.bytes).records.map(\.id) == [key.id])
        let added = try file.add(name: nil, grants: Self.grants, expires: nil, using: &random)
        #expect(try APIKeyFile(parsing: file.bytes).records.map(\.id) == [key.id, added.id])
    }

    @Test(arguments: ["a\nb", "\u{7F}", "\u{85}", "a\u{202E}b", "\u{2028}", "\u{E0041}"])
    func `a name has no control characters`(_ name: String) throws {
        var (file, random) = (APIKeyFile(), SeededGenerator(seed: 1))
        #expect(throws: AuthConfigurationError.self) {
            try file.add(name: name, grants: Self.grants, expires: nil, using: &random)
        }
        #expect(file.records.isEmpty)
    }
}
