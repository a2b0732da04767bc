import RivuletCluster
import Testing

@Suite struct FrameTests {
    @Test func `the first frame of a partition has the number 1`() {
        let frame = Frame(cluster: "c", partition: .first, previous: .start, term: 1, nonce: 7, operations: [])
        #expect(frame.number == 1)
    }
}
