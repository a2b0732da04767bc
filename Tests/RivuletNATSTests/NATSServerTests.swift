import RivuletNATS
import Testing

@Suite struct NATSServerTests {
    @Test func `a server has a host and a port`() {
        #expect(NATSServer(host: "a", port: 4_222) == NATSServer(host: "a", port: 4_222))
    }
}
