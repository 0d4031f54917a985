//! From an IP address to whether a public site may lead there.
//!
//! A page of a public site must not make this machine talk to its own network. Names are checked
//! at the moment of connecting, on the addresses they resolve to, so that a name which changes its
//! address between check and use gains nothing.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use url::{Host, Url};

/// Which addresses a crawl may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressPolicy {
    /// Every address: the start URL itself is a private one.
    Any,
    /// Addresses of the public internet only.
    PublicOnly,
}

/// The refusal to connect to a private address, kept in the chain of causes of an HTTP error.
#[derive(Clone, Debug)]
pub(crate) struct PrivateAddress(pub(crate) String);

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` has no address outside private networks", self.0)
    }
}

impl std::error::Error for PrivateAddress {}

/// The name could not be resolved.
#[derive(Debug)]
pub(crate) struct UnknownHost(pub(crate) String);

impl fmt::Display for UnknownHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name `{}` does not resolve", self.0)
    }
}

impl std::error::Error for UnknownHost {}

/// Whether an address belongs to the public internet (IANA special-purpose registries).
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(a: Ipv4Addr) -> bool {
    let [first, second, third, _] = a.octets();
    let special = a.is_private()
        || a.is_loopback()
        || a.is_link_local()
        || a.is_documentation()
        || first == 0
        || first >= 224
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && matches!(second, 18 | 19));
    !special
}

fn is_public_v6(a: Ipv6Addr) -> bool {
    let s = a.segments();
    if let Some(v4) = embedded_v4(s) {
        return is_public_v4(v4);
    }
    // Global unicast is 2000::/3; Teredo, documentation and benchmarking are carved out of it.
    let global = s[0] & 0xe000 == 0x2000;
    let special = s[0] == 0x2001 && (s[1] < 0x0200 || s[1] == 0x0db8) || (s[0] == 0x3fff && s[1] < 0x1000);
    global && !special
}

/// The IPv4 address inside a mapped, NAT64 or 6to4 address.
fn embedded_v4(s: [u16; 8]) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x0064, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

impl AddressPolicy {
    /// The policy for a crawl that starts here: a private start allows private addresses.
    pub(crate) async fn for_start(url: &Url) -> Self {
        let private = match url.host() {
            Some(Host::Ipv4(v4)) => !is_public_v4(v4),
            Some(Host::Ipv6(v6)) => !is_public_v6(v6),
            Some(Host::Domain(name)) => match lookup(name).await {
                Ok(addresses) => !addresses.is_empty() && addresses.iter().all(|a| !is_public(a.ip())),
                Err(_) => false,
            },
            None => false,
        };
        if private { Self::Any } else { Self::PublicOnly }
    }

    /// Refuses a URL whose host is written as a private address, or is `localhost`.
    pub(crate) fn check_literal(self, url: &Url) -> Result<(), PrivateAddress> {
        let private = match url.host() {
            Some(Host::Ipv4(v4)) => !is_public_v4(v4),
            Some(Host::Ipv6(v6)) => !is_public_v6(v6),
            Some(Host::Domain(name)) => name.trim_end_matches('.') == "localhost" || name.trim_end_matches('.').ends_with(".localhost"),
            None => false,
        };
        match self {
            Self::PublicOnly if private => Err(PrivateAddress(url.host_str().unwrap_or_default().to_owned())),
            _ => Ok(()),
        }
    }

    fn allows(self, address: IpAddr) -> bool {
        self == Self::Any || is_public(address)
    }
}

async fn lookup(name: &str) -> std::io::Result<Vec<SocketAddr>> {
    Ok(tokio::net::lookup_host((name, 0)).await?.collect())
}

/// A resolver that leaves out what the policy forbids.
pub(crate) struct FilteringResolver {
    pub(crate) policy: AddressPolicy,
    /// Host of the configured proxy, which may well be private.
    pub(crate) proxy_host: Option<String>,
}

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_owned();
        let policy = if self.proxy_host.as_deref() == Some(name.as_str()) { AddressPolicy::Any } else { self.policy };
        Box::pin(async move {
            let found = lookup(&name).await.map_err(|_| UnknownHost(name.clone()))?;
            let allowed: Vec<SocketAddr> = found.iter().copied().filter(|a| policy.allows(a.ip())).collect();
            match (found.is_empty(), allowed.is_empty()) {
                (true, _) => Err(UnknownHost(name).into()),
                (false, true) => Err(PrivateAddress(name).into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_disguise() {
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "::127.0.0.1",
        ];
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in ["1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "2a00:1450::1"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn literal_hosts_are_refused_however_they_are_spelled() {
        for text in [
            "http://0x7f.1/",
            "http://2130706433/",
            "http://[::ffff:10.0.0.1]/",
            "http://LOCALHOST./x",
            "http://a.localhost/",
            "http://127.1:8080/",
        ] {
            let url = Url::parse(text).unwrap();
            assert!(AddressPolicy::PublicOnly.check_literal(&url).is_err(), "{text}");
            assert!(AddressPolicy::Any.check_literal(&url).is_ok(), "{text}");
        }
        let public = Url::parse("https://example.org/").unwrap();
        assert!(AddressPolicy::PublicOnly.check_literal(&public).is_ok());
    }

    #[tokio::test]
    async fn a_private_start_allows_private_addresses() {
        let policy = AddressPolicy::for_start(&Url::parse("http://127.0.0.1:1/").unwrap()).await;
        assert_eq!(policy, AddressPolicy::Any);
        let policy = AddressPolicy::for_start(&Url::parse("http://localhost:1/").unwrap()).await;
        assert_eq!(policy, AddressPolicy::Any);
        let policy = AddressPolicy::for_start(&Url::parse("http://9.9.9.9/").unwrap()).await;
        assert_eq!(policy, AddressPolicy::PublicOnly);
    }

    #[tokio::test]
    async fn a_name_that_resolves_inward_is_refused_at_connect_time() {
        let resolver = FilteringResolver { policy: AddressPolicy::PublicOnly, proxy_host: None };
        let Err(error) = resolver.resolve("localhost".parse().unwrap()).await else { panic!("localhost was allowed") };
        assert!(error.is::<PrivateAddress>());
        let resolver = FilteringResolver { policy: AddressPolicy::Any, proxy_host: None };
        assert!(resolver.resolve("localhost".parse().unwrap()).await.is_ok());
    }
}
