import RivuletCluster
import RivuletSessions

/// The invariants after a run.
extension Simulation {
    func checkEnd() {
        violations += log.violations
        checkChain()
        checkCopies()
        checkAnswers()
    }

    /// I1 and I2: one chain, and one writer for each term, begun by its claim; I13: claims never go back to a schema.
    private func checkChain() {
        guard !log.isDamaged else { return }
        var link = FrameLink.start
        var writer: UInt64 = 0
        var schema: UInt32 = 0
        for message in log.history {
            let frame = message.frame
            if frame.previous != link { violate("I1: the frame \(frame.number) does not follow its predecessor") }
            link = FrameLink(number: frame.number, term: frame.term, hash: log.coder.hash(message.logged.bytes))
            if case .claim(let claim)? = frame.operations.first {
                writer = claim.incarnation
                let new = claim.schemas["s"] ?? 0
                if new < schema { violate("I13: a node of the schema \(new) claims after \(schema)") }
                schema = new
            }
            if message.writer != writer { violate("I2: the frame \(frame.number) is of another writer than its claim") }
        }
    }

    /// I4: the copies are equal, and equal to the log.
    private func checkCopies() {
        var hashes: [FrameHash: (UInt64, ModelProcess)] = [:]
        for process in processes where process.isAlive {
            if case .halted? = process.node?.standing.role { continue }
            let content = process.replica.state.content
            let place = content.position.position.rawValue
            if let (hash, other) = hashes[content.position.link.hash], hash != content.hash {
                violate("I4: the copies of \(process.name) and \(other.name) differ at \(place)")
            }
            hashes[content.position.link.hash] = (content.hash, process)
            guard !log.isDamaged else { continue }
            if place != log.content.position.position.rawValue || content.hash != log.content.hash {
                violate("I4: the copy of \(process.name) differs from the log at \(place)")
            }
        }
    }

    /// I3: every answered write is in the log, and no write is there that was refused.
    private func checkAnswers() {
        guard !log.isDamaged else { return }
        for (id, operation) in client.operations.enumerated() {
            switch operation.result {
            case .success?:
                if log.places[id] == nil { violate("I3: \(id) was answered, and is not in the log") }
            case .failure(.indeterminate(_))?, nil: break
            case .failure(let error)?:
                if log.places[id] != nil { violate("I3: \(id) is in the log, and was answered with \(error)") }
            }
        }
    }
}
