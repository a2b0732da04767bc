// Checks the number of event loops that a program gets, and may choose.

import Foundation
import RivuletServer
import Testing

@Suite struct ServerOptionsTests {
    @Test func `a server has one event loop for each core by default`() {
        #expect(ServerOptions().workers == min(ProcessInfo.processInfo.activeProcessorCount, 256))
    }

    @Test(arguments: [1, 2, ServerOptions.workersMax])
    func `any number of loops up to the limit is accepted`(_ workers: Int) throws {
        try ServerOptions(workers: workers).check()
    }

    @Test(arguments: [-1, 0, ServerOptions.workersMax + 1])
    func `another number of loops is refused, with the range`(_ workers: Int) {
        let refusal = #expect(throws: ServerError.self) { try ServerOptions(workers: workers).check() }
        #expect(refusal?.description == "\(workers) workers are not possible; choose 1 to 256")
    }
}
