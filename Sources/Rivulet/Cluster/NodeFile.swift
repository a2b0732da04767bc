import FoundationEssentials
import RivuletJSON
package import RivuletServer

/// The runs of a node on its data folder, in the file `node.json` there.
///
/// The folder's lock proves that all earlier runs have ended, so the present run may take the record of any of them.
package struct NodeFile: Hashable {
    static let name = "node.json"
    /// The most runs that are kept.
    private static let runsMax = 16
    /// The most restarts of a deposed node within `restartSeconds`.
    static let restartsMax = 5
    static let restartSeconds = 60

    package var node: String
    /// The incarnations, the latest one last.
    package private(set) var runs: [UInt64] = []
    /// The times at which a deposed node began again, in seconds since 1970-01-01T00:00:00Z.
    private var restarts: [Int] = []

    package init(node: String) { self.node = node }

    /// Reads the file of a folder.
    ///
    /// A file of another node, or one that cannot be read, gives no runs: the node then waits for the lease's end.
    package init(of node: String, in folder: String) {
        self.init(node: node)
        guard let data = FileManager.default.contents(atPath: folder + "/" + Self.name) else { return }
        let value: JSONValue
        do { value = try JSONValue(parsing: Array(data)) } catch { return }
        guard value["node"]?.stringValue == node else { return }
        runs = (value["runs"]?.elements ?? []).compactMap { $0.stringValue.flatMap { UInt64($0, radix: 16) } }
        restarts = (value["restarts"]?.elements ?? []).compactMap(\.integerValue)
    }

    /// Adds a run.
    package mutating func begin(_ incarnation: UInt64) { runs = Array((runs + [incarnation]).suffix(Self.runsMax)) }

    /// Adds a restart; false if the node has begun again too often.
    package mutating func restart(at time: Int) -> Bool {
        restarts = restarts.filter { $0 > time - Self.restartSeconds && $0 <= time }
        guard restarts.count < Self.restartsMax else { return false }
        restarts.append(time)
        return true
    }

    /// Writes the file.
    ///
    /// - Throws: a `ServerError` that names the file.
    package func write(in folder: String) throws(ServerError) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("node")
        writer.string(node)
        writer.key("runs")
        writer.beginArray()
        for run in runs { writer.string(String(run, radix: 16)) }
        writer.endArray()
        writer.key("restarts")
        writer.beginArray()
        for time in restarts { writer.integer(time) }
        writer.endArray()
        writer.endObject()
        let path = folder + "/" + Self.name
        do {
            try Data(writer.bytes).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw ServerError("the file \(path) cannot be written: \(error); make the folder writable")
        }
    }
}
