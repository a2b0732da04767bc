import RivuletJSON

/// JSON texts and pointers.
///
/// The text that is written for a value must be read as that value.
enum JSONFuzz {
    static func fault(inText bytes: [UInt8]) -> String? {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            return (0...bytes.count).contains(error.offset) ? nil : "\(error)"
        }
        let written = value.jsonBytes()
        do throws(JSONError) {
            let again = try JSONValue(parsing: written)
            return again == value && again.jsonBytes() == written ? nil : "\(value) is read as \(again)"
        } catch {
            return "\(error) in \(written)"
        }
    }

    static func fault(inPointer bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(JSONError) {
            let pointer = try JSONPointer(parsing: text)
            return try JSONPointer(parsing: pointer.description) == pointer ? nil : text
        } catch {
            return text.isEmpty ? "the empty text was refused, but it is the pointer to the whole document" : nil
        }
    }
}
