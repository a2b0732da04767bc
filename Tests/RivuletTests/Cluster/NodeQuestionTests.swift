import Rivulet
import RivuletCluster
import Testing

@Suite struct NodeQuestionTests {
    @Test(arguments: [
        NodeQuestion.standing, .contentHash, .drain, .reseed(beyond: LogPosition(rawValue: 1 << 40)),
    ])
    func `a question arrives as it was sent`(question: NodeQuestion) {
        #expect(NodeQuestion(question.bytes) == question)
    }

    @Test(arguments: ["", "{", "{}", #"{"ask":"sing"}"#, #"{"ask":"reseed"}"#, #"{"ask":"reseed","beyond":-1}"#])
    func `other bytes are no question`(text: String) {
        #expect(NodeQuestion(Array(text.utf8)) == nil)
    }

    @Test func `an answer arrives as it was sent`() throws {
        var standing = ClusterStanding(role: .halted("the log is lost"), owner: ClusterPeer(node: "b", incarnation: 2))
        (standing.term, standing.isConnected) = (7, true)
        (standing.head, standing.applied) = (LogPosition(rawValue: 9), LogPosition(rawValue: 8))
        var answer = NodeAnswer(standing)
        answer.hash = "ff"
        let read = try NodeAnswer(answer.bytes)
        #expect(read == answer)
        #expect((read.role, read.reason, read.owner) == ("halted", "the log is lost", "b"))
        #expect(try NodeAnswer(NodeAnswer(error: "no").bytes).error == "no")
    }

    @Test func `an answer that is no JSON is an error`() {
        #expect(throws: LogError.self) { try NodeAnswer([1]) }
    }
}
