// Names and addresses of hosts in one canonical form, and ranges of addresses.

import { isIP, isIPv6 } from 'node:net';

/** Addresses that share their first `prefix` bits. */
export interface AddressRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** `10.0.0.0/8`, or an address alone; undefined for everything else, zones (`fe80::1%eth0`) included. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [, address = '', written] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = written === undefined ? bits : Number(written);
  return prefix <= bits ? { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined;
}

/**
 * A host as URLs spell it: lower case, Punycode, without a trailing dot, an IPv4 address in decimal, an IPv6 address
 * shortened and in brackets. Undefined for what is not a host, such as one with a port.
 */
export function canonicalHost(text: string): string | undefined {
  const written = isIPv6(text) ? `[${text}]` : text;
  if (!/^(?:\[[^\]]*\]|[^/?#@:\\\s]+)$/.test(written)) return undefined;
  const url = `http://${written}/`;
  return URL.canParse(url) ? withoutTrailingDot(new URL(url).hostname) : undefined;
}

export function withoutTrailingDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}
