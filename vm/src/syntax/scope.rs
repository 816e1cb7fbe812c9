//! Scopes: local variables, labels, gotos.

use std::rc::Rc;

/// An active local variable.
pub struct Var {
    /// Name.
    pub name: Rc<[u8]>,
    /// Index of its debug information.
    pub info: usize,
}

/// An open scope.
pub struct Scope {
    /// Active variables when it began.
    pub vars: usize,
    /// Labels when it began.
    pub labels: usize,
    /// Pending gotos when it began.
    pub gotos: usize,
    /// Is it the scope of a loop (a target of `break`)?
    pub is_loop: bool,
    /// Was a variable of it captured by a closure?
    pub captured: bool,
}

/// A label.
pub struct Label {
    /// Name.
    pub name: Rc<[u8]>,
    /// Its instruction.
    pub pc: usize,
    /// Active variables there.
    pub vars: usize,
}

/// A jump to a label not seen yet.
pub struct Goto {
    /// Label; "break" for a break.
    pub name: Rc<[u8]>,
    /// The jump.
    pub pc: usize,
    /// Line of the statement.
    pub line: u32,
    /// Active variables at the jump, as scopes end the least of them.
    pub vars: usize,
}
