#![no_main]
perilune_fuzz::libfuzzer!(declarations);
