import RivuletEventLoop
import Testing

@testable import RivuletServer

@Suite struct StreamBlockTests {
    private func bytes(_ block: StreamBlock, isChunked: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        block.bytes(isChunked: isChunked).append(to: &bytes)
        return bytes
    }

    @Test(arguments: [1, 15, 16, 255, 256, 70_000])
    func `a block is one chunk with its content`(count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let block = StreamBlock(content.span)
        let head = Array("\(String(count, radix: 16))\r\n".utf8)
        #expect(bytes(block, isChunked: true) == head + content + Array("\r\n".utf8))
        #expect(bytes(block, isChunked: false) == content)
        #expect(block.count == count)
        #expect(block.withContent { $0.count } == count)
        #expect(block.withContent { $0[count - 1] } == content[count - 1])
    }

    @Test func `a block that is not full is framed by its actual size`() {
        let account = SharedBytes.Account()
        let block = StreamBlock(capacity: 1_000, account: account) { output in
            for byte in "data: 1\n\n".utf8 { output.append(byte) }
        }
        #expect(bytes(block, isChunked: true) == Array("9\r\ndata: 1\n\n\r\n".utf8))
        #expect(account.bytes == 14)
    }
}
