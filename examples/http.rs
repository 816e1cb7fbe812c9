//! An HTTP server whose pages are made by Lua: each request is a coroutine, and waits for asynchronous Rust functions without keeping the
//! others waiting. All of it runs on one thread, on tokio.
//!
//! ```text
//! cargo run --example http --features async          makes three requests to itself
//! cargo run --example http --features async 8080     serves at this port
//! ```

use perilune::{Function, Lua, Result, Table};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, LocalSet, spawn_local};

const HANDLER: &str = r#"
local pages = {}

function pages.hello(request)
  return 200, "hello, " .. (request.query or "world")
end

function pages.slow()
  log("slow begins")
  sleep(0.3)
  log("slow ends")
  return 200, "that took long"
end

return function(request)
  log(request.method .. " " .. request.path)
  local page = pages[request.path:sub(2)]
  if not page then return 404, "no page " .. request.path end
  return page(request)
end
"#;

fn new_state() -> Result<(Lua, Function)> {
    let lua = Lua::new();
    let sleep = |_: Lua, seconds: f64| async move {
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        Ok(())
    };
    lua.globals().set("sleep", lua.create_async_function(sleep)?)?;
    let log = |_: &Lua, text: String| {
        println!("log: {text}");
        Ok(())
    };
    lua.globals().set("log", lua.create_function(log)?)?;
    let handler = lua.load(HANDLER).set_name("@pages.lua").eval()?;
    Ok((lua, handler))
}

/// The first line of a request as a table; `None` if it is none.
fn request(lua: &Lua, line: &str) -> Result<Option<Table>> {
    let mut words = line.split_ascii_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let t = lua.create_table()?;
    t.set("method", method)?;
    t.set("path", path)?;
    t.set("query", query)?;
    Ok(Some(t))
}

/// Answers a request.
async fn answer(lua: Lua, handler: Function, mut stream: TcpStream) -> Result<()> {
    let mut lines = BufReader::new(&mut stream).lines();
    let first = lines.next_line().await?.unwrap_or_default();
    while lines.next_line().await?.is_some_and(|header| !header.is_empty()) {}
    let (status, body) = match request(&lua, &first)? {
        None => (400, "not a request".to_owned()),
        Some(request) => handler.call_async(request).await.unwrap_or_else(|e| {
            eprintln!("{e}");
            (500, "an error, see the log".to_owned())
        }),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).await?;
    Ok(())
}

async fn serve(listener: TcpListener) -> Result<()> {
    let (lua, handler) = new_state()?;
    loop {
        let (stream, _) = listener.accept().await?;
        let (lua, handler) = (lua.clone(), handler.clone());
        spawn_local(async move {
            if let Err(e) = answer(lua, handler, stream).await {
                eprintln!("a connection fails: {e}");
            }
        });
    }
}

/// Makes a request. The answer's last line.
async fn get(port: u16, target: &'static str) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(format!("{target}: {}", text.lines().last().unwrap_or_default()))
}

async fn run() -> Result<()> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse()).map_err(perilune::Error::external)?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let is_demonstration = port == 0;
    let port = listener.local_addr()?.port();
    let server = spawn_local(serve(listener));
    if !is_demonstration {
        println!("http://127.0.0.1:{port}/hello");
        return server.await.map_err(perilune::Error::external)?;
    }
    let mut requests = JoinSet::new();
    for target in ["/slow", "/hello?moon", "/none"] {
        requests.spawn_local(get(port, target));
    }
    while let Some(text) = requests.join_next().await {
        println!("{}", text.map_err(perilune::Error::external)??);
    }
    Ok(())
}

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, run())
}
