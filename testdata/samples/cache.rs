//! Statistics in an `Arc`: one thread counts hits, the other misses.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

#[cfg(not(pad))]
#[repr(C, align(64))]
#[derive(Default)]
struct Stats {
    hits: AtomicUsize,
    misses: AtomicUsize,
}

#[cfg(pad)]
#[repr(C, align(128))]
#[derive(Default)]
struct Stats {
    hits: AtomicUsize,
    gap: [usize; 15],
    misses: AtomicUsize,
}

#[inline(never)]
fn hit(stats: &Stats) {
    for _ in 0..15_000_000 {
        stats.hits.fetch_add(1, Ordering::SeqCst);
    }
}

#[inline(never)]
fn miss(stats: &Stats) {
    for _ in 0..15_000_000 {
        stats.misses.fetch_add(1, Ordering::SeqCst);
    }
}

fn main() {
    let stats = Arc::new(Stats::default());
    let theirs = Arc::clone(&stats);
    let other = thread::spawn(move || miss(&theirs));
    hit(&stats);
    other.join().unwrap();
}
