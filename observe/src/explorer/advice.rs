//! What to change: the words of findings.

/// The words for a group of guards.
pub struct GroupWords {
    /// The kind of finding.
    pub kind: &'static str,
    /// What is said of the line.
    pub title: &'static str,
    /// What to change.
    pub advice: &'static str,
}

/// Guards that are about the same thing.
pub fn group(kind: &str) -> &str {
    match kind {
        "metatable" | "class" => "class",
        kind => kind,
    }
}

/// The words for a group, if many kinds of values there are worth a word.
pub fn words_for(group: &str) -> Option<GroupWords> {
    let (kind, title, advice) = match group {
        "function" => (
            "many_functions",
            "the call is polymorphic, it meets",
            "Let one loop call one function: sort the objects by class and go through each class by itself, or decide outside of the loop.",
        ),
        "class" => (
            "many_classes",
            "objects of many classes are used here:",
            "Let one loop work on objects of one class: sort them by class, or keep what they have in common in fields.",
        ),
        "shape" => (
            "many_shapes",
            "objects with different fields are used here:",
            "Give all objects the same fields in the same order: set each of them in the constructor, to false or 0 where there is nothing.",
        ),
        "type" => (
            "many_types",
            "a value has different types here:",
            "Keep the type of a variable, a field and a list the same: use 0, \"\" or false for nothing instead of nil, for instance.",
        ),
        _ => return None,
    };
    Some(GroupWords { kind, title, advice })
}

/// What to change where a guard of a kind fails over and over.
pub fn advice_for_exit(kind: &str) -> &'static str {
    match kind {
        "type" => "Keep the type of this value the same.",
        "function" => "Call the same function here each time.",
        "class" | "metatable" => "Use objects of one class here.",
        "shape" | "key" => "Give all objects the same fields in the same order.",
        "bounds" => "Fill lists from 1 on without holes, and do not read beyond their end.",
        "integer" => "Results that are too large for an integer, or have a fraction, are expected to come rarely here.",
        "branch" => {
            "The program goes another way here than when it was recorded, and no side trace could be made: see what was given up."
        }
        "return" => "The function is called from many places: let its callers be loops.",
        _ => "Open the trace to see what it does there.",
    }
}

/// What to change where recording was given up.
pub fn advice_for_abort(reason: &str) -> &'static str {
    let starts = |what: &str| reason.starts_with(what);
    if starts("NYI") {
        "Use something else in the hot loop, or move it out of the loop: this is not compiled."
    } else if starts("loop unroll") || starts("inner loop") || starts("leaving loop") {
        "The inner loop comes first; if it runs a few times only, write it out or let it run longer."
    } else if starts("trace too long") || starts("too many snap") {
        "Divide the body of the loop into functions, or raise -O maxrecord and -O maxsnap."
    } else if starts("call unroll") {
        "The recursion is deep: a loop is compiled better."
    } else if starts("persistent type") {
        "Keep the types of the loop's variables the same from one round to the next."
    } else if starts("blacklisted") || starts("JIT compilation disabled") {
        "Look for the reason why it was given up before, or for jit.off."
    } else {
        "Open the line in the source to see what was recorded."
    }
}
