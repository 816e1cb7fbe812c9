//! Names of functions, from the variables and fields that they are assigned to.

use super::errmsg::slot_name;
use crate::bc::Op;
use crate::object::{Gc, Proto};

/// The functions that are defined in `p` and given a name there: the name of the variable or field that they are assigned to. In stripped
/// code only globals and fields have names.
pub fn names_of_children(p: Gc<Proto>) -> Vec<(Gc<Proto>, Vec<u8>)> {
    let mut names = Vec::new();
    for pc in 0..p.code_len() {
        if let Some(ins) = p.ins(pc).filter(|i| i.op() == Op::FNEW)
            && let Some(child) = p.kgc(ins.d()).and_then(|v| v.as_proto())
            && let Some(name) = assigned_to(p, pc + 1, ins.a())
        {
            names.push((child, name));
        }
    }
    names
}

/// The name that the instruction at `pc` assigns the value in `slot` to, or that of the local variable in the slot from there on.
fn assigned_to(p: Gc<Proto>, pc: usize, slot: usize) -> Option<Vec<u8>> {
    let next = p.ins(pc)?;
    let string = |i| p.kgc(i).and_then(|v| v.as_str()).map(|s| s.bytes().to_vec());
    match next.op() {
        Op::GSET if next.a() == slot => string(next.d()),
        Op::USETV if next.d() == slot => Some(p.uv_names.get(next.a())?.to_vec()),
        Op::TSETS if next.a() == slot => {
            let field = string(next.c())?;
            match slot_name(p, pc, next.b()) {
                Some((_, table)) => Some([&table, &b"."[..], &field].concat()),
                None => Some(field),
            }
        }
        Op::MOV if next.d() == slot => p.local_name(next.a() as u32, pc).map(<[u8]>::to_vec),
        _ => p.local_name(slot as u32, pc).map(<[u8]>::to_vec),
    }
}

#[cfg(test)]
mod tests {
    use super::names_of_children;
    use crate::Vm;

    #[test]
    fn variables_and_fields() {
        let mut vm = Vm::new();
        let text = "local function a() end local b = function() end function c() end local t = {} function t.d() end
            function t:e() end t.x = {f = function() end} print(function() end) local g g = function() end
            local function h() g = function() end end return function() end";
        let f = vm.load_chunk(text.as_bytes(), b"=t", None).unwrap();
        let names = names_of_children(f.proto().unwrap());
        let text: Vec<String> = names.iter().map(|n| String::from_utf8_lossy(&n.1).into_owned()).collect();
        assert_eq!(text, ["a", "b", "c", "t.d", "t.e", "f", "g", "h"]);
        let inner = names_of_children(names[7].0);
        assert_eq!(inner.len(), 1);
        assert_eq!(inner[0].1, b"g");
    }
}
