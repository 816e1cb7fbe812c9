//! Which sums and products are computed in 64 bits without a check of their own.

use perilune_recorder::ir::parse::{Objects, parse};
use perilune_recorder::opt::overflow;
use perilune_vm::Value;

struct NoObjects;

impl Objects for NoObjects {
    fn string(&mut self, _: &[u8]) -> Value {
        Value::NIL
    }
    fn object(&mut self, _: &str, _: u32) -> Option<Value> {
        None
    }
}

/// The numbers of the instructions that are not checked, where the last one is in a snapshot.
fn unchecked(instructions: &[&str]) -> Vec<usize> {
    let mut text = String::from("....        SNAP   #0   pc=1 [ ---- ---- ]\n");
    for slot in 1..=4 {
        text += &format!("{slot:04} >  int SLOAD  #{}    T\n", slot + 1);
    }
    for (i, ins) in instructions.iter().enumerate() {
        text += &format!("{:04} >  int {ins}\n", i + 5);
    }
    text += &format!("....        SNAP   #1   pc=2 [ ---- ---- {:04} ]\nlink interpreter\n", instructions.len() + 4);
    let trace = parse(&text, &mut NoObjects).expect("well written");
    overflow::wide(&trace).iter().enumerate().filter(|(_, wide)| **wide).map(|(i, _)| i).collect()
}

#[test]
fn partial_sums() {
    assert_eq!(unchecked(&["ADDOV  0001  0002", "SUBOV  0005  0003", "ADDOV  0006  0004"]), [5, 6]);
    assert!(unchecked(&["ADDOV  0001  0002", "SUBOV  0005  0005"]).is_empty(), "used twice");
}

#[test]
fn one_product_of_a_sum() {
    assert_eq!(unchecked(&["MULOV  0001  0002", "ADDOV  0005  0003"]), [5]);
    assert_eq!(unchecked(&["MULOV  0001  0002", "SUBOV  0003  0005"]), [5]);
    assert_eq!(unchecked(&["MULOV  0001  0002", "ADDOV  0005  0003", "SUBOV  0006  0004"]), [5, 6]);
    // A sum of two products may be -0, or of more bits than doubles have.
    assert_eq!(unchecked(&["MULOV  0001  0002", "MULOV  0003  0004", "ADDOV  0005  0006"]), [5]);
    let nested = ["MULOV  0001  0002", "ADDOV  0005  0003", "MULOV  0002  0003", "SUBOV  0004  0007", "ADDOV  0006  0008"];
    assert_eq!(unchecked(&nested), [5, 6, 7], "the second sum is checked by itself");
}

#[test]
fn a_product_that_something_is_subtracted_from_may_be_minus_zero() {
    assert!(unchecked(&["MULOV  0001  0002", "SUBOV  0005  0003"]).is_empty());
    assert!(unchecked(&["MULOV  0001  0002"]).is_empty());
}
