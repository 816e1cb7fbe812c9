//! C types as calling conventions see them.

use super::{Form, Members, Passed, Scalar};
use crate::ffi::ctype::{CTypeId, CTypeTable, Ct, Info, NO_SIZE, POINTER_SIZE, attrib};

/// How a value of a type is passed. A function or an array is passed as a pointer.
pub fn describe(types: &CTypeTable, id: CTypeId) -> Passed {
    let id = types.raw_id(id);
    let ct = types.get(id);
    let scalar = |form, size| Passed { size, align: size, form };
    match ct.info.ct() {
        Ct::Num if ct.info.is_fp() => scalar(Form::Float, ct.size),
        Ct::Num | Ct::Enum => scalar(Form::Integer, ct.size),
        Ct::Array if ct.info.is_vector() => scalar(Form::Vector, ct.size),
        Ct::Array if ct.info.is_complex() => {
            Passed { size: ct.size, align: ct.size / 2, form: Form::Aggregate(Members::complex(ct.size / 2)) }
        }
        Ct::Struct => {
            let mut members = Members::default();
            if ct.size <= Members::MOST {
                add_members(types, id, 0, &mut members);
            }
            Passed { size: ct.size, align: align_of(types, id), form: Form::Aggregate(members) }
        }
        Ct::Void => scalar(Form::Integer, 0),
        _ => scalar(Form::Integer, POINTER_SIZE),
    }
}

fn align_of(types: &CTypeTable, id: CTypeId) -> u32 {
    1 << types.info(id).0.align_log()
}

fn add_members(types: &CTypeTable, id: CTypeId, offset: u32, members: &mut Members) {
    for member in types.members(id) {
        let ct = types.get(member);
        let (child, at) = (ct.info.child(), offset.saturating_add(ct.size));
        match ct.info.ct() {
            Ct::Field => {
                members.align_to(align_of(types, child));
                add(types, child, at, members);
            }
            Ct::Bitfield if ct.name.is_some() => {
                members.align_to(ct.info.bit_container());
                members.bits(at.saturating_mul(8) + ct.info.bit_pos(), ct.info.bit_size());
            }
            Ct::Attrib if ct.info.attrib() == attrib::SUBTYPE => {
                members.align_to(align_of(types, child));
                add(types, child, at, members);
            }
            _ => {}
        }
    }
}

/// Adds a member of any type.
fn add(types: &CTypeTable, id: CTypeId, offset: u32, members: &mut Members) {
    let id = types.raw_id(id);
    let ct = types.get(id);
    match ct.info.ct() {
        Ct::Struct => add_members(types, id, offset, members),
        Ct::Array if ct.info.is_plain_array() => {
            let element = types.raw_child(ct);
            let each = types.size(element).unwrap_or(0);
            if ct.size == NO_SIZE || ct.info.has(Info::VLA) || ct.size == 0 {
                return members.open_array();
            }
            let mut at = 0;
            while at < ct.size && each > 0 {
                add(types, element, offset.saturating_add(at), members);
                at += each;
            }
        }
        Ct::Array if ct.info.is_complex() => {
            let part = ct.size / 2;
            members.scalar(offset, part, Scalar::Float);
            members.scalar(offset.saturating_add(part), part, Scalar::Float);
        }
        Ct::Array => members.scalar(offset, ct.size, Scalar::Vector),
        Ct::Num if ct.info.is_fp() => members.scalar(offset, ct.size, Scalar::Float),
        Ct::Num | Ct::Enum => members.scalar(offset, ct.size, Scalar::Integer),
        _ => members.scalar(offset, POINTER_SIZE, Scalar::Integer),
    }
}
