import RivuletBase
import Testing

@Suite struct Base32Tests {
    /// Source: RFC 4648 section 10.
    @Test(arguments: [
        ("", ""), ("f", "my"), ("fo", "mzxq"), ("foo", "mzxw6"), ("foob", "mzxw6yq"), ("fooba", "mzxw6ytb"),
        ("foobar", "mzxw6ytboi"),
    ])
    func `bytes have the text of the standard, without padding`(_ bytes: String, _ text: String) {
        #expect(Base32.encode(bytes.utf8) == text)
    }
}
