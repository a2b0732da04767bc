// Owns the shared resources in an app's description.

package import RivuletJSON
import RivuletSchema
import RivuletStores

extension SharedResources {
    /// Writes the members `stores`, `values` and `secrets`.
    func encodeDescription(into writer: inout JSONWriter) {
        Self.encode(stores, "stores", into: &writer) { store, writer in
            writer.key("name")
            writer.string(store.name)
            writer.key("schema")
            store.host.itemSchema.encodeJSON(into: &writer)
        }
        Self.encode(values, "values", into: &writer) { value, writer in
            writer.key("name")
            writer.string(value.name)
            writer.key("schema")
            value.host.schema.encodeJSON(into: &writer)
            writer.key("default")
            writer.raw(value.host.defaultValue)
        }
        Self.encode(secrets, "secrets", into: &writer) { secret, writer in
            writer.key("name")
            writer.string(secret.name)
            writer.key("schema")
            JSONSchema.annotated(secret.host.schema, [JSONSchema.Annotation("writeOnly", true)])
                .encodeJSON(into: &writer)
        }
    }

    private static func encode<Resource>(
        _ resources: [Resource],
        _ name: String,
        into writer: inout JSONWriter,
        _ encode: (Resource, inout JSONWriter) -> Void
    ) {
        writer.key(name)
        writer.beginArray()
        for resource in resources {
            writer.beginObject()
            encode(resource, &writer)
            writer.endObject()
        }
        writer.endArray()
    }

    /// The shape of an object with all values by their names.
    package var valuesSchema: JSONSchema {
        .object(title: "Values", identity: nil) {
            values.map { JSONSchema.Field(name: $0.name, schema: $0.host.schema) }
        }
    }

    /// The shape of an object with the stores' items by the stores' names.
    package var storesSchema: JSONSchema {
        .object(title: "Stores", identity: nil) {
            stores.map { JSONSchema.Field(name: $0.name, schema: .array($0.host.itemSchema)) }
        }
    }
}
