//! How far each thread came, in a `Vec` with an element for each; `pad` gives an element a line.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[derive(Default)]
#[cfg_attr(pad, repr(align(64)))]
struct Lane {
    done: AtomicUsize,
}

#[inline(never)]
fn drive(lane: &Lane, to: usize) {
    while lane.done.load(Ordering::Relaxed) < to {
        lane.done.fetch_add(1, Ordering::Release);
    }
}

fn main() {
    let lanes: Vec<Lane> = (0..2).map(|_| Lane::default()).collect();
    thread::scope(|scope| {
        for lane in &lanes {
            scope.spawn(move || drive(lane, 12_000_000));
        }
    });
}
