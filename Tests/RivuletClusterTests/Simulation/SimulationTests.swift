import Foundation
import RivuletCluster
import Testing

@Suite struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// The number of seeds, `RIVULET_SEEDS`; 20,000 in CI.
    private static let count = environment["RIVULET_SEEDS"].flatMap { UInt64($0) } ?? 2_000
    private static let first = environment["RIVULET_FIRST_SEED"].flatMap { UInt64($0) } ?? 0
    /// The ranges of seeds, each for one test case, so that they run on all cores.
    private static let ranges = stride(from: first, to: first + count, by: 250)
        .map { $0..<min($0 + 250, first + count) }

    /// Prints how often things happen in the seeds, `RIVULET_COUNTED_SEEDS`.
    @Test(.enabled(if: environment["RIVULET_COUNTED_SEEDS"] != nil)) func `the schedules reach every part`() {
        var counts: [String: Int] = [:]
        let seeds = Self.environment["RIVULET_COUNTED_SEEDS"].flatMap { UInt64($0) } ?? 100
        for seed in 0..<seeds {
            let simulation = Simulation(seed: seed, isTraced: true)
            _ = simulation.run()
            counts["events", default: 0] += simulation.eventCount
            for line in simulation.trace?.lines ?? [] {
                let words = line.split(separator: " ").dropFirst().filter { !$0.contains { $0.isNumber || $0 == "\"" } }
                counts[words.prefix(7).joined(separator: " "), default: 0] += 1
            }
        }
        for (line, count) in counts.sorted(by: { $0.key < $1.key }) { print(count, line) }
    }

    @Test(arguments: ranges) func `every schedule keeps the invariants`(seeds: Range<UInt64>) {
        for seed in seeds {
            let violations = Simulation(seed: seed).run()
            guard violations.isEmpty else {
                let again = Simulation(seed: seed, isTraced: true)
                _ = again.run()
                let schedule = (again.trace?.lines ?? []).suffix(200).joined(separator: "\n")
                Issue.record("seed \(seed): \(violations)\n\(schedule)")
                return
            }
        }
    }

    #if DEBUG
    /// Errors in the node, and the number of seeds within which the simulation finds each.
    static let faults: [(NodeFault, UInt64)] = [
        (.writesNoFence, 500),
        // Two clocks have to differ by nearly a tenth, and the first read after the lease must not come later.
        (.watchesWithoutMargin, 2_000),
        (.answersBeforeApply, 100),
        (.cutsLastFrame, 100),
        (.takesUnknownAsRefused, 100),
        (.ignoresChain, 100),
    ]

    @Test(arguments: faults) func `an error in the node is found`(fault: NodeFault, seedsMax: UInt64) {
        #expect((0..<seedsMax).contains { !Simulation(seed: $0, fault: fault).run().isEmpty })
    }
    #endif
}
