//! Lists that a worker fills for every file and needs no longer than that. Knows nothing of what
//! is in them.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// Where a worker keeps the memory of a list.
pub type Home<T> = LocalKey<Cell<Vec<T>>>;

/// An empty list in memory that the worker has used before: large blocks go back to the system when
/// they are freed, and come from it as pages that must be cleared.
pub struct Scratch<T: 'static> {
    list: Vec<T>,
    home: &'static Home<T>,
    most: usize,
}

impl<T> Scratch<T> {
    /// A list from its home. It goes back there unless it has grown beyond room for `most`.
    pub fn new(home: &'static Home<T>, most: usize) -> Scratch<T> {
        Scratch { list: home.take(), home, most }
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        if self.list.capacity() <= self.most {
            self.list.clear();
            let list = std::mem::take(&mut self.list);
            // A worker that ends keeps nothing.
            self.home.try_with(|home| home.set(list)).unwrap_or_default();
        }
    }
}

impl<T> Deref for Scratch<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.list
    }
}

impl<T> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_empty_and_not_too_large() {
        thread_local! {
            static HOME: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
        }
        let fill = |count: usize| {
            let mut list = Scratch::new(&HOME, 100);
            let before = (list.len(), list.capacity() > 0);
            list.reserve_exact(count);
            list.extend(std::iter::repeat_n(0, count));
            before
        };
        assert_eq!(fill(50), (0, false));
        assert_eq!(fill(200), (0, true));
        assert_eq!(fill(50), (0, false));
    }
}
