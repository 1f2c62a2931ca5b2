//! Addresses that a patch may use: this machine's own, and others where the user of the program allows it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};

static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

/// Lets `netsend` and `netreceive` of all patches reach other machines, and be reached from there. Without this they speak to
/// this machine alone. A session cannot allow that: only who starts the program can.
///
/// Real-time: setup.
pub fn allow_network() {
    // Relaxed: it is set before a patch is loaded, and nothing travels with it.
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

fn is_allowed() -> bool {
    // Relaxed: see `allow_network`.
    IS_ALLOWED.load(Ordering::Relaxed)
}

const REFUSED: &str = "a patch reaches other machines only with --allow-net";

/// The addresses of a host without asking anybody; `None` for a name that has to be looked up.
fn known(host: &str) -> Option<Vec<IpAddr>> {
    match host {
        "localhost" => Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
        host => host.parse().ok().map(|address| vec![address]),
    }
}

/// Where a patch may connect to: addresses, or a host that must be looked up, which may take long.
pub(super) enum Target {
    Here(Vec<SocketAddr>),
    Elsewhere(String),
}

/// The target of a connection.
pub(super) fn target(host: &str, port: u16) -> Result<Target, String> {
    let known = known(host);
    let is_here = |all: &[IpAddr]| all.iter().all(IpAddr::is_loopback);
    match known {
        Some(all) if is_here(&all) => Ok(Target::Here(
            all.into_iter().map(|ip| (ip, port).into()).collect(),
        )),
        _ if is_allowed() => Ok(Target::Elsewhere(host.to_owned())),
        _ => Err(format!("{host}: {REFUSED}")),
    }
}

/// Looks a host up; addresses of version 4 come first, as in Pd.
///
/// Real-time: waits, on the network.
pub(super) fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let found = (host, port).to_socket_addrs();
    let mut all = Vec::from_iter(found.map_err(|why| format!("{host}: {why}"))?);
    all.sort_by_key(SocketAddr::is_ipv6);
    Ok(all)
}

/// Addresses on which a patch may listen, the first that works.
pub(super) fn listening(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let any: [IpAddr; 2] = [Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()];
    let all = match (host, is_allowed()) {
        ("", true) => any.to_vec(),
        ("", false) => vec![Ipv4Addr::LOCALHOST.into()],
        (host, _) => {
            known(host).ok_or_else(|| format!("{host}: not an address of this machine"))?
        }
    };
    if !is_allowed() && !all.iter().all(IpAddr::is_loopback) {
        return Err(format!("{host}: {REFUSED}"));
    }
    if all.iter().any(IpAddr::is_multicast) {
        return Err(format!("{host}: multicast is not built"));
    }
    Ok(all.into_iter().map(|ip| (ip, port).into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_reached_without_leave() {
        for host in ["localhost", "127.0.0.1", "127.1.2.3", "::1"] {
            assert!(matches!(target(host, 1), Ok(Target::Here(_))), "{host}");
            assert!(listening(host, 1).is_ok(), "{host}");
        }
        assert_eq!(listening("", 7), Ok(vec![([127, 0, 0, 1], 7).into()]));
        for host in ["192.0.2.1", "0.0.0.0", "::", "example.com", "2001:db8::1"] {
            assert!(target(host, 1).is_err(), "{host}");
            assert!(listening(host, 1).is_err(), "{host}");
        }
    }
}
