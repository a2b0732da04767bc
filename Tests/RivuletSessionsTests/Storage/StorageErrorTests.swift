// Checks that every storage error names its cause and its fix.

import RivuletSessions
import Testing

@Suite struct StorageErrorTests {
    @Test(arguments: [
        (StorageError.unavailable(detail: "x"), "storage is unavailable: x"),
        (.indeterminate(detail: "x"), "storage cannot tell whether the write is durable: x"),
        (.full(detail: "x"), "storage is full: x"),
        (
            .tooLarge(limitBytes: 5),
            "the entry or snapshot is larger than 5 bytes: make the state or the event smaller, "
                + "or raise the limit of the storage engine"
        ),
        (
            .corrupt(SessionKey(app: "a", id: "b"), detail: "x"),
            "the stored session a/b is damaged: x; restore it from a backup or delete it"
        ),
        (.corrupt(nil, detail: "x"), "the store is damaged: x; restore it from a backup"),
        (.incompatible(detail: "x"), "the store cannot be used: x"),
        (.closed, "storage is closed: the server is shutting down"),
    ])
    func `an error says what happened and how to fix it`(error: StorageError, text: String) {
        #expect("\(error)" == text)
    }
}
