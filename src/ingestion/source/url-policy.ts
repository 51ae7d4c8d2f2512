// Decides which URLs and addresses an `http` input source may read.

import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { ServiceError } from '../../base/errors.js';
import { parseAddressRange, withoutTrailingDot } from '../../configuration/network-names.js';

/** Rules for what an `http` input source may read (`svc.ingestion.http.*`). */
export interface HttpRules {
  /** Largest body, in bytes. */
  readonly maxBytes: number;
  readonly allowedProtocols: readonly string[];
  /** Canonical hosts, `*.` before those whose subdomains are meant; empty: every host. */
  readonly allowedHosts: readonly string[];
  /** Ranges that may be connected to although they are not public. */
  readonly allowedAddresses: readonly string[];
  /** Lower case; absent: none. */
  readonly allowedHeaders?: readonly string[];
  /** Variables of the environment that may hold passwords; absent: none. */
  readonly passwordVariables?: readonly string[];
}

export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

export interface UrlPolicyOptions {
  readonly rules: HttpRules;
  /** `host:port` of the processes of the cluster. */
  readonly peers: readonly string[];
  readonly resolve: ResolveHost;
  /** Addresses of this machine's network interfaces. */
  readonly machineAddresses: readonly string[];
}

/** IPv4 addresses that are not public: the special-purpose registry of IANA (RFC 6890), multicast, and 240.0.0.0/4. */
const NOT_PUBLIC_IPV4 = blockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);
const GLOBAL_UNICAST_IPV6 = blockList(['2000::/3']);
/** Parts of `2000::/3` that are not public: protocol assignments with Teredo, documentation, 6to4 (RFC 6890, RFC 9637). */
const NOT_PUBLIC_IPV6 = blockList(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);
/** Services that hand credentials to programs in clouds. A range that covers one does not allow it; only its own address does. */
const CLOUD_METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
];
const THIS_MACHINE = ['0.0.0.0/8', '127.0.0.0/8', '::', '::1'];

/** Decides which URLs may be read, and the addresses that a connection for one may use. */
export class UrlPolicy {
  readonly #rules: HttpRules;
  readonly #peers: readonly { readonly host: string; readonly port: string }[];
  readonly #resolve: ResolveHost;
  readonly #allowed: BlockList;
  readonly #metadata: BlockList;
  readonly #thisMachine: BlockList;

  constructor({ rules, peers, resolve, machineAddresses }: UrlPolicyOptions) {
    this.#rules = rules;
    this.#peers = peers.map((peer) => ({
      host: peer.slice(0, peer.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1'),
      port: peer.slice(peer.lastIndexOf(':') + 1),
    }));
    this.#resolve = resolve;
    this.#allowed = blockList(rules.allowedAddresses);
    this.#metadata = blockList(CLOUD_METADATA.filter((address) => !rules.allowedAddresses.includes(address)));
    this.#thisMachine = blockList([...THIS_MACHINE, ...machineAddresses]);
  }

  /**
   * The addresses that may be connected to for a URL; the caller connects to these and does not resolve again.
   * @throws ServiceError `forbidden`, the same whether the host has no allowed address or is a process of the cluster;
   *   whatever `resolve` throws
   */
  async addressesOf(url: URL): Promise<readonly LookupAddress[]> {
    const { allowedProtocols, allowedHosts } = this.#rules;
    const protocol = url.protocol.slice(0, -1);
    if (!allowedProtocols.includes(protocol))
      throw new ServiceError('forbidden', `the protocol ${protocol} is not among svc.ingestion.http.allowedProtocols`);
    const host = withoutTrailingDot(url.hostname);
    if (allowedHosts.length > 0 && !allowedHosts.some((allowed) => covers(allowed, host)))
      throw new ServiceError('forbidden', `the host ${host} is not among svc.ingestion.http.allowedHosts`);
    const port = url.port === '' ? (protocol === 'https' ? '443' : '80') : url.port;
    const found = (await this.#addressesOf(url.hostname.replace(/^\[(.*)\]$/, '$1'))).filter(({ address }) => this.allows(address));
    const peers = found.length === 0 ? [] : await this.#peersAt(port);
    const addresses = found.filter(({ address }) => !peers.some((peer) => this.#areSame(address, peer)));
    if (addresses.length === 0)
      throw new ServiceError(
        'forbidden',
        `the host ${host} has no address that may be read: it is public or among svc.ingestion.http.allowedAddresses, and no process of the cluster`,
      );
    return addresses;
  }

  /** Whether an address may be connected to, if no process of the cluster is there. */
  allows(address: string): boolean {
    const plain = plainAddress(address);
    if (plain === undefined || isIn(this.#metadata, plain)) return false;
    return isIn(this.#allowed, plain) || (isPublic(plain) && !isIn(this.#thisMachine, plain));
  }

  async #addressesOf(host: string): Promise<readonly LookupAddress[]> {
    const family = isIP(host);
    return family === 0 ? this.#resolve(host) : [{ address: host, family }];
  }

  async #peersAt(port: string): Promise<readonly string[]> {
    const hosts = new Set(this.#peers.filter((peer) => peer.port === port).map(({ host }) => host));
    // A name that cannot be resolved now cannot be what the URL was resolved to.
    const found = await Promise.all([...hosts].map((host) => this.#addressesOf(host).catch(() => [])));
    return found.flat().map(({ address }) => address);
  }

  #areSame(address: string, peer: string): boolean {
    const [left, right] = [plainAddress(address), plainAddress(peer)];
    if (left === undefined || right === undefined) return false;
    return left === right || (isIn(this.#thisMachine, left) && isIn(this.#thisMachine, right));
  }
}

function covers(allowed: string, host: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
}

function isPublic(plain: string): boolean {
  if (isIP(plain) === 4) return !isIn(NOT_PUBLIC_IPV4, plain);
  return isIn(GLOBAL_UNICAST_IPV6, plain) && !isIn(NOT_PUBLIC_IPV6, plain);
}

/**
 * An address in its shortest spelling, and as IPv4 when it only carries an IPv4 address: mapped (`::ffff:0:0/96`,
 * RFC 4291) or behind a translator (`64:ff9b::/96`, RFC 6052). Undefined for one with a zone and for what is not an address.
 */
function plainAddress(address: string): string | undefined {
  if (isIP(address) === 4) return address;
  const url = `http://[${address}]/`;
  if (!URL.canParse(url)) return undefined;
  const plain = new URL(url).hostname.slice(1, -1);
  const [, high, low] = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain) ?? [];
  if (high === undefined || low === undefined) return plain;
  return [high, low].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.');
}

function isIn(list: BlockList, plain: string): boolean {
  return list.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of ranges) {
    const range = parseAddressRange(text);
    if (range !== undefined) list.addSubnet(range.address, range.prefix, range.family);
  }
  return list;
}
