//! Kubernetes manifests: `command` and `args` of containers, probes and life-cycle hooks.

use crate::lang::collect::Collector;

use super::data::Data;
use super::values;

/// Every mapping with a list under `command` or `args`, wherever the workload nests it.
pub(super) fn kubernetes(collector: &mut Collector<'_>, data: &Data) {
    for id in data.maps() {
        let list = |key: &str| data.get(id, key).map(|v| data.items(v)).unwrap_or(&[]);
        let (command, args) = (list("command"), list("args"));
        if command.is_empty() && args.is_empty() {
            continue;
        }
        values::list(collector, data, &[command, args].concat());
    }
}
