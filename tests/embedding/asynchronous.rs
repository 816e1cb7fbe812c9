//! Asynchronous functions, on an executor of a few lines.

use perilune::{
    Error, Function, Lua, LuaOptions, MetaMethod, MultiValue, ObjectLike, Result, StdLib, Thread, UserData, UserDataMethods,
    Value,
};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls a future until it is ready; it must have been woken before each poll but the first.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut future = pin!(future);
    for _ in 0..1000 {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        assert!(woken.0.swap(0, Ordering::Relaxed) > 0, "nobody would poll again");
    }
    panic!("the future does not end");
}

/// A future that is ready when it is polled the `n`th time.
async fn wait(n: u32) {
    let mut left = n;
    poll_fn(|context| {
        left -= 1;
        if left == 0 {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn with_wait(lua: &Lua) -> Result<()> {
    let f = lua.create_async_function(|_, n: u32| async move {
        wait(n).await;
        Ok((n, "waited"))
    })?;
    lua.globals().set("wait", f)
}

#[test]
fn a_program_waits() -> Result<()> {
    let lua = Lua::new();
    with_wait(&lua)?;
    let f: Function = lua
        .load("return function(n) local s = 0 for i = 1, n do s = s + wait(3) end return s, (select(2, wait(1))) end")
        .eval()?;
    let (sum, text): (u32, String) = block_on(f.call_async(20))?;
    assert_eq!((sum, text.as_str()), (60, "waited"));
    Ok(())
}

#[test]
fn two_programs_take_turns() -> Result<()> {
    let lua = Lua::new();
    with_wait(&lua)?;
    lua.load("order = {} function run(name) for i = 1, 3 do order[#order + 1] = name .. i wait(2) end return name end").exec()?;
    let run: Function = lua.globals().get("run")?;
    let (one, two) = (run.call_async::<String>("a"), run.call_async::<String>("b"));
    let (mut one, mut two) = (pin!(one), pin!(two));
    let mut names = (None, None);
    block_on(poll_fn(|context| {
        if names.0.is_none()
            && let Poll::Ready(name) = one.as_mut().poll(context)
        {
            names.0 = name.ok();
        }
        if names.1.is_none()
            && let Poll::Ready(name) = two.as_mut().poll(context)
        {
            names.1 = name.ok();
        }
        if names.0.is_some() && names.1.is_some() { Poll::Ready(()) } else { Poll::Pending }
    }));
    assert_eq!(names, (Some("a".to_owned()), Some("b".to_owned())));
    assert_eq!(lua.load("return table.concat(order, ' ')").eval::<String>()?, "a1 b1 a2 b2 a3 b3");
    Ok(())
}

#[test]
fn errors_and_bad_arguments() -> Result<()> {
    let lua = Lua::new();
    with_wait(&lua)?;
    let fails = lua.create_async_function(|_, ()| async move {
        wait(2).await;
        Err::<(), _>(Error::runtime("failed later"))
    })?;
    lua.globals().set("fails", fails)?;
    let f = lua.load("local ok, e = pcall(fails) return ok, tostring(e)").into_function()?;
    let (ok, text): (bool, String) = block_on(f.call_async(()))?;
    assert!(!ok && text.contains("failed later"), "{text}");
    let f = lua.load("fails()").into_function()?;
    assert_eq!(block_on(f.call_async::<()>(())).unwrap_err().message(), "failed later");
    let f = lua.load("wait({})").into_function()?;
    assert!(block_on(f.call_async::<()>(())).unwrap_err().message().contains("bad argument #1"));
    // Outside of a coroutine.
    let error = lua.load("wait(2)").exec().unwrap_err();
    assert!(error.message().contains("attempt to yield"), "{error}");
    Ok(())
}

#[test]
fn what_a_coroutine_yields_is_a_stream() -> Result<()> {
    use std::pin::Pin;
    let lua = Lua::new();
    with_wait(&lua)?;
    let f: Function =
        lua.load("return function(n) for i = 1, n do wait(2) coroutine.yield(i * i) end return 'end' end").eval()?;
    let mut stream = lua.create_thread(f)?.into_async::<String>(3)?;
    let mut next = || block_on(poll_fn(|context| futures_core::Stream::poll_next(Pin::new(&mut stream), context)));
    let mut items = Vec::new();
    while let Some(item) = next() {
        items.push(item?);
    }
    assert_eq!(items, ["1", "4", "9", "end"]);
    Ok(())
}

#[test]
fn values_go_both_ways_by_yield_with() -> Result<()> {
    let lua = Lua::new();
    let f = lua.create_async_function(|lua, n: i32| async move {
        let empty: MultiValue = lua.yield_with(()).await?;
        let (a, b): (i32, i32) = lua.yield_with((n, empty.len())).await?;
        Ok(a * b)
    })?;
    let thread = lua.create_thread(f)?;
    assert!(thread.resume::<MultiValue>(7)?.is_empty());
    assert_eq!(thread.resume::<(i32, usize)>(())?, (7, 0));
    assert_eq!(thread.resume::<i32>((6, 7))?, 42);
    assert!(thread.is_finished());
    Ok(())
}

/// Sets a flag when it is dropped.
struct Flag(Rc<Cell<bool>>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[test]
fn a_call_that_is_given_up_drops_its_future() -> Result<()> {
    let lua = Lua::new();
    let dropped = Rc::new(Cell::new(false));
    let flag = Rc::clone(&dropped);
    let f = lua.create_async_function(move |lua, ()| {
        let flag = Flag(Rc::clone(&flag));
        async move {
            wait(1000).await;
            drop((lua, flag));
            Ok(())
        }
    })?;
    let weak = lua.weak();
    let mut call = Box::pin(f.call_async::<()>(()));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(!dropped.get());
    drop(call);
    assert!(dropped.get());
    drop((f, lua));
    assert!(weak.try_upgrade().is_none(), "the future kept its state");
    Ok(())
}

#[test]
fn scripts_cannot_get_in_between() -> Result<()> {
    let lua = Lua::new();
    with_wait(&lua)?;
    lua.load("coroutine.yield, coroutine, select, unpack = nil, nil, nil, nil").exec()?;
    let f = lua.load("return (wait(3))").into_function()?;
    assert_eq!(block_on(f.call_async::<Value>(()))?, Value::Integer(3));
    Ok(())
}

struct Cell64(u64);

impl UserData for Cell64 {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method("get", |_, this, times: u32| async move {
            wait(times).await;
            Ok(this.0)
        });
        methods.add_async_method_mut("set", |_, mut this, v: u64| async move {
            wait(2).await;
            this.0 = v;
            Ok(())
        });
        methods.add_async_method_once("finish", |_, this, ()| async move {
            wait(2).await;
            Ok(this.0)
        });
        methods.add_async_function("add", |_, (a, b): (u64, u64)| async move {
            wait(2).await;
            Ok(a + b)
        });
        methods.add_async_meta_method(MetaMethod::Call, |_, this, n: u64| async move {
            wait(2).await;
            Ok(this.0 * n)
        });
        methods.add_async_meta_method_mut(MetaMethod::NewIndex, |_, mut this, (_, v): (String, u64)| async move {
            wait(2).await;
            this.0 = v;
            Ok(())
        });
        methods.add_async_meta_function(MetaMethod::Concat, |_, (a, b): (Value, Value)| async move {
            wait(2).await;
            Ok(format!("{} .. {}", a.type_name(), b.type_name()))
        });
    }
}

#[test]
fn methods_of_userdata_wait() -> Result<()> {
    let lua = Lua::new();
    let cell = lua.create_userdata(Cell64(7))?;
    lua.globals().set("cell", &cell)?;
    let code = "
        assert(cell:get(3) == 7)
        cell:set(8)
        assert(cell:get(1) == 8 and cell.add(1, 2) == 3 and cell(10) == 80)
        cell.any = 9
        return cell .. 1";
    assert_eq!(block_on(lua.load(code).eval_async::<String>())?, "userdata .. integer");
    assert_eq!(block_on(cell.call_async_method::<u64>("get", 2))?, 9);
    assert_eq!(block_on(cell.call_async_function::<u64>("add", (4, 5)))?, 9);
    assert_eq!(block_on(cell.call_async::<u64>(2))?, 18);

    // The value is borrowed as long as the future exists.
    let mut call = Box::pin(cell.call_async_method::<u64>("get", 1000));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(matches!(cell.borrow_mut::<Cell64>(), Err(Error::UserDataBorrowMutError)));
    let refused = block_on(cell.call_async_method::<()>("set", 1)).unwrap_err();
    assert!(refused.message().contains("bad argument `self` to `Cell64.set`: error mutably borrowing"), "{refused}");
    drop(call);
    assert_eq!(cell.borrow_mut::<Cell64>()?.0, 9);

    assert_eq!(block_on(cell.call_async_method::<u64>("finish", ()))?, 9);
    assert!(matches!(cell.borrow::<Cell64>(), Err(Error::UserDataDestructed)));
    let refused = block_on(lua.load("cell.get(print)").exec_async()).unwrap_err();
    assert!(refused.message().contains("has been destructed"), "{refused}");
    Ok(())
}

#[test]
fn functions_before_there_is_a_state() -> Result<()> {
    let lua = Lua::new();
    let half = |n: i64| async move {
        wait(2).await;
        if n % 2 == 0 { Ok(n / 2) } else { Err("odd") }
    };
    lua.globals().set("half", Function::wrap_async(half))?;
    lua.globals().set("half_raw", Function::wrap_raw_async(half))?;
    let code = "local n, e = half_raw(5) return half(4), n, e, pcall(half, 3)";
    let (n, none, e, ok, raised): (i64, Option<i64>, String, bool, Error) = block_on(lua.load(code).eval_async())?;
    assert_eq!((n, none, e.as_str(), ok, raised.message().as_str()), (2, None, "odd", false, "odd"));
    let missing = block_on(lua.globals().call_async_function::<()>("none", ())).unwrap_err();
    assert!(missing.message().contains("attempt to call a nil value (function 'none')"), "{missing}");
    assert!(block_on(lua.globals().call_async::<()>(())).unwrap_err().message().contains("attempt to call a table value"));
    Ok(())
}

#[test]
fn coroutines_of_calls_are_used_again() -> Result<()> {
    let coroutines = |size| -> Result<bool> {
        let lua = Lua::new_with(StdLib::ALL_SAFE, LuaOptions::new().thread_pool_size(size))?;
        with_wait(&lua)?;
        let f =
            lua.load("local fail = ... wait(2) if fail then error('failed') end return coroutine.running()").into_function()?;
        let first: Thread = block_on(f.call_async(false))?;
        assert!(block_on(f.call_async::<()>(true)).is_err());
        // One that was given up.
        let mut call = Box::pin(f.call_async::<()>(false));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(call);
        lua.gc_collect()?;
        Ok(first == block_on(f.call_async::<Thread>(false))?)
    };
    assert_eq!((coroutines(0)?, coroutines(4)?), (false, true));
    Ok(())
}

#[test]
fn programs_do_not_see_the_coroutines_of_calls() -> Result<()> {
    let lua = Lua::new();
    let current = lua.create_async_function(|lua, ()| async move {
        wait(2).await;
        let inner = lua.create_async_function(|lua, ()| async move { Ok(lua.current_thread()) })?;
        Ok((lua.current_thread(), inner.call_async::<Thread>(()).await?))
    })?;
    let (outer, inner): (Thread, Thread) = block_on(current.call_async(()))?;
    assert_eq!((&outer, &inner), (&lua.current_thread(), &lua.current_thread()));
    // One that the program has made is seen.
    let thread = lua.create_thread(current)?;
    let (outer, inner): (Thread, Thread) = block_on(thread.clone().into_async(())?)?;
    assert_eq!((&outer, &inner), (&thread, &thread));
    Ok(())
}

#[cfg(feature = "macros")]
#[test]
fn macros_make_asynchronous_methods() -> Result<()> {
    #[derive(perilune::UserData)]
    struct Total(u32);

    #[perilune::userdata_impl]
    impl Total {
        async fn add(&mut self, n: u32) -> Result<u32> {
            wait(2).await;
            self.0 += n;
            Ok(self.0)
        }
        #[lua(infallible)]
        async fn version(lua: Lua) -> String {
            lua.globals().get("_VERSION").unwrap_or_default()
        }
    }

    let lua = Lua::new();
    let total: perilune::AnyUserData = lua.create_userdata(Total(1))?;
    assert_eq!(block_on(total.call_async_method::<u32>("add", 2))?, 3);
    assert_eq!(block_on(total.call_async_function::<String>("version", ()))?, "Lua 5.1");
    Ok(())
}

/// What a call waits for is kept with other calls later: who gives up a call that is over already gives up none of those.
#[test]
fn a_call_that_is_given_up_late_leaves_others_alone() -> Result<()> {
    let lua = Lua::new();
    with_wait(&lua)?;
    let thread = lua.create_thread(lua.load("return (wait(3))").into_function()?)?;
    let mut context = Context::from_waker(Waker::noop());
    let mut first = thread.clone().into_async::<u32>(())?;
    assert!(std::pin::Pin::new(&mut first).poll(&mut context).is_pending());
    // Somebody else resumes the coroutine until it ends.
    thread.resume::<()>(())?;
    assert_eq!(thread.resume::<u32>(())?, 3);

    let wait: Function = lua.globals().get("wait")?;
    let mut second = Box::pin(wait.call_async::<u32>(3));
    assert!(second.as_mut().poll(&mut context).is_pending());
    drop(first);
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert!(matches!(second.as_mut().poll(&mut context), Poll::Ready(Ok(3))));
    Ok(())
}

#[test]
fn arguments_live_until_the_call_begins() -> Result<()> {
    let lua = Lua::new();
    let count: Function =
        lua.load("return function(...) local s = 0 for _, t in ipairs({...}) do s = s + t[1] end return s end").eval()?;
    let table = |n: i32| lua.create_sequence_from([n]);
    let (few, many) = (count.call_async::<i32>(table(7)?), count.call_async::<i32>((table(10)?, table(20)?, table(30)?)));
    let dropped = count.call_async::<i32>(table(1)?);
    lua.gc_collect()?;
    drop(dropped);
    let again = count.call_async::<i32>((table(1)?, table(2)?));
    lua.gc_collect()?;
    lua.load("for i = 1, 1000 do local t = {i} end").exec()?;
    assert_eq!((block_on(few)?, block_on(many)?, block_on(again)?), (7, 60, 3));
    Ok(())
}

/// Calls out of a loop that is compiled, some of which are ready at once.
#[test]
fn hot_loops_wait() -> Result<()> {
    let lua = Lua::new();
    with_wait(&lua)?;
    let f: Function =
        lua.load("return function(n) local s = 0 for i = 1, n do s = s + wait(i % 7 == 0 and 2 or 1) end return s end").eval()?;
    for _ in 0..3 {
        assert_eq!(block_on(f.call_async::<u32>(700))?, 800);
    }
    Ok(())
}
