//! The file format of speedscope (<https://www.speedscope.app/file-format-schema.json>): a table of frames, and a profile of the
//! kind `sampled` with a list of stacks in the order of time and one of weights, in milliseconds of processor time.

use super::model::{Profile, Shown, ShownStacks, View};
use crate::json;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    exporter: &'static str,
    shared: Shared<'a>,
    profiles: [Sampled<'a>; 1],
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> Frame<'a> {
    fn new(f: &'a Shown) -> Frame<'a> {
        let (file, line) = f.at.as_ref().map_or((None, None), |(file, line)| (Some(&**file), Some(*line)));
        Frame { name: &f.label, file, line: line.filter(|line| *line != 0) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    unit: &'static str,
    start_value: f64,
    end_value: f64,
    samples: Vec<&'a [u32]>,
    weights: Vec<f64>,
}

/// Writes a profile. `name` is what it is called.
pub fn write(profile: &Profile, view: View, name: &str, to: &mut dyn Write) -> io::Result<()> {
    let ShownStacks { frames, stacks, order, .. } = profile.shown(view);
    let weight = profile.interval.as_secs_f64() * 1000.0;
    let weights: Vec<f64> = order.iter().map(|s| f64::from(s.1) * weight).collect();
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name,
        exporter: concat!("perilune ", env!("CARGO_PKG_VERSION")),
        shared: Shared { frames: frames.iter().map(Frame::new).collect() },
        profiles: [Sampled {
            kind: "sampled",
            name,
            unit: "milliseconds",
            start_value: 0.0,
            end_value: weights.iter().sum(),
            samples: order.iter().map(|s| &*stacks[s.0].0).collect(),
            weights,
        }],
    };
    json::write(to, 1, &file)
}
