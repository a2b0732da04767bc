// Owns the tests of errors as text.

import Glibc
import RivuletEventLoop
import Testing

@Suite struct LoopErrorTests {
    @Test func `an error reads as call, name and message`() {
        let error = LoopError(call: "bind 127.0.0.1:80", code: -EACCES)
        #expect("\(error)" == "bind 127.0.0.1:80: EACCES permission denied")
        #expect(!error.isAddressInUse)
    }
}
