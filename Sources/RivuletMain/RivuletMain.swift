import RivuletCLI

/// The binary `rivulet`.
@main
enum RivuletMain {
    static func main() { RivuletCommand.main() }
}
