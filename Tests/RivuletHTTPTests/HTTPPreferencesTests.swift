// Checks the reading of `Prefer`.

import RivuletHTTP
import Testing

@Suite struct HTTPPreferencesTests {
    @Test(
        arguments: [
            "return=minimal", "Return=minimal", "return = minimal", "return=\"minimal\"", "return=\"mini\\mal\"",
            "respond-async, return=minimal", "respond-async,wait=10 , return=minimal; x=1", ",, return=minimal,",
            "handling=lenient; a=\"b, return=no\", return=minimal", "return=minimal, return=representation",
            "return=minimal;foo", "(, return=minimal",
        ]
    )
    func `a preference is found among others, whatever its spelling`(_ field: String) {
        #expect(HTTPPreferences(field)["return"] == "minimal")
    }

    @Test(
        arguments: [
            "", "return", "return=", "return=representation, return=minimal", "x=\"return=minimal\"",
            "noreturn=minimal",
            "x; return=minimal", "x=\"a, return=minimal", "return=\"minimal",
        ]
    )
    func `a preference that was not requested is not found`(_ field: String) {
        #expect(HTTPPreferences(field)["return"] != "minimal")
    }

    @Test func `a preference without a value has an empty value`() {
        let preferences = HTTPPreferences("respond-async, wait=10")
        #expect(preferences["respond-async"] == "")
        #expect(preferences["wait"] == "10")
        #expect(preferences["return"] == nil)
        #expect(HTTPPreferences(nil)["return"] == nil)
    }
}
