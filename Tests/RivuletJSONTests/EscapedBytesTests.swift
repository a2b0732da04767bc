// Checks that the bytes that a JSON string must escape are found, eight bytes at once or one by one.

import SeededRandom
import Testing

@testable import RivuletJSON

@Suite struct EscapedBytesTests {
    private func firstOneByOne(_ bytes: [UInt8], from start: Int) -> Int {
        bytes[start...].firstIndex { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") } ?? bytes.count
    }

    @Test(arguments: [0x00, 0x1F, 0x22, 0x5C] as [UInt8])
    func `a byte to escape is found at any position, among any other bytes`(byte: UInt8) {
        for count in 1...20 {
            for position in 0..<count {
                for other in [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F, 0x80, 0xA2, 0xDC, 0xFF] as [UInt8] {
                    var bytes = [UInt8](repeating: other, count: count)
                    bytes[position] = byte
                    for start in 0...position { #expect(bytes.span.firstEscaped(from: start) == position) }
                    #expect(bytes.span.firstEscaped(from: position + 1) == count)
                }
            }
        }
    }

    @Test func `the search of random bytes finds the same as a search byte by byte`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...40, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0x18...0xFF, using: &random) }
            let start = Int.random(in: 0...count, using: &random)
            #expect(bytes.span.firstEscaped(from: start) == firstOneByOne(bytes, from: start))
        }
    }
}
