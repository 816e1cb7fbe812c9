#![no_main]
perilune_fuzz::libfuzzer!(heap_files);
