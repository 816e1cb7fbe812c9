//! Ways of running a program: a table, so that a new way is one row.

use perilune_recorder::params::OptFlags;

/// When a program is run in a mode.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// It is what the others are compared with.
    Reference,
    /// Every program.
    Always,
    /// Two of the modes with a weight are chosen for each program, in proportion.
    Weight(u32),
    /// Every program, by another implementation, if there is one.
    Other,
}

/// A way of running a program.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Its name, for `--modes` and reports.
    pub name: String,
    /// Is the compiler on?
    pub compiler: bool,
    /// Is the interpreter driven by a loop, where handlers otherwise call one another in tail position?
    pub loop_driver: bool,
    /// Arguments of `jit.opt.start`. In each `#n` stands for a number from 1 to n that the seed chooses.
    pub options: Vec<String>,
    /// `collectgarbage("setpause")`, if it is set.
    pub pause: Option<i32>,
    /// Lua that runs before the program, with numbers as in `options`.
    pub before: Option<&'static str>,
    /// When.
    pub share: Share,
    /// Programs that may run more statements take too long in this mode.
    pub most: u64,
}

const OFF: bool = false;
const ON: bool = true;

/// Share of the programs, percent, whose traces are evaluated in a mode with a weight: machine code takes most of the time of a run,
/// and most of what goes wrong goes wrong before it.
const EVALUATED: u32 = 60;

/// Sets a hook that counts down and is gone then: a program does not notice it, and what is compiled later runs as well.
const HOOK: &str = "local left = #900 debug.sethook(function(event, line) local a, b, c, d, e, f = 0, \"h\", true, {}, 0.5, line \
    left = left - 1 if left < 1 then debug.sethook() end return a, b, c, d, e, f end, \"crl\", #3)";

/// Name, compiler, options, when. What a row cannot say is added in [`all`].
const TABLE: &[(&str, bool, &[&str], Share)] = &[
    ("off", OFF, &[], Share::Reference),
    ("compiled", ON, &["hotloop=#9", "hotexit=#4", "budget=0", "hottree=0"], Share::Weight(25)),
    ("first", ON, &["hotloop=1", "hotexit=1", "hottree=0"], Share::Weight(12)),
    ("default", ON, &[], Share::Weight(1)),
    ("second", ON, &["hotloop=2", "hotexit=2", "budget=0", "hottree=0"], Share::Weight(6)),
    // Trees are made when their side traces have run some times, and take over what those have left in the slots.
    ("trees", ON, &["hotloop=#9", "hotexit=#3", "budget=0", "hottree=#12"], Share::Weight(20)),
    ("third", ON, &["hotloop=3", "hotexit=3", "budget=0"], Share::Weight(6)),
    ("eval", ON, &["hotloop=#3", "hotexit=1", "budget=0", "eval=1"], Share::Always),
    (
        "exits",
        ON,
        &["hotloop=1", "hotexit=1", "maxside=#9", "exitof=1", "exitat=0", "exitevery=#41", "hottree=0"],
        Share::Weight(10),
    ),
    ("exits-some", ON, &["hotloop=1", "hotexit=1", "maxside=#9", "exitof=#13", "exitat=#13", "exitevery=#4"], Share::Weight(8)),
    ("exits-eval", ON, &["hotloop=1", "hotexit=1", "eval=1", "exitof=#3", "exitat=#3", "exitevery=#9"], Share::Weight(8)),
    // Slots are stored on the way, and exits find them there.
    ("stores", ON, &["hotloop=#9", "hotexit=#3", "budget=0", "maxstore=#20", "hottree=0"], Share::Weight(10)),
    ("stores-eval", ON, &["hotloop=#3", "hotexit=1", "budget=0", "maxstore=#9", "eval=1"], Share::Weight(12)),
    ("gcstress", ON, &["hotloop=1", "hotexit=1", "gcstress=1"], Share::Weight(6)),
    ("gcstep", ON, &["hotloop=#3", "hotexit=1", "budget=0", "gcstress=#500", "hottree=0"], Share::Weight(12)),
    ("gcstress-off", OFF, &["gcstress=1"], Share::Weight(2)),
    ("collect", ON, &["hotloop=#3", "hotexit=1", "budget=0", "hottree=0"], Share::Weight(6)),
    ("loop", ON, &["hotloop=#3", "hotexit=1", "budget=0"], Share::Weight(4)),
    ("loop-off", OFF, &[], Share::Weight(2)),
    ("hooked", ON, &["hotloop=#3", "hotexit=1", "budget=0", "hottree=0"], Share::Weight(16)),
    ("hooked-off", OFF, &[], Share::Weight(4)),
    ("unroll", ON, &["hotloop=1", "hotexit=1", "loopunroll=#5", "callunroll=1", "recunroll=1"], Share::Weight(3)),
    ("small", ON, &["hotloop=1", "hotexit=1", "maxrecord=#90", "maxsnap=#20"], Share::Weight(3)),
    ("few", ON, &["hotloop=1", "hotexit=1", "maxtrace=#6", "maxside=#3", "hottree=0"], Share::Weight(4)),
    ("level-0", ON, &["hotloop=1", "hotexit=1", "0"], Share::Weight(2)),
    ("level-1", ON, &["hotloop=1", "hotexit=1", "1"], Share::Weight(2)),
    ("level-2", ON, &["hotloop=1", "hotexit=1", "2"], Share::Weight(2)),
    ("luajit", OFF, &[], Share::Other),
];

/// All modes, the reference first.
pub fn all() -> Vec<Mode> {
    let row = |&(name, compiler, options, share): &(&str, bool, &[&str], Share)| Mode {
        name: name.into(),
        compiler,
        loop_driver: name.starts_with("loop"),
        options: options.iter().map(|o| (*o).into()).collect(),
        pause: (name == "collect").then_some(0),
        before: name.starts_with("hooked").then_some(HOOK),
        share,
        most: match name {
            _ if options.contains(&"gcstress=1") => 250,
            // The evaluator with exits that lead to new traces takes a thousand times as long as the interpreter.
            "exits-eval" => 400,
            // All traces are flushed again and again.
            "few" => 1200,
            _ => u64::MAX,
        },
    };
    let mut modes: Vec<Mode> = TABLE.iter().map(row).collect();
    modes.extend(OptFlags::NAMES.iter().map(|pass| Mode {
        name: format!("without-{pass}"),
        compiler: true,
        loop_driver: false,
        options: vec!["hotloop=#2".into(), "hotexit=1".into(), "budget=0".into(), format!("-{pass}")],
        pause: None,
        before: None,
        share: Share::Weight(1),
        most: u64::MAX,
    }));
    modes
}

impl Mode {
    /// Its options for the program of a seed.
    pub fn options(&self, seed: u64) -> Vec<String> {
        let mut random = fastrand::Rng::with_seed(seed ^ 0x6f70_7469_6f6e);
        let mut options: Vec<String> = self.options.iter().map(|o| with_numbers(o, &mut random)).collect();
        if self.may_evaluate() && random.u32(0..100) < EVALUATED {
            options.push("eval=1".into());
        }
        options
    }
    /// What runs before the program of a seed.
    pub fn before(&self, seed: u64) -> Option<String> {
        let mut random = fastrand::Rng::with_seed(seed ^ 0x6265_666f_7265);
        self.before.map(|text| with_numbers(text, &mut random))
    }
    /// May the evaluator take the place of machine code?
    fn may_evaluate(&self) -> bool {
        self.compiler && matches!(self.share, Share::Weight(_)) && !self.options.iter().any(|o| o.starts_with("eval="))
    }
}

/// The text with a number from 1 to n for each `#n`.
fn with_numbers(text: &str, random: &mut fastrand::Rng) -> String {
    let mut parts = text.split('#');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let most = part[..digits].parse().unwrap_or(1);
        out.push_str(&random.u32(1..=most).to_string());
        out.push_str(&part[digits..]);
    }
    out
}

/// The numbers of the modes that the program of a seed, which runs about so many statements, is run in beside the reference.
/// `chosen`: which may be at all.
pub fn of_seed(modes: &[Mode], chosen: &[bool], seed: u64, budget: u64) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(seed ^ 0x6d6f_6465);
    let weight = |i: &usize| match modes[*i].share {
        Share::Weight(w) if chosen[*i] && budget <= modes[*i].most => w,
        _ => 0,
    };
    let mut out: Vec<usize> = (0..modes.len()).filter(|&i| chosen[i] && modes[i].share == Share::Always).collect();
    // Two of those, so that a program runs in four modes unless few were asked for.
    for _ in 0..2 {
        let open = |i: &usize| !out.contains(i);
        let total: u32 = (0..modes.len()).filter(open).map(|i| weight(&i)).sum();
        let mut left = if total == 0 { 0 } else { random.u32(0..total) };
        let found = (0..modes.len()).filter(open).find(|i| {
            let w = weight(i);
            let here = left < w;
            left = left.saturating_sub(w);
            here
        });
        out.extend(found);
    }
    out
}
