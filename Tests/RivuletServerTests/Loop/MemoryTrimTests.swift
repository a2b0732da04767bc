import Testing

@testable import RivuletServer

@Suite struct MemoryTrimTests {
    private static let mebibyte = 1_048_576

    /// The decision after each check at these sizes, in mebibytes.
    ///
    /// True means that the memory is trimmed.
    private func trims(_ looks: [Int]) -> [Bool] {
        var trim = MemoryTrim()
        return looks.map { trim.isDue(residentBytes: $0 * Self.mebibyte) }
    }

    @Test func `memory is trimmed once after it has grown and no longer changes`() {
        #expect(trims([50, 50, 300, 300, 300, 300, 60]) == [false, false, false, false, false, true, false])
    }

    @Test func `memory that grows is in use`() {
        #expect(!trims(Array(stride(from: 50, to: 1_000, by: 10))).contains(true))
    }

    @Test func `memory that grew little is not trimmed`() {
        #expect(!trims([50, 50] + Array(repeating: 81, count: 20)).contains(true))
    }

    @Test func `memory that remains after a trim is in use until it grows`() {
        let looks = [50, 300] + Array(repeating: 300, count: 20)
        #expect(trims(looks).count { $0 } == 1)
        #expect(trims(looks + [340, 340, 340, 340]).count { $0 } == 2)
    }

    @Test func `after a fall, growth is measured from the lower size`() {
        #expect(trims([200, 60, 60, 60, 100, 100, 100, 100]).last == true)
    }
}
