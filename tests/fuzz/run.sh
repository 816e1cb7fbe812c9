#!/usr/bin/env bash
# Runs fuzz targets under libFuzzer with AddressSanitizer, one after the other; says what each did, and fails if one has found something.
#
#   tests/fuzz/run.sh SECONDS [TARGET ...]      all targets without a name
#   tests/fuzz/run.sh shrink [TARGET ...]       puts what the runs have learned into the corpora of the repository, and keeps them small
#
# Takes a nightly compiler and cargo-fuzz (`cargo install cargo-fuzz`). What runs learn is kept in target/fuzz-corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
what=${1:?seconds, or shrink}
shift
learned=target/fuzz-corpus
# One build for all, and soon: neither optimisation across crates nor few units.
export CARGO_PROFILE_RELEASE_LTO=off
fuzz() { cargo +nightly fuzz "$1" --fuzz-dir tests/fuzz --features libfuzzer "${@:2}"; }

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  mapfile -t targets < <(sed -n '/^\[\[bin\]\]/,$ s/^name = "\(.*\)"/\1/p' tests/fuzz/Cargo.toml)
fi

failed=()
for target in "${targets[@]}"; do
  mkdir -p "$learned/$target"
  corpus=tests/fuzz/corpus/$target
  if [ "$what" = shrink ]; then
    small=$(mktemp -d)
    fuzz run "$target" "$small" "$corpus" "$learned/$target" -- -set_cover_merge=1 -timeout=25 2>/dev/null
    rm -r "$corpus" && mkdir "$corpus"
    # Short inputs first, as many as the corpus may have.
    find "$small" -type f -size -8k -printf '%s %p\n' | sort -n | head -100 \
      | awk '{ sum += $1; if (sum <= 200 * 1024) print $2 }' | xargs -r cp -t "$corpus"
    rm -r "$small"
    echo "$target: $(find "$corpus" -type f | wc -l) files, $(du -sb "$corpus" | cut -f1) bytes"
    continue
  fi
  log=$(mktemp)
  # Longest input 4 KB; longer ones of the corpus are cut.
  if fuzz run "$target" "$learned/$target" "$corpus" -- -max_total_time="$what" -max_len=4096 -timeout=25 -rss_limit_mb=3000 \
      -print_final_stats=1 >"$log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs in $what s"
  else
    echo "$target: FOUND SOMETHING, see tests/fuzz/artifacts/$target"
    grep -aE '^SUMMARY|panicked at|Test unit written' -A1 "$log" | head -20
    failed+=("$target")
  fi
  rm "$log"
done
[ ${#failed[@]} = 0 ]
