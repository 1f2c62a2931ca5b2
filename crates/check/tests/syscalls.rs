//! Within a cycle no thread that plays calls the system, but for the counted wake: proved by a filter in the kernel.
//!
//! A test starts this program once more, with one of its own tests alone. There every thread that plays puts itself
//! under a filter, from inside its first step; from then on each of its calls is caught. Calls that wait or wake are
//! made for it and counted; the wait must be on the one word that workers rest on. Any other call is refused, and its
//! number kept.
// The sanitizer calls the system itself.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(tsan)))]

use divisi_check::fixtures::{add, graph, kind, pass, skip};
use divisi_check::impulse_files::ImpulseFiles;
use divisi_check::test_bench::{
    ALL_STRATEGIES, PIPELINED, RunConfig, TestBench, TestStrategy, registry,
};
use divisi_check::{deferred_node, latency_node, network};
use exec::{CycleInfo, CycleResult, CycleStatus};
use graph::{Graph, NodeId};
use processor::{Block, Event, EventBody, EventTarget, ProcessStatus, Registry};
use std::cell::Cell;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use workers::{AudioThread, WaitPolicy};

/// The variable that makes a test the child's: `WAY WORKERS CRIME`.
const ORDERS: &str = "DIVISI_UNDER_FILTER";
/// Where the child finds an impulse response.
const RESPONSE: &str = "DIVISI_RESPONSE";
/// Number of cycles under the filter.
const CYCLES: u64 = 1000;
/// Marks calls that the handler makes itself: a number in an argument that these calls do not use.
const OURS: u32 = 0x6d75_7369;

/// Calls that are not allowed, and the number of the first.
static VIOLATIONS: AtomicU32 = AtomicU32::new(0);
static FIRST_VIOLATION: AtomicI64 = AtomicI64::new(-1);
static WAKE_CALLS: AtomicU32 = AtomicU32::new(0);
static WOKEN: AtomicU64 = AtomicU64::new(0);
/// The words that are waited on; there must be one.
static WAITED_ON: AtomicU64 = AtomicU64::new(0);
static OTHER_WAITS: AtomicU32 = AtomicU32::new(0);
static HOST_WAITS: AtomicU32 = AtomicU32::new(0);
/// Number of threads under the filter.
static UNDER_FILTER: AtomicU32 = AtomicU32::new(0);
static REFUSED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_UNDER_FILTER: Cell<bool> = const { Cell::new(false) };
    static IS_HOST: Cell<bool> = const { Cell::new(false) };
}

/// Sees to a call that the filter caught.
extern "C" fn on_call(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler of this kind a context of this type, ours while we run.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let get = |register: i32| registers[register as usize];
    let number = get(libc::REG_RAX);
    let [address, operation, value, timeout, names] = [
        libc::REG_RDI,
        libc::REG_RSI,
        libc::REG_RDX,
        libc::REG_R10,
        libc::REG_R9,
    ]
    .map(get);
    let answer = if number == libc::SYS_futex {
        // SAFETY: as the thread called it; what is changed is an argument that waits and wakes do not use.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_futex,
                address,
                operation,
                value,
                timeout,
                i64::from(OURS),
                names,
            )
        };
        count(address as u64, operation as i32 & 0x7f, answer);
        answer
    } else {
        VIOLATIONS.fetch_add(1, SeqCst);
        let _ = FIRST_VIOLATION.compare_exchange(-1, number, SeqCst, SeqCst);
        -1
    };
    // The error number does not matter here.
    registers[libc::REG_RAX as usize] = if answer < 0 {
        i64::from(-libc::EAGAIN)
    } else {
        answer
    };
}

fn count(address: u64, operation: i32, answer: i64) {
    if matches!(operation, libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET) {
        WAKE_CALLS.fetch_add(1, SeqCst);
        WOKEN.fetch_add(answer.max(0) as u64, SeqCst);
        return;
    }
    if IS_HOST.get() {
        HOST_WAITS.fetch_add(1, SeqCst);
    }
    let first = WAITED_ON.compare_exchange(0, address, SeqCst, SeqCst);
    if first.is_err_and(|first| first != address) {
        OTHER_WAITS.fetch_add(1, SeqCst);
    }
}

/// Puts the calling thread under the filter, once; the threads that it starts too.
fn enter_filter() {
    if IS_UNDER_FILTER.replace(true) {
        return;
    }
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let (load, equals, answer) = (
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    // Offsets in `seccomp_data`: the number at 0, the fifth argument at 48.
    let mut program = [
        step(load, 0, 0, 0),
        step(equals, libc::SYS_rt_sigreturn as u32, 4, 0),
        step(equals, libc::SYS_futex as u32, 0, 2),
        step(load, 48, 0, 0),
        step(equals, OURS, 1, 0),
        step(answer, libc::SECCOMP_RET_TRAP, 0, 0),
        step(answer, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: a whole program that the kernel copies and checks.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) != 0 {
            REFUSED.store(true, SeqCst);
        }
    }
    UNDER_FILTER.fetch_add(1, SeqCst);
}

fn catch_calls() {
    // SAFETY: zeros are a right start for the structure; the handler allocates nothing and locks nothing.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = on_call as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        assert_eq!(
            libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut()),
            0
        );
    }
}

/// Nodes that put every thread that plays under the filter, and one that makes a forbidden call on request.
fn kinds(workers: u32, violation: &Arc<AtomicBool>, reported: &str) -> Registry {
    let mut registry = registry();
    deferred_node::add(&mut registry, |_| {});
    latency_node::add(&mut registry);
    network::add(&mut registry);
    // Dear, so that the plan has use for all.
    let mut filters = kind("filters", (1, 1));
    filters.typical_ns = 20_000;
    add(&mut registry, filters, move |_| {
        move |block: &mut Block<'_>| {
            enter_filter();
            let mut deadline = 0;
            // In the first cycles each waits for all, so that all have a step to run.
            while UNDER_FILTER.load(SeqCst) < workers && deadline < 2_000_000 {
                std::hint::spin_loop();
                deadline += 1;
            }
            block.fork(3, |lane| {
                std::hint::black_box(lane);
            });
            pass(block);
            ProcessStatus::Continue
        }
    });
    let (violation, reported) = (violation.clone(), reported.to_owned());
    add(&mut registry, kind("tempted", (1, 1)), move |_| {
        let (violation, reported) = (violation.clone(), reported.clone());
        move |block: &mut Block<'_>| {
            if violation.swap(false, SeqCst) {
                match reported.as_str() {
                    // SAFETY: it takes nothing and gives a number.
                    "call" => drop(unsafe { libc::getppid() }),
                    // SAFETY: a wait on a word of ours that has another value: it comes back at once.
                    "wait" => drop(unsafe {
                        let word = 1_u32;
                        let nothing = std::ptr::null::<libc::timespec>();
                        libc::syscall(libc::SYS_futex, &raw const word, 128, 0, nothing, 0, 0)
                    }),
                    _ => {}
                }
            }
            pass(block);
            ProcessStatus::Continue
        }
    });
    registry
}

/// Convolvers work as `works` says, each in another way.
fn stage(registry: &Registry, works: &[&str]) -> Graph {
    let mut text = String::from(
        r#"m = { kind: "mix", in: 6, out: 1, }; x = { kind: "tempted", }; s = { kind: "sink", }; m.1 -> x.1 -> s.1;
        l = { kind: "mix", in: 2, out: 1, }; g = { kind: "gain", gain: 0.5, }; d = { kind: "delay", time: 0.0005, };
        x.1 -> l.1 -> g.1 -> d.1 -> l.2; t = { kind: "sink", }; l.1 -> t.1;
        co = { kind: "osc", freq: 99, }; cf = { kind: "svf", freq: 700, }; ca = { kind: "svf", freq: 300, };
        cb = { kind: "svf", freq: 900, }; co.1 -> cf.1 -> ca.1 -> s.1; cf.1 -> cb.1 -> t.1;
        gs = { kind: "gain", split: 3, }; fs = { kind: "fir", taps: 33, split: 2, }; x.1 -> gs.1 -> fs.1 -> t.1;
        w = { kind: "network", file: "any", }; x.1 -> w.1 -> t.1;
        e = { kind: "metro", bpm: 6000, }; v = { kind: "envelope", }; y = { kind: "late", frames: 300, };
        e.1 -> v.2; x.1 -> y.1 -> v.1 -> t.1;"#,
    );
    for branch in 1..=6 {
        text += &format!(
            r#"o{branch} = {{ kind: "osc", freq: {branch}10, }}; f{branch} = {{ kind: "svf", freq: 900, }};
            k{branch} = {{ kind: "filters", }}; h{branch} = {{ kind: "later", }};
            o{branch}.1 -> k{branch}.1 -> f{branch}.1 -> h{branch}.1 -> m.{branch};"#
        );
    }
    let file = std::env::var(RESPONSE).unwrap();
    for (i, work) in works.iter().enumerate() {
        text += &format!(
            r#"c{i} = {{ kind: "convolver", file: "{file}", partition: "7x64 6x256 2x1024", work: "{work}", }};
            x.1 -> c{i}.1 -> t.1;"#
        );
    }
    graph(&text, registry)
}

/// Result of the child process.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    /// True if all cycles ran, all but the first few with every thread under the filter.
    is_whole: bool,
    violations: u32,
    first_violation: i64,
    /// Waits on another word than the first, and waits of the host on any.
    other_waits: u32,
    host_waits: u32,
    /// Wakes that the executor counted, and those that the filter saw.
    reported: u64,
    woken: u64,
    wake_calls: u32,
}

impl Found {
    fn write(&self) -> String {
        format!(
            "FOUND {} {} {} {} {} {} {} {}",
            u32::from(self.is_whole),
            self.violations,
            self.first_violation,
            self.other_waits,
            self.host_waits,
            self.reported,
            self.woken,
            self.wake_calls
        )
    }

    fn read(text: &str) -> Option<Self> {
        let (_, numbers) = text.split_once("FOUND ")?;
        let mut numbers = numbers.split_whitespace();
        let mut next = || numbers.next()?.parse::<i64>().ok();
        Some(Self {
            is_whole: next()? == 1,
            violations: next()? as u32,
            first_violation: next()?,
            other_waits: next()? as u32,
            host_waits: next()? as u32,
            reported: next()? as u64,
            woken: next()? as u64,
            wake_calls: next()? as u32,
        })
    }
}

/// The child's life: a thread plays under the filter, this one looks on, tells and ends the process.
fn live(orders: &str) -> ! {
    catch_calls();
    let mut words = orders.split(' ');
    let name = words.next().unwrap();
    let mut ways = ALL_STRATEGIES.into_iter().chain(PIPELINED);
    let way = ways.find(|way| format!("{way:?}") == name);
    let config = RunConfig {
        strategy: way.unwrap(),
        workers: words.next().unwrap().parse().unwrap(),
        block: 64,
        wait: WaitPolicy::Hybrid,
    };
    let violation = Arc::new(AtomicBool::new(false));
    let reported = words.next().unwrap();
    let works: &[&str] = match reported {
        "threads" => &["threads"],
        _ => &["deferred", "spread", "callback"],
    };
    let registry = kinds(config.workers as u32, &violation, reported);
    let graph = stage(&registry, works);
    let bench = TestBench::new(&graph, &registry, config);
    let has_copies = bench.plan.steps.iter().any(|step| step.copy > 0);
    assert!(has_copies || config.strategy != TestStrategy::Copied || config.workers != 2);
    let knob = graph.find("o1").unwrap();
    let (is_over, result) = (AtomicBool::new(false), Mutex::new(None));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let found = play(bench, knob, &violation, config.workers as u32);
            // Not locked by anybody: the one who looks on waits for the flag.
            *result.lock().unwrap() = Some(found);
            is_over.store(true, SeqCst);
            // To end would take calls.
            loop {
                std::hint::spin_loop();
            }
        });
        let deadline = Instant::now() + Duration::from_secs(120);
        while !is_over.load(SeqCst) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        if REFUSED.load(SeqCst) {
            println!("REFUSED");
        } else if is_over.load(SeqCst) {
            println!("{}", result.lock().unwrap().as_ref().unwrap().write());
        }
        std::process::exit(0)
    })
}

/// Plays until all threads have come under the filter and one has rested there, and then [`CYCLES`] cycles more.
fn play(mut bench: TestBench, knob: NodeId, violation: &AtomicBool, workers: u32) -> Found {
    IS_HOST.set(true);
    let _plays = AudioThread::enter();
    let is_filtered = || UNDER_FILTER.load(SeqCst) == workers;
    // And until one of them has rested: the first word that is waited on is to be theirs.
    let has_rested = || workers == 1 || WAITED_ON.load(SeqCst) != 0;
    for _ in 0..20_000 {
        if is_filtered() && has_rested() {
            break;
        }
        cycle(&mut bench, knob);
    }
    let (calls, woken) = (WAKE_CALLS.load(SeqCst), WOKEN.load(SeqCst));
    let is_whole = is_filtered();
    let (mut reported, mut done) = (0, 0);
    for n in 0..CYCLES {
        violation.store(n == CYCLES / 2, SeqCst);
        let ran = cycle(&mut bench, knob);
        reported += u64::from(ran.wakes);
        done += u64::from(ran.status == CycleStatus::Complete);
    }
    let found = Found {
        is_whole: is_whole && done == CYCLES,
        violations: VIOLATIONS.load(SeqCst),
        first_violation: FIRST_VIOLATION.load(SeqCst),
        other_waits: OTHER_WAITS.load(SeqCst),
        host_waits: HOST_WAITS.load(SeqCst),
        reported,
        woken: WOKEN.load(SeqCst) - woken,
        wake_calls: WAKE_CALLS.load(SeqCst) - calls,
    };
    // To free it would take calls.
    std::mem::forget(bench);
    found
}

fn cycle(bench: &mut TestBench, knob: NodeId) -> CycleResult {
    let info = CycleInfo::unlimited(bench.cycle * 64, bench.cycle);
    bench.cycle += 1;
    bench.send_event(
        knob,
        Event {
            frame: 3,
            target: EventTarget::Param(0),
            body: EventBody::Value(500.0),
        },
    );
    let ran = bench.executor.run_cycle(&info, &[]);
    // Some microseconds without a call, so that workers get to rest.
    (0..3000).for_each(|_| std::hint::spin_loop());
    ran
}

/// Runs `test`, which must be the caller, in a child process, and returns its findings. `None` where filters are refused.
fn in_a_child(test: &str, way: TestStrategy, workers: u32, violation: &str) -> Option<Found> {
    let folder = ImpulseFiles::new(test);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(ORDERS, format!("{way:?} {workers} {violation}"))
        .env(RESPONSE, folder.write("one.wav", 1, 3000, 1))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    if text.contains("REFUSED") {
        skip(test, "the kernel refuses filters");
        return None;
    }
    let found = Found::read(&text);
    assert!(found.is_some(), "{way:?}, {workers}: {output:?}");
    found
}

fn ways() -> impl Iterator<Item = (TestStrategy, u32)> {
    let many = [
        TestStrategy::Fixed,
        TestStrategy::Copied,
        TestStrategy::Global,
        TestStrategy::Weighted,
        TestStrategy::Stealing,
        TestStrategy::Deadline,
        TestStrategy::PipelinedFixed,
    ];
    let many = many.into_iter();
    let many = many.flat_map(|way| (2..=4).map(move |workers| (way, workers)));
    [(TestStrategy::Sequential, 1)].into_iter().chain(many)
}

#[test]
fn a_cycle_calls_the_system_for_nothing_but_the_counted_wake() {
    if let Ok(orders) = std::env::var(ORDERS) {
        live(&orders);
    }
    for (way, workers) in ways() {
        let test = "a_cycle_calls_the_system_for_nothing_but_the_counted_wake";
        let Some(found) = in_a_child(test, way, workers, "none") else {
            return;
        };
        let good = Found {
            is_whole: true,
            violations: 0,
            first_violation: -1,
            other_waits: 0,
            host_waits: 0,
            reported: found.woken,
            ..found
        };
        assert_eq!(found, good, "{way:?}, {workers} workers");
        // One at the start of a cycle; at its end one for the floors, where there are any; and batches by weight call
        // workers back that have left.
        let most = match way {
            TestStrategy::Weighted => u64::MAX,
            TestStrategy::Deadline => 2 * CYCLES,
            _ => CYCLES,
        };
        assert!(u64::from(found.wake_calls) <= most, "{way:?}: {found:?}");
        assert_eq!(found.wake_calls > 0, workers > 1, "{found:?}");
    }
}

#[test]
fn one_call_in_a_thousand_cycles_is_seen() {
    if let Ok(orders) = std::env::var(ORDERS) {
        live(&orders);
    }
    for (way, workers) in ways() {
        let test = "one_call_in_a_thousand_cycles_is_seen";
        let Some(found) = in_a_child(test, way, workers, "call") else {
            return;
        };
        let seen = (found.is_whole, found.violations, found.first_violation);
        assert_eq!(seen, (true, 1, libc::SYS_getppid), "{way:?}, {workers}");
    }
}

#[test]
fn one_wait_in_a_thousand_cycles_is_seen() {
    if let Ok(orders) = std::env::var(ORDERS) {
        live(&orders);
    }
    for (way, workers) in ways() {
        let test = "one_wait_in_a_thousand_cycles_is_seen";
        let Some(found) = in_a_child(test, way, workers, "wait") else {
            return;
        };
        assert!(
            found.is_whole && found.violations == 0,
            "{way:?}, {workers}"
        );
        let seen = found.host_waits + found.other_waits;
        assert!((1..=2).contains(&seen), "{way:?}, {workers}: {found:?}");
    }
}

#[test]
fn a_convolver_with_threads_of_its_own_calls_the_system_only_to_wake_them_and_to_wait() {
    if let Ok(orders) = std::env::var(ORDERS) {
        live(&orders);
    }
    for (way, workers) in [
        (TestStrategy::Sequential, 1),
        (TestStrategy::Fixed, 2),
        (TestStrategy::Stealing, 3),
    ] {
        let test =
            "a_convolver_with_threads_of_its_own_calls_the_system_only_to_wake_them_and_to_wait";
        let Some(found) = in_a_child(test, way, workers, "threads") else {
            return;
        };
        let seen = (found.is_whole, found.violations, found.first_violation);
        assert_eq!(seen, (true, 0, -1), "{way:?}, {workers}: {found:?}");
    }
}
