-- Runs busted, which suites are written for, on what its arguments name.
require("busted.runner")({standalone = false, output = "plainTerminal"})
