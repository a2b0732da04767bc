// Checks the bytes that a Range field requests.

import RivuletHTTP
import Testing

@Suite struct HTTPByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", 0..<1), ("bytes=0-9", 0..<10), ("bytes=3-", 3..<10), ("bytes=3-100", 3..<10),
        ("bytes=-3", 7..<10),
        ("bytes=-100", 0..<10), ("BYTES=1-2", 1..<3), ("bytes= 1 - 2 ", 1..<3), ("bytes=9-9", 9..<10),
        ("bytes=2-99999999999999999999", 2..<10), ("bytes=-99999999999999999999", 0..<10),
    ])
    func `a single range selects these bytes of ten`(_ field: String, _ range: Range<Int>) {
        #expect(HTTPByteRange(field, length: 10) == .part(range))
    }

    @Test(arguments: ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"])
    func `a range after the end cannot be satisfied`(_ field: String) {
        #expect(HTTPByteRange(field, length: 10) == .unsatisfiable)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=2-1", "bytes=0-1,3-4", "bytes=0-1, 3-4", "lines=0-1",
        "bytes=+1-2", "bytes=1-2-3", "bytes=1 2", "bytes=0x1-2", "bytes=１-2",
    ])
    func `other text than a single range of bytes is ignored`(_ field: String) {
        #expect(HTTPByteRange(field, length: 10) == .whole)
    }

    @Test(arguments: ["bytes=0-0", "bytes=-1", "bytes=0-"])
    func `an empty body has no range`(_ field: String) {
        #expect(HTTPByteRange(field, length: 0) == .unsatisfiable)
    }
}
