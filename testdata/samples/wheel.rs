//! A counter for each thread, all in one array; `--cfg pad` gives each a line.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

#[cfg_attr(pad, repr(align(64)))]
struct Spoke(AtomicU64);

#[repr(align(64))]
struct Wheel([Spoke; 2]);

static WHEEL: Wheel = Wheel([Spoke(AtomicU64::new(0)), Spoke(AtomicU64::new(0))]);

fn main() {
    let threads: Vec<_> = (0..2)
        .map(|me| {
            thread::spawn(move || {
                for _ in 0..20_000_000u32 {
                    WHEEL.0[me].0.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
