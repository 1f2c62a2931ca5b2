//! The library of units against slow, obvious versions of their sound, one file for each family.

mod color;
mod delays;
mod desk;
mod dynamics;
mod filters;
mod kit;
mod meters;
mod sampler;
mod sampler_loops;
mod signals;
mod sources;
mod space;
mod trackers;
