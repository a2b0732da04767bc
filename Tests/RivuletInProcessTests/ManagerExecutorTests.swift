// Checks that jobs of effects do not monopolise a manager.

import RivuletEngine
import RivuletInProcess
import Synchronization
import Testing

@Suite struct ManagerExecutorTests {
    /// An executor that counts the turns that it requests and the jobs that run.
    private final class Turns: Sendable {
        let asked = Atomic<Int>(0)
        let run = Atomic<Int>(0)

        func executor() -> ManagerExecutor {
            ManagerExecutor { [self] in asked.add(1, ordering: .relaxed) }
        }

        /// Posts a job that posts another job, `count` jobs in total.
        func postChain(of count: Int, on executor: ManagerExecutor) {
            guard count > 0 else { return }
            executor.post { [self] in
                run.add(1, ordering: .relaxed)
                postChain(of: count - 1, on: executor)
            }
        }
    }

    @Test func `jobs that post jobs run in turns with a limited number of jobs`() {
        let turns = Turns()
        let executor = turns.executor()
        let jobs = 3 * ManagerExecutor.jobsPerTurnMax - 1
        turns.postChain(of: jobs, on: executor)
        for turn in 1...3 {
            // Exactly one turn is requested.
            #expect(turns.asked.load(ordering: .relaxed) == turn)
            executor.runTurn()
            #expect(turns.run.load(ordering: .relaxed) == min(turn * ManagerExecutor.jobsPerTurnMax, jobs))
        }
        #expect(turns.asked.load(ordering: .relaxed) == 3)
    }

    @Test func `a turn that runs all jobs requests no other turn, and the next job requests one`() {
        let turns = Turns()
        let executor = turns.executor()
        turns.postChain(of: ManagerExecutor.jobsPerTurnMax, on: executor)
        executor.runTurn()
        #expect(turns.asked.load(ordering: .relaxed) == 1)
        turns.postChain(of: 1, on: executor)
        #expect(turns.asked.load(ordering: .relaxed) == 2)
        executor.runTurn()
        #expect(turns.run.load(ordering: .relaxed) == ManagerExecutor.jobsPerTurnMax + 1)
    }
}
