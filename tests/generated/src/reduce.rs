//! Makes a program that shows a fault smaller, through workers of its own: it may end them.

use crate::program::{self, Node};
use crate::supervise::{Answer, Death, Setup, Worker};
use std::time::Duration;

/// How a fault shows.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Other output than that of the reference: both.
    Differs(String, String),
    /// The end of the worker.
    Dies(Death),
}

impl Fault {
    /// Is it of the same kind, as far as one can tell?
    fn is_like(&self, other: &Fault) -> bool {
        match (self, other) {
            (Fault::Differs(..), Fault::Differs(..)) => true,
            (Fault::Dies(a), Fault::Dies(b)) => a.hung == b.hung && (a.doing.mode == 0) == (b.doing.mode == 0),
            _ => false,
        }
    }
}

/// Checks programs; a worker that ends is started again.
pub struct Checker<'a> {
    setup: &'a Setup,
    name: String,
    worker: Option<Worker>,
}

impl<'a> Checker<'a> {
    /// `name` is that of its worker's files.
    pub fn new(setup: &'a Setup, name: &str) -> Checker<'a> {
        Checker { setup, name: name.into(), worker: None }
    }
    /// How a program behaves in a mode against the reference; `None` if all is well, or if no worker can be started.
    pub fn fault(&mut self, nodes: &[Node], mode: usize, seed: u64) -> Option<Fault> {
        if self.worker.is_none() {
            self.worker = Worker::start(self.setup, &self.name).ok();
        }
        match self.worker.as_mut()?.check(&program::text(nodes), mode, seed) {
            Ok(Answer::Same) => None,
            Ok(Answer::Differs(a, b)) => Some(Fault::Differs(a, b)),
            Err(death) => {
                self.worker = None;
                Some(Fault::Dies(death))
            }
        }
    }
}

/// A program that is as small as could be made within `most`, and what it shows; `None` if the fault does not come again.
pub fn reduce(setup: &Setup, nodes: Vec<Node>, mode: usize, seed: u64, most: Duration) -> Option<(Vec<Node>, Fault)> {
    let name = format!("reduce-{seed}-{mode}");
    // What is tried may well run for ever.
    let hurry = Setup { patience: setup.patience.min(Duration::from_secs(5)), ..setup.clone() };
    let mut first = Checker::new(setup, &name).fault(&nodes, mode, seed)?;
    let mut checker = Checker::new(&hurry, &name);
    let smaller = program::shrink(nodes, most, |nodes| {
        let found = checker.fault(nodes, mode, seed).filter(|f| f.is_like(&first));
        found.is_some_and(|f| {
            first = f;
            true
        })
    });
    Some((smaller, first))
}
