//! The feature `send`: states that go from thread to thread, and states that several threads use.
//!
//! ThreadSanitizer does not see compiled code, and Miri does not run it. What these tests check instead: every use of a state panics in a
//! thread that does not hold its lock (`src/api/sync.rs`), so that a forgotten lock fails the test that comes there; and what many threads do
//! at once with compiled code, a busy collector and time limits has the right result.

use perilune::{
    AnyUserData, Error, Function, InterruptHandle, Lua, LuaString, MultiValue, RegistryKey, Result, Table, Thread, UserData,
    UserDataMethods, UserDataRef, UserDataRefMut, Value, WeakLua,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

/// As many threads use a state at once.
const THREADS: usize = 4;

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn states_and_handles_are_send_and_sync() {
    is_send_and_sync::<Lua>();
    is_send_and_sync::<WeakLua>();
    is_send_and_sync::<(Table, Function, Thread, LuaString, AnyUserData, RegistryKey)>();
    is_send_and_sync::<(Value, MultiValue, Error, InterruptHandle)>();
    is_send_and_sync::<(UserDataRef<String>, UserDataRefMut<String>)>();
    #[cfg(feature = "async")]
    is_send_and_sync::<perilune::AsyncThread<std::rc::Rc<()>>>();
}

/// A loop that is compiled, makes garbage, and calls back.
const WORK: &str = "local n = ... local sum = 0
    for i = 1, n do
        local t = {i, tostring(i)}
        sum = sum + #t + tick(i % 7)
    end
    return sum";

fn expected(n: usize) -> usize {
    (1..=n).map(|i| 2 + i % 7).sum()
}

fn with_tick() -> Result<(Lua, Arc<AtomicUsize>)> {
    let lua = Lua::new();
    let ticks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ticks);
    let tick = lua.create_function(move |_, i: usize| {
        count.fetch_add(1, SeqCst);
        Ok(i)
    })?;
    lua.globals().set("tick", tick)?;
    Ok((lua, ticks))
}

/// A state, its coroutines and its traces go through many threads, which end.
#[test]
fn a_state_goes_from_thread_to_thread() -> Result<()> {
    let (mut lua, ticks) = with_tick()?;
    let thread = lua.create_thread(
        lua.load("local i = 0 while true do for _ = 1, 200 do i = i + 1 end coroutine.yield(i) end").into_function()?,
    )?;
    let work = lua.load(WORK).into_function()?;
    for round in 1..=20 {
        let (moved, thread, work) = (lua, thread.clone(), work.clone());
        lua = std::thread::spawn(move || -> Result<Lua> {
            assert_eq!(thread.resume::<usize>(())?, 200 * round);
            assert_eq!(work.call::<usize>(1000)?, expected(1000));
            drop(work);
            moved.gc_collect()?;
            Ok(moved)
        })
        .join()
        .expect("no panic")?;
    }
    assert_eq!(ticks.load(SeqCst), 20 * 1000);
    Ok(())
}

/// Four threads call, read and write in one state, and make and drop handles of it.
#[test]
fn four_threads_use_a_state() -> Result<()> {
    let (lua, ticks) = with_tick()?;
    let counter = lua.load("local n = 0 return function() n = n + 1 return n end").eval::<Function>()?;
    let shared = lua.create_table()?;
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for id in 0..THREADS {
            let (lua, counter, shared, start) = (&lua, &counter, shared.clone(), &start);
            scope.spawn(move || {
                start.wait();
                for i in 0..200 {
                    counter.call::<usize>(()).expect("no error");
                    let own = lua.create_table_from([(format!("key{i}"), i)]).expect("no error");
                    shared.set(id, &own).expect("no error");
                    assert_eq!(own.get::<usize>(format!("key{i}")).expect("no error"), i);
                    assert_eq!(
                        lua.create_string(format!("{id} {i}")).expect("a string").to_str().expect("text"),
                        format!("{id} {i}")
                    );
                    assert_eq!(own.pairs::<String, usize>().map(|pair| pair.expect("a pair").1).sum::<usize>(), i);
                    if i % 50 == 0 {
                        assert_eq!(lua.load(WORK).call::<usize>(500).expect("no error"), expected(500));
                        lua.gc_collect().expect("no error");
                    }
                }
            });
        }
    });
    assert_eq!(counter.call::<usize>(())?, THREADS * 200 + 1);
    assert_eq!(ticks.load(SeqCst), THREADS * 4 * 500);
    assert_eq!(shared.pairs::<usize, Table>().count(), THREADS);
    Ok(())
}

/// A thread waits while another one is in the state, also in a callback.
#[test]
fn one_thread_at_a_time() -> Result<()> {
    let lua = Lua::new();
    let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (i, m) = (Arc::clone(&inside), Arc::clone(&most));
    let f = lua.create_function(move |lua, ()| {
        m.fetch_max(i.fetch_add(1, SeqCst) + 1, SeqCst);
        std::thread::sleep(Duration::from_millis(2));
        // The thread may take the lock again.
        lua.globals().set("x", 1)?;
        i.fetch_sub(1, SeqCst);
        Ok(())
    })?;
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..5).for_each(|_| f.call::<()>(()).expect("no error")));
        }
    });
    assert_eq!(most.load(SeqCst), 1);
    Ok(())
}

struct Account(i64);

impl UserData for Account {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("add", |_, this, n: i64| {
            this.0 += n;
            Ok(this.0)
        });
        methods.add_method("value", |_, this, ()| Ok(this.0));
    }
}

/// Borrows of userdata that outlive the lock keep other threads away as well.
#[test]
fn borrows_of_userdata_count_on_all_threads() -> Result<()> {
    let lua = Lua::new();
    let account = lua.create_userdata(Account(1))?;
    lua.globals().set("account", &account)?;
    let writing = account.borrow_mut::<Account>()?;
    let refused =
        std::thread::scope(|scope| scope.spawn(|| lua.load("account:value()").exec().is_err()).join().expect("no panic"));
    assert!(refused);
    // A borrow may end on another thread.
    std::thread::spawn(move || drop(writing)).join().expect("no panic");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            // Adding may be refused, while another thread has a borrow.
            scope.spawn(|| lua.load("for i = 1, 1000 do pcall(account.add, account, 1) end").exec().expect("no error"));
            scope.spawn(|| (0..100).for_each(|_| drop(account.borrow::<Account>())));
        }
    });
    assert!(account.borrow::<Account>()?.0 > 1);
    assert!(account.take::<Account>()?.0 > 1);
    Ok(())
}

/// An interrupt reaches the thread that is in the state, whichever it is, and one that comes while no thread is waits for the next.
#[test]
fn interrupts_find_the_thread() -> Result<()> {
    let lua = Lua::new();
    let handle = lua.interrupt_handle();
    for _ in 0..10 {
        let (started, begins) = mpsc::channel();
        let begin = lua.create_function(move |_, ()| Ok(started.send(()).is_ok()))?;
        lua.globals().set("begin", begin)?;
        let other = lua.clone();
        let running = std::thread::spawn(move || other.load("begin() local i = 0 while true do i = i + 1 end").exec());
        begins.recv().expect("the program begins");
        assert!(handle.interrupt());
        assert!(matches!(running.join().expect("no panic"), Err(Error::Interrupted(_))));
        lua.clear_interrupt();
        assert_eq!(lua.load("return 1").eval::<i32>()?, 1);
        // Nobody is in the state now.
        assert!(handle.interrupt());
        let other = lua.clone();
        let refused = std::thread::spawn(move || other.load("while true do end").exec()).join().expect("no panic");
        assert!(matches!(refused, Err(Error::Interrupted(_))));
        lua.clear_interrupt();
    }
    drop(lua);
    assert!(!handle.interrupt());
    Ok(())
}

/// A handle is made while another thread runs the program that it is to end. If that waited, the time limit would end the program.
#[test]
fn later_handles_are_made_at_once() -> Result<()> {
    let lua = Lua::new();
    drop(lua.interrupt_handle());
    lua.set_time_limit(Some(Duration::from_secs(20)))?;
    let (started, begins) = mpsc::channel();
    lua.globals().set("begin", lua.create_function(move |_, ()| Ok(started.send(()).is_ok()))?)?;
    let other = lua.clone();
    let running = std::thread::spawn(move || other.load("begin() while true do end").exec());
    begins.recv().expect("the program begins");
    assert!(lua.interrupt_handle().interrupt());
    assert!(matches!(running.join().expect("no panic"), Err(Error::Interrupted(_))));
    Ok(())
}

/// A time limit goes with the state.
#[test]
fn a_time_limit_holds_on_another_thread() -> Result<()> {
    let lua = Lua::new();
    for _ in 0..3 {
        lua.set_time_limit(Some(Duration::from_millis(30)))?;
        let other = lua.clone();
        let ended = std::thread::spawn(move || other.load("while true do pcall(function() while true do end end) end").exec());
        assert!(matches!(ended.join().expect("no panic"), Err(Error::TimeLimitExceeded(_))));
        assert!(matches!(lua.load("while true do end").exec(), Err(Error::TimeLimitExceeded(_))));
        lua.set_time_limit(None)?;
        lua.load("return 1").exec()?;
    }
    Ok(())
}

/// The last owner of a state may be any thread: what Rust code gave to it is dropped there.
#[test]
fn a_state_is_closed_on_another_thread() -> Result<()> {
    struct OnDrop(Arc<AtomicBool>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    impl UserData for OnDrop {}
    let lua = Lua::new();
    let dropped = Arc::new(AtomicBool::new(false));
    lua.globals().set("u", OnDrop(Arc::clone(&dropped)))?;
    lua.load("getmetatable('').__gc = 1 local p = newproxy(true) getmetatable(p).__gc = function() local n = 0 for i = 1, 1000 do n = n + i end end keep = p").exec()?;
    let handle = lua.globals();
    std::thread::spawn(move || drop(lua)).join().expect("no panic");
    assert!(dropped.load(SeqCst));
    // A handle of a closed state is dropped quietly.
    drop(handle);
    Ok(())
}

/// The closures of a scope need not be `Send`: no other thread comes into the state while it lasts.
#[test]
fn a_scope_excludes_other_threads() -> Result<()> {
    let lua = Lua::new();
    let calls = std::cell::Cell::new(0);
    let seen = Arc::new(Mutex::new(None));
    std::thread::scope(|threads| {
        lua.scope(|scope| {
            lua.globals().set(
                "f",
                scope.create_function(|_, ()| {
                    calls.set(calls.get() + 1);
                    Ok(())
                })?,
            )?;
            let (lua, seen) = (lua.clone(), Arc::clone(&seen));
            threads.spawn(move || *seen.lock().expect("no panic") = Some(lua.load("f()").exec().is_err()));
            // The other thread waits, and finds a function whose scope has ended.
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        })
    })?;
    assert_eq!((calls.get(), *seen.lock().expect("no panic")), (0, Some(true)));
    Ok(())
}

/// Application data is borrowed under the lock.
#[test]
fn application_data() {
    let lua = Lua::new();
    lua.set_app_data(0_usize);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..100).for_each(|_| *lua.app_data_mut::<usize>().expect("a number") += 1));
        }
    });
    assert_eq!(*lua.app_data_ref::<usize>().expect("a number"), THREADS * 100);
}

/// Samples are taken on the thread where they began, while the state is used there.
#[cfg(feature = "observe")]
#[test]
fn profiles() -> Result<()> {
    let lua = Lua::new();
    let work = lua.load("local n = ... local x = 0 for i = 1, n do x = x + i % 3 end return x").into_function()?;
    lua.start_profile(perilune::observe::profile::Options::new()).expect("samples");
    std::thread::scope(|scope| {
        scope.spawn(|| work.call::<f64>(5_000_000).expect("no error"));
    });
    work.call::<f64>(5_000_000)?;
    std::thread::scope(|scope| {
        scope.spawn(|| drop(lua.stop_profile().expect("a profile")));
    });
    work.call::<f64>(5_000_000)?;
    Ok(())
}

#[cfg(feature = "async")]
mod asynchronous {
    use super::*;

    /// Tasks of an executor with several threads.
    #[test]
    fn tasks_on_several_threads() -> Result<()> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let lua = Lua::new();
            let sleep = lua.create_async_function(|_, milliseconds: u64| async move {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                Ok(milliseconds)
            })?;
            lua.globals().set("sleep", sleep)?;
            let f: Function =
                lua.load("function(n) local sum = 0 for i = 1, n do sum = sum + sleep(i % 3) end return sum end").eval()?;
            let tasks: Vec<_> = (0..20).map(|i| (i, tokio::spawn(f.call_async::<u64>(i)))).collect();
            for (i, task) in tasks {
                assert_eq!(task.await.expect("no panic")?, (1..=i).map(|i| i % 3).sum::<u64>());
            }
            Ok(())
        })
    }
}
