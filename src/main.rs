//! The binary: hands the arguments to the face and takes its exit status.

fn main() -> std::process::ExitCode {
    restartlint::face::main()
}
