// This file implements chains of operations.

import Synchronization

extension Store {
    /// Steps that ``run()`` makes one after the other; nothing happens before `run()` is called.
    ///
    ///     try await store.removeAll().insert(notes).run()
    ///
    /// An insert directly after `removeAll`, or after a `remove` of a list, is joined with that step: both are one
    /// commit with one event, `insert`.
    /// Source: <Tests/Rows/Systems.md#e-15>, E-16.
    public final class Operation: Sendable {
        private let store: Store
        /// The steps; nil if the chain has run.
        private let steps: Mutex<[StoreStep<Item>]?>

        fileprivate init(_ store: Store, _ step: StoreStep<Item>) {
            self.store = store
            steps = Mutex([step])
        }

        /// Adds an insert.
        ///
        /// It has no effect in a chain that has run.
        public func insert(_ item: Item) async throws -> Operation { adding(.insert([item], after: .nothing)) }

        /// Adds an insert of items in one commit.
        public func insert(_ items: [Item]) async throws -> Operation { adding(.insert(items, after: .nothing)) }

        /// Adds a removal.
        ///
        /// No later insert is joined with it.
        public func remove(_ item: Item) async throws -> Operation { adding(.remove([item], isList: false)) }

        /// Adds a removal of items in one commit.
        public func remove(_ items: [Item]) async throws -> Operation { adding(.remove(items, isList: true)) }

        /// Adds a removal of all items.
        public func removeAll() async throws -> Operation { adding(.removeAll) }

        /// Makes the steps in order, each in its own commit; does nothing in a chain that has run.
        ///
        /// - Throws: The error of the step that failed. The steps before it are made, the steps after it are not.
        public func run() async throws {
            for step in take() { try await store.perform([step]) }
        }

        private func adding(_ step: StoreStep<Item>) -> Operation {
            steps.withLock { steps in
                guard var longer = steps else { return }
                StoreStep.append(step, to: &longer)
                steps = longer
            }
            return self
        }

        private func take() -> [StoreStep<Item>] {
            steps.withLock { steps in
                defer { steps = nil }
                return steps ?? []
            }
        }
    }
}

// None of these functions waits or fails. They have the signatures of the functions that change the store at once, so
// that `try await` fits both. The compiler selects these functions only if their result is used.
extension Store {
    /// Begins a chain with an insert.
    @_disfavoredOverload
    public func insert(_ item: Item) async throws -> Operation { Operation(self, .insert([item], after: .nothing)) }

    /// Begins a chain with an insert of items in one commit.
    @_disfavoredOverload
    public func insert(_ items: [Item]) async throws -> Operation { Operation(self, .insert(items, after: .nothing)) }

    /// Begins a chain with a removal.
    ///
    /// No later insert is joined with it.
    @_disfavoredOverload
    public func remove(_ item: Item) async throws -> Operation { Operation(self, .remove([item], isList: false)) }

    /// Begins a chain with a removal of items in one commit.
    @_disfavoredOverload
    public func remove(_ items: [Item]) async throws -> Operation { Operation(self, .remove(items, isList: true)) }

    /// Begins a chain with a removal of all items.
    @_disfavoredOverload
    public func removeAll() async throws -> Operation { Operation(self, .removeAll) }
}
