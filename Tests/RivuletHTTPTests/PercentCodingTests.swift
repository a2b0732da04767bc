// Owns the tests of percent coding.

import RivuletHTTP
import Testing

@Suite struct PercentCodingTests {
    @Test func `text is encoded so that it is one segment or value`() {
        #expect(PercentCoding.encoded("a-b._~9/é %?&=+") == "a-b._~9%2F%C3%A9%20%25%3F%26%3D%2B")
    }

    @Test(arguments: ["", "a/b", "é%41", "100% + 1", "\u{0}\u{1F30A}"])
    func `encoded text is decoded to the same text`(text: String) {
        #expect(PercentCoding.decodedString(Array(PercentCoding.encoded(text).utf8)[...]) == text)
        #expect(PercentCoding.decodedFormString(Array(PercentCoding.encoded(text).utf8)[...]) == text)
    }

    @Test func `malformed escapes stay as they are`() {
        #expect(PercentCoding.decodedString(Array("%4%zz%41%".utf8)[...]) == "%4%zzA%")
    }
}
