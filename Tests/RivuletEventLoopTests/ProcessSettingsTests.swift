import Foundation
import RivuletEventLoop
import Testing

struct ProcessSettingsTests {
    /// The size of the process's table of descriptors.
    private func descriptorRoom() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("FDSize:") })
        return try #require(Int(line.split(separator: "\t")[1]))
    }

    @Test func `the table of descriptors gets the requested size`() throws {
        // CI's processes may have 20,000 descriptors.
        let room = min(try descriptorRoom() * 2, 16_384)
        ProcessSettings.reserveDescriptors(room)
        #expect(try descriptorRoom() >= room)
    }
}
