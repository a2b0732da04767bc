import RivuletJSON
import RivuletStores

/// Serves a securely stored value.
struct SecretHost<Item: StorableItem>: HostedSecret {
    let secret: SecurelyStoredValue<Item>

    init(_ secret: SecurelyStoredValue<Item>) {
        self.secret = secret
    }

    var schema: JSONSchema { ItemDocument.schema(of: Item.self) }
    var location: (collection: ItemCollection, key: String) { (secret.box.storage, secret.box.key) }

    func read(_ reply: @escaping SharedReply<SecretPresence>) {
        secret.box.change({ _ in nil }) { outcome in
            reply(
                outcome.mapError(SharedError.init).map { change in
                    if change.after != nil { return .present }
                    return change.standing.condition == .unreadable ? .unreadable : .absent
                }
            )
        }
    }

    func set(_ body: [UInt8], reply: @escaping SharedReply<Void>) {
        do throws(JSONError) {
            let item = try ItemDocument.decode(Item.self, sent: body)
            secret.box.change({ _ in .some(item) }) { outcome in reply(outcome.mapError(SharedError.init).map { _ in })
            }
        } catch {
            // The error's text and its pointer are left out: both may contain parts of the secret.
            let detail =
                error.isMalformed ? "the body is not well-formed JSON" : "the body is not of this secret's shape"
            reply(.failure(.body(JSONError(kind: error.kind, offset: error.offset, detail: detail))))
        }
    }

    func reseal(_ reply: @escaping SharedReply<Bool>) {
        secret.box.change(knowing: secret.renewal) { outcome in
            reply(outcome.mapError(SharedError.init).map(\.isWritten))
        }
    }

    func remove(_ reply: @escaping SharedReply<Void>) {
        secret.box.change(knowing: SecurelyStoredValue<Item>.removal) { outcome in
            reply(outcome.mapError(SharedError.init).map { _ in })
        }
    }
}
