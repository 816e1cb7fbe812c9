//! What the macros make. What they refuse: `derive/src/tests.rs`.

use perilune::{AnyUserData, FromLua, Lua, ObjectLike, Result, UserData, chunk, userdata_impl};

#[derive(Clone, Debug, UserData, FromLua)]
struct Point {
    x: f64,
    r#type: String,
    #[lua(skip)]
    tags: Vec<String>,
}

fn point(x: f64) -> Point {
    Point { x, r#type: "point".into(), tags: vec!["first".into(), "second".into()] }
}

#[userdata_impl]
impl Point {
    /// A value of the type itself.
    const ZERO: Point = Point { x: 0., r#type: String::new(), tags: Vec::new() };

    #[lua(infallible)]
    fn distance(&self, to: &Self) -> f64 {
        (self.x - to.x).abs()
    }
    #[lua(infallible)]
    fn nearest(&self, all: Vec<Self>, or: Option<&Self>) -> Self {
        let nearest = all.into_iter().min_by(|a, b| self.distance(a).total_cmp(&self.distance(b)));
        nearest.or_else(|| or.cloned()).unwrap_or(Self::ZERO)
    }
    #[lua(infallible)]
    fn r#move(&mut self, by: f64) {
        self.x += by;
    }
    #[lua(getter, infallible)]
    fn tag(&self) -> &str {
        &self.tags[0]
    }
    fn tag_at(&self, i: usize) -> Result<Option<&String>> {
        Ok(self.tags.get(i))
    }
    #[lua(infallible)]
    fn longer<'a>(&'a self, other: &'a str) -> &'a str {
        if other.len() > self.r#type.len() { other } else { &self.r#type }
    }
    #[lua(infallible)]
    fn constant(&self) -> &'static str {
        "constant"
    }
    #[lua(meta, infallible)]
    fn __tostring(&self) -> &str {
        &self.r#type
    }
    #[cfg(feature = "async")]
    #[lua(infallible)]
    async fn later(&self) -> &str {
        &self.tags[1]
    }
}

#[test]
fn a_type_stands_for_itself() -> Result<()> {
    let lua = Lua::new();
    let globals = lua.globals();
    globals.set("p", point(1.))?;
    globals.set("q", point(4.))?;
    assert_eq!(lua.load("p:distance(q) + p.ZERO.x + p.ZERO.ZERO.x").eval::<f64>()?, 3.);
    assert_eq!(lua.load("p:nearest({ q, p.ZERO }).x").eval::<f64>()?, 0.);
    assert_eq!(lua.load("p:nearest({}, q).x").eval::<f64>()?, 4.);
    Ok(())
}

#[test]
fn raw_identifiers_are_plain_names() -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("p", point(1.))?;
    lua.load("p:move(2) p.type = p.type .. '!'").exec()?;
    let p: Point = lua.globals().get("p")?;
    assert_eq!((p.x, &*p.r#type), (3., "point!"));
    let r#type = 5;
    assert_eq!(lua.load(chunk! { return $r#type + $r#type }).eval::<i32>()?, 10);
    Ok(())
}

#[test]
fn results_may_borrow_from_the_value() -> Result<()> {
    let lua = Lua::new();
    let p = lua.create_userdata(point(1.))?;
    let texts = "local p = ... return p.tag, p:tag_at(1), p:tag_at(2), p:longer('a longer text'), p:constant(), tostring(p)";
    let texts: (String, String, Option<String>, String, String, String) = lua.load(texts).call(&p)?;
    let texts = (&*texts.0, &*texts.1, texts.2, &*texts.3, &*texts.4, &*texts.5);
    assert_eq!(texts, ("first", "second", None, "a longer text", "constant", "point"));
    // Nothing is borrowed any more.
    p.call_method::<()>("move", 1)?;
    assert_eq!(p.borrow::<Point>()?.x, 2.);
    Ok(())
}

#[cfg(feature = "async")]
#[test]
fn results_of_asynchronous_methods_may_borrow() -> Result<()> {
    let lua = Lua::new();
    let p: AnyUserData = lua.create_userdata(point(1.))?;
    let later = lua.load("return (...):later()").into_function()?;
    assert_eq!(super::asynchronous::block_on(later.call_async::<String>(p))?, "second");
    Ok(())
}
