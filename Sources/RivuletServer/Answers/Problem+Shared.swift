// Owns the HTTP answer to each error of a store, a value or a secret.

import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

extension Problem {
    /// The answer to a refused request.
    init(_ error: SharedError, epoch: String) {
        switch error {
        case .body(let error): self.init(error)
        case .refused(let detail, let pointer):
            self.init(.invalidBody, detail, errors: [BodyError(pointer: pointer, detail: detail)])
        case .noItem(let id): self.init(.itemNotFound, "the store has no item \(String(reflecting: id))")
        case .damagedItem(let id):
            self.init(
                .storedValueUnreadable,
                "the stored item \(String(reflecting: id)) cannot be read. Other items are not affected; write it anew, or delete it"
            )
        case .damagedValue:
            self.init(
                .storedValueUnreadable,
                "the stored value cannot be read; nothing has changed. Set it anew, or reset it"
            )
        case .pageGone(let after):
            self.init(
                .pageGone,
                "the item \(String(reflecting: after)), after which the page begins, does not exist any more; begin with the first page"
            )
        case .moved(let version, let value):
            let cursor = "\(SharedCursor(epoch: epoch, version: version))"
            self.init(
                .preconditionFailed,
                "no tag of the condition is the current tag; nothing has changed. The resource stands at \(cursor)",
                members: [("cursor", JSONValue.string(cursor).json)] + (value.map { [("value", $0)] } ?? []),
                fields: [HTTPField("ETag", "\"\(cursor)\"")]
            )
        case .itemMoved(nil):
            self.init(.preconditionFailed, "the condition asks for an item, and there is none; nothing has changed")
        case .itemMoved(let item?):
            self.init(
                .preconditionFailed,
                "the condition does not allow the item's tag \"\(item.tag)\"; nothing has changed",
                members: [("value", item.json)],
                fields: [HTTPField("ETag", "\"\(item.tag)\"")]
            )
        case .store(let error): self.init(error)
        case .storage(let error): self.init(error)
        case .keychain(let error): self.init(.secretsUnavailable, "the secret was not changed: \(error)")
        case .fault:
            self.init(.serverFault, "the server failed at this request; its log has the cause under the trace_id")
        }
        if status == 500 { hasHiddenCause = true }
        if case .keychain = error { hasHiddenCause = true }
    }

    private init(_ error: StoreError) {
        switch error {
        case .unrepresentable: self.init(.noJSONForm, "\(error)")
        case .full: self.init(.storeFull, "\(error); nothing has changed")
        case .unreadable: self.init(.appFailed, "\(error)")
        case .busy: self.init(.overloaded, "\(error)", fields: [HTTPField("Retry-After", "1")])
        }
    }

    /// The answer to an error of an item storage; file paths and SQL are for the log only.
    private init(_ error: ItemStorageError) {
        switch error {
        case .unavailable:
            self.init(
                .storageUnavailable,
                "storage is unavailable, nothing has changed; try again. The server's log has the cause under the trace_id",
                fields: [HTTPField("Retry-After", "1")]
            )
        case .indeterminate:
            self.init(
                .storageIndeterminate,
                "storage failed while writing; the change may or may not be stored, read before you retry. The server's log has the "
                    + "cause under the trace_id"
            )
        case .full: self.init(.diskFull, "the disk is full, nothing has changed; an operator has to free some space")
        case .tooLarge: self.init(.changeTooLarge, "nothing has changed: \(error)")
        case .tooMany: self.init(.storeFull, "nothing has changed: \(error)")
        case .corrupt:
            self.init(
                .storageDamaged,
                "the stored collection is damaged, nothing has changed; an operator has to restore it from a backup"
            )
        case .incompatible:
            self.init(
                .storageIncompatible,
                "storage does not fit this server; the server's log has the cause under the trace_id"
            )
        case .closed:
            self.init(.serverStopping, "the server is stopping; try again", fields: [HTTPField("Retry-After", "1")])
        }
        switch error {
        case .tooLarge, .tooMany, .closed: break
        case .unavailable, .indeterminate, .full, .corrupt, .incompatible: hasHiddenCause = true
        }
    }
}
