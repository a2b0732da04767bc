import RivuletCluster

/// The faults of a run, and its end.
extension Simulation {
    static let steps = 50

    /// Runs the whole schedule, and checks the result; returns the violations.
    func run() -> [String] {
        for _ in 0..<Self.steps {
            run(until: time.now + 10 + Int64(number(below: 200)))
            guard violations.isEmpty else { return violations }
            replaceEnded()
            act()
        }
        settle()
        if violations.isEmpty { checkEnd() }
        return violations
    }

    private func act() {
        let process = processes[number(below: processes.count)]
        switch number(below: 100) {
        case 0..<4: pause(process, for: 300 + Int64(number(below: 6_000)))
        case 4..<8: crash(process, for: 100 + Int64(number(below: 4_000)))
        case 8..<12: cut(process, for: 200 + Int64(number(below: 6_000)))
        case 12: fill()
        case 13: drain(process)
        case 14 where seed % 16 == 5: damage()
        case 15..<18:
            // The faults of the owner matter most.
            guard let owner = processes.first(where: \.takesOperations) else { break }
            [
                { self.pause(owner, for: 2_500 + Int64(self.number(below: 3_000))) },
                { self.crash(owner, for: 100 + Int64(self.number(below: 6_000))) },
                { self.cut(owner, for: 2_500 + Int64(self.number(below: 3_000))) },
            ][number(below: 3)]()
        default:
            for _ in 0..<[0, 1, 1, 2][number(below: 4)] { submit() }
        }
    }

    private func pause(_ process: ModelProcess, for wait: Int64) {
        guard process.isRunning else { return }
        note("\(process.name) is paused for \(wait)")
        process.isPaused = true
        add(after: wait, nil) { [unowned self, weak process] in if let process { resume(process) } }
    }

    private func resume(_ process: ModelProcess) {
        guard process.isAlive, process.isPaused else { return }
        note("\(process.name) goes on")
        process.isPaused = false
        let backlog = process.backlog
        process.backlog = []
        for job in backlog { add(after: 0, process, job) }
    }

    private func cut(_ process: ModelProcess, for wait: Int64) {
        guard process.isAlive, !process.isCut else { return }
        note("\(process.name) is cut off for \(wait)")
        process.isCut = true
        add(after: 1, process) { [unowned process] in process.connectionDidChange?(false) }
        add(after: wait, nil) { [unowned self, weak process] in if let process { join(process) } }
    }

    private func join(_ process: ModelProcess) {
        guard process.isAlive, process.isCut else { return }
        note("\(process.name) is connected")
        process.isCut = false
        add(after: 1, process) { [unowned process] in
            process.connectionDidChange?(true)
            process.mayHaveMissed?()
        }
    }

    private func crash(_ process: ModelProcess, for wait: Int64) {
        guard process.isAlive else { return }
        note("\(process.name) crashes for \(wait)")
        process.kill()
        let isEmptied = number(below: 12) == 0
        add(after: wait, nil) { [unowned self] in restart(process, isEmptied: isEmptied) }
    }

    /// Starts the node of an ended process, on what its copy has on disk, or on an empty folder.
    private func restart(_ process: ModelProcess, isEmptied: Bool = false) {
        guard let index = processes.firstIndex(where: { $0 === process }) else { return }
        let state = process.replica.state
        let content = isEmptied ? SimulatedContent() : (number(below: 2) == 0 ? state.content : state.synced)
        note("\(process.name) starts at \(content.position.position.rawValue)")
        let next = ModelProcess(
            self,
            name: process.name,
            schema: process.schema,
            clock: clock(),
            content: content,
            ended: isEmptied ? nil : process.incarnation
        )
        processes[index] = next
        add(after: 1, next) { [unowned next] in next.node?.start() }
    }

    private func drain(_ process: ModelProcess) {
        guard process.isRunning, !process.isDraining else { return }
        note("\(process.name) drains")
        process.isDraining = true
        process.run { process.node?.drain {} }
        add(after: 4_000, nil) { [unowned self] in
            guard process.isAlive else { return }
            process.kill()
            restart(process)
        }
    }

    private func fill() {
        note("the log is full")
        log.isFull = true
        add(after: 500 + Int64(number(below: 2_000)), nil) { [unowned self] in log.isFull = false }
    }

    private func damage() {
        note("the log loses messages")
        if number(below: 2) == 0 { log.lose(number(below: 8)) } else { log.truncate(1 + number(below: 3)) }
    }

    /// Starts deposed processes again, and finds those that have halted.
    private func replaceEnded() {
        for process in processes where process.isAlive {
            switch process.node?.standing.role {
            case .deposed:
                note("\(process.name) is deposed")
                process.kill()
                add(after: 100, nil) { [unowned self] in restart(process) }
            case .halted(let reason) where !log.isDamaged:
                violate("\(process.name) has halted: \(reason)")
            default: break
            }
        }
    }

    /// Ends all faults, and waits until the cluster is one again.
    private func settle() {
        note("calm")
        isCalm = true
        log.isFull = false
        for process in processes {
            resume(process)
            join(process)
        }
        let end = time.now + 40_000
        while time.now < end, violations.isEmpty {
            run(until: time.now + 250)
            replaceEnded()
            if isSettled { return }
            if number(below: 3) == 0 { submit() }
        }
        if violations.isEmpty, !log.isDamaged, processes.contains(where: { $0.schema == 2 }) {
            let roles = processes.map { "\($0.name) \(String(describing: $0.node?.standing.role))" }
            violate("the cluster does not come to rest: \(roles)")
        }
    }

    private var live: [ModelProcess] {
        processes.filter { process in
            guard process.isAlive else { return false }
            switch process.node?.standing.role {
            case .standby, .owner: return true
            default: return false
            }
        }
    }

    private var isSettled: Bool {
        guard processes.allSatisfy(\.isAlive) else { return false }
        let halted = processes.count { if case .halted? = $0.node?.standing.role { true } else { false } }
        let live = live
        guard live.count + halted == processes.count else { return false }
        guard live.isEmpty || live.contains(where: \.serves) else { return false }
        return live.allSatisfy { $0.replica.state.content.position.position == log.ends.last }
    }
}
