#![no_main]
perilune_fuzz::libfuzzer!(bytecode_edits);
