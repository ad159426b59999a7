//! Floor 2: the tree as one program. Facts in, chains out.
//!
//! [`solve`] follows values through bindings, attributes, containers, arguments and
//! results until nothing new appears; [`link`] finds the file that an import means;
//! [`fold`] reads constants and commands; [`sites`] holds the calls against the
//! catalogues; [`reach`] walks the call graph from the daemon modules.

mod absent;
mod arguments;
mod build;
mod bundle;
mod call;
mod commands;
mod constants;
mod container;
mod context;
mod declared;
mod fills;
pub mod fold;
pub mod forked;
mod handlers;
mod handover;
mod heirs;
mod inherit;
mod install;
pub mod link;
mod made;
pub mod matters;
mod member;
mod methods;
mod names;
mod objects;
mod overflow;
mod passed;
mod protocol;
pub mod reach;
mod relayed;
pub mod sites;
pub mod solve;
mod spread;
mod tested;
mod unit;
mod user;
pub mod value;
mod wrapped;
