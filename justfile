# Everything that must hold.
test:
    cargo fmt --check && cargo clippy --all-targets -- -D warnings && cargo test && cargo run --quiet -- check .

# The sample checkout; ends with status 1, since it has findings.
sample:
    cargo run --release --quiet -- check fixtures/sample

# Brings the project's own inventory document up to date.
render:
    cargo run --quiet -- inventory render
