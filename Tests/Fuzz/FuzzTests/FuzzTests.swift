// Replays the fuzzer's corpus: each input, through its target.

import Foundation
import FuzzTargets
import Testing

@Suite struct FuzzTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Corpus")

    @Test(arguments: FuzzTarget.allCases)
    func `every input of the corpus is read without a fault`(_ target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 5)
        for file in files {
            #expect(target.fault(in: Array(try Data(contentsOf: file))) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func `every prefix of each corpus input is read without a fault`(_ target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.rawValue)
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let bytes = Array(try Data(contentsOf: file))
            let fault = (0..<min(bytes.count, 256)).lazy.compactMap { target.fault(in: Array(bytes.prefix($0))) }.first
            #expect(fault == nil, "\(file.lastPathComponent)")
        }
    }
}
