import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { type HttpRules, UrlPolicy, type UrlPolicyOptions } from '../../src/ingestion/source/url-policy.js';

const RULES: HttpRules = { maxBytes: 1, allowedProtocols: ['http', 'https'], allowedHosts: [], allowedAddresses: [] };

/** Addresses that the host names of the tests resolve to. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['::1', '127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  'public.example.com': ['8.8.8.8', '2606:4700::1111'],
  'public.example.com.': ['8.8.8.8'],
  'private.example.com': ['10.1.2.3'],
  'both.example.com': ['10.1.2.3', '8.8.8.8'],
  'zone.example.com': ['fe80::1%eth0'],
  'peer.example.com': ['8.8.4.4'],
  'nat64.example.com': ['64:ff9b::808:808', '64:ff9b::a00:1'],
};

const addressOf = (address: string): LookupAddress => ({ address, family: isIP(address) });

/** The addresses that a URL may be read from, or the code of the refusal. */
async function verdict(
  url: string,
  rules: Partial<HttpRules> = {},
  options: Partial<UrlPolicyOptions> = {},
): Promise<readonly string[] | string> {
  const resolve = async (host: string) => (NAMES[host] ?? []).map(addressOf);
  const policy = new UrlPolicy({ rules: { ...RULES, ...rules }, peers: [], resolve, machineAddresses: [], ...options });
  try {
    return (await policy.addressesOf(new URL(url))).map(({ address }) => address);
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

const addresses = suite('addresses that http input sources read');

/** From the registries of IANA (RFC 6890 and its updates) and the documentation of clouds: the ends of each range, and what is beside it. */
const TABLE: readonly (readonly [meaning: string, refused: readonly string[], allowed: readonly string[]])[] = [
  ['this network', ['0.0.0.0', '0.255.255.255'], ['1.0.0.0']],
  ['private, 10/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
  ['shared by carriers', ['100.64.0.0', '100.127.255.255'], ['100.63.255.255', '100.128.0.0']],
  ['loopback', ['127.0.0.0', '127.0.0.1', '127.255.255.255'], ['126.255.255.255', '128.0.0.0']],
  ['link-local', ['169.254.0.0', '169.254.169.254', '169.254.255.255'], ['169.253.255.255', '169.255.0.0']],
  ['private, 172.16/12', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
  ['protocol assignments', ['192.0.0.0', '192.0.0.192', '192.0.0.255'], ['191.255.255.255', '192.0.1.0']],
  ['documentation', ['192.0.2.0', '192.0.2.255', '198.51.100.7', '203.0.113.7'], ['192.0.3.0', '198.51.101.0', '203.0.114.0']],
  ['relays of 6to4', ['192.88.99.1'], ['192.88.98.255', '192.88.100.0']],
  ['private, 192.168/16', ['192.168.0.0', '192.168.255.255'], ['192.167.255.255', '192.169.0.0']],
  ['benchmarks', ['198.18.0.0', '198.19.255.255'], ['198.17.255.255', '198.20.0.0']],
  ['multicast, reserved, broadcast', ['224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'], ['223.255.255.255']],
  ['metadata services of clouds', ['100.100.100.200', '168.63.129.16', '[fd00:ec2::254]', '[fd20:ce::254]'], ['168.63.129.17']],
  ['IPv6: unspecified, loopback, IPv4-compatible', ['[::]', '[::1]', '[::127.0.0.1]', '[::8.8.8.8]'], []],
  ['IPv6: mapped IPv4', ['[::ffff:127.0.0.1]', '[::ffff:a00:1]', '[::ffff:a9fe:a9fe]', '[::ffff:0:7f00:1]'], ['[::ffff:8.8.8.8]']],
  ['IPv6: translated IPv4', ['[64:ff9b::127.0.0.1]', '[64:ff9b::]', '[64:ff9b:1::808:808]'], ['[64:ff9b::8.8.8.8]']],
  ['IPv6: link-local, unique local, site-local', ['[fe80::1]', '[fc00::1]', '[fdff::1]', '[fec0::1]'], []],
  ['IPv6: multicast, discard only', ['[ff02::1]', '[100::1]'], []],
  ['IPv6: Teredo, assignments, documentation, 6to4', ['[2001::1]', '[2001:1ff::]', '[2001:db8::1]', '[2002:7f00:1::]', '[3fff::1]'], []],
  ['IPv6: global', [], ['[2001:200::1]', '[2606:4700::1111]', '[2a00:1450::1]']],
  [
    'forms of 127.0.0.1',
    ['127.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.0.0.1.', '①②⑦.0.0.1', '%3127.0.0.1'],
    [],
  ],
  ['forms of 8.8.8.8', [], ['134744072', '0x8080808', '010.010.010.010', '8.8.2056']],
  [
    'names',
    ['localhost', 'LOCALHOST', 'localhost.', 'private.example.com', 'zone.example.com'],
    ['public.example.com', 'public.example.com.'],
  ],
];
for (const [meaning, refused, allowed] of TABLE)
  addresses(meaning, async () => {
    for (const host of refused) assert.is(await verdict(`http://${host}/`), 'forbidden', host);
    for (const host of allowed) assert.type(await verdict(`http://${host}/`), 'object', host);
  });

addresses('every spelling of an IPv4 address gets the same answer', async () => {
  const part = fc.constantFrom(0, 1, 10, 100, 127, 168, 169, 172, 192, 254, 255);
  const any = fc.oneof(fc.tuple(part, part, part, part), fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)));
  const spellings: readonly ((parts: readonly number[], value: number) => string)[] = [
    (_, value) => String(value),
    (_, value) => `0x${value.toString(16)}`,
    (_, value) => `0${value.toString(8)}`,
    (parts) => parts.map((each) => `0x${each.toString(16)}`).join('.'),
    (parts) => parts.map((each) => `0${each.toString(8)}`).join('.'),
    ([first], value) => `${first}.${value % 2 ** 24}`,
    (parts) => `${parts.join('.')}.`,
    (parts) => `[::ffff:${parts.join('.')}]`,
    (parts) => `[0:0:0:0:0:ffff:${parts.join('.')}]`,
    (parts) => `[64:ff9b::${parts.join('.')}]`,
  ];
  await fc.assert(
    fc.asyncProperty(any, async (parts) => {
      const value = parts.reduce((sum, each) => sum * 256 + each, 0);
      const isRefused = (await verdict(`http://${parts.join('.')}/`)) === 'forbidden';
      for (const spell of spellings) {
        const host = spell(parts, value);
        assert.is((await verdict(`http://${host}/`)) === 'forbidden', isRefused, host);
      }
    }),
    { numRuns: 200 },
  );
});

const rules = suite('properties of http input sources');
const cases: readonly {
  readonly name: string;
  readonly url: string;
  readonly rules?: Partial<HttpRules>;
  readonly options?: Partial<UrlPolicyOptions>;
  readonly expected: readonly string[] | string;
}[] = [
  { name: 'another protocol', url: 'ftp://8.8.8.8/', expected: 'forbidden' },
  { name: 'a protocol that is not allowed', url: 'http://8.8.8.8/', rules: { allowedProtocols: ['https'] }, expected: 'forbidden' },
  { name: 'the only protocol', url: 'https://8.8.8.8/', rules: { allowedProtocols: ['https'] }, expected: ['8.8.8.8'] },
  { name: 'only the public one of two addresses', url: 'http://both.example.com/', expected: ['8.8.8.8'] },
  { name: 'only the public one of two translated addresses', url: 'http://nat64.example.com/', expected: ['64:ff9b::808:808'] },
  {
    name: 'a private range that is allowed',
    url: 'http://private.example.com/',
    rules: { allowedAddresses: ['10.0.0.0/8'] },
    expected: ['10.1.2.3'],
  },
  { name: 'an allowed address only', url: 'http://localhost/', rules: { allowedAddresses: ['127.0.0.1'] }, expected: ['127.0.0.1'] },
  {
    name: 'a range does not allow a metadata service',
    url: 'http://169.254.169.254/',
    rules: { allowedAddresses: ['0.0.0.0/0'] },
    expected: 'forbidden',
  },
  {
    name: 'a metadata service by its own address',
    url: 'http://169.254.169.254/',
    rules: { allowedAddresses: ['169.254.169.254'] },
    expected: ['169.254.169.254'],
  },
  { name: 'a host that is not listed', url: 'http://8.8.8.8/', rules: { allowedHosts: ['public.example.com'] }, expected: 'forbidden' },
  {
    name: 'a listed host in another case, with a trailing dot',
    url: 'http://PUBLIC.example.com./',
    rules: { allowedHosts: ['public.example.com'] },
    expected: ['8.8.8.8'],
  },
  {
    name: 'a name below a listed one',
    url: 'http://public.example.com/',
    rules: { allowedHosts: ['*.example.com'] },
    expected: ['8.8.8.8', '2606:4700::1111'],
  },
  { name: 'a name that ends alike', url: 'http://notexample.com/', rules: { allowedHosts: ['*.example.com'] }, expected: 'forbidden' },
  { name: 'the name itself', url: 'http://example.com/', rules: { allowedHosts: ['*.example.com'] }, expected: 'forbidden' },
  {
    name: 'a listed host is still bound by its address',
    url: 'http://private.example.com/',
    rules: { allowedHosts: ['private.example.com'] },
    expected: 'forbidden',
  },
  {
    name: 'a public address of this machine',
    url: 'http://8.8.8.8/',
    options: { machineAddresses: ['8.8.8.8'] },
    expected: 'forbidden',
  },
  {
    name: 'a process of the cluster by address',
    url: 'http://8.8.8.8:8081/',
    options: { peers: ['8.8.8.8:8081'] },
    expected: 'forbidden',
  },
  { name: 'the same address at another port', url: 'http://8.8.8.8:8082/', options: { peers: ['8.8.8.8:8081'] }, expected: ['8.8.8.8'] },
  {
    name: 'a process of the cluster by name, at the default port',
    url: 'http://8.8.4.4/',
    options: { peers: ['peer.example.com:80'] },
    expected: 'forbidden',
  },
  {
    name: 'a process of the cluster at an IPv6 address',
    url: 'http://[2606:4700:0::1]:8081/',
    options: { peers: ['[2606:4700::1]:8081'] },
    expected: 'forbidden',
  },
  {
    name: 'a process of the cluster under another address of this machine',
    url: 'http://127.9.9.9:8081/',
    rules: { allowedAddresses: ['127.0.0.0/8'] },
    options: { peers: ['localhost:8081'] },
    expected: 'forbidden',
  },
  {
    name: 'another port of this machine, when its address is allowed',
    url: 'http://127.9.9.9:9000/',
    rules: { allowedAddresses: ['127.0.0.0/8'] },
    options: { peers: ['localhost:8081'] },
    expected: ['127.9.9.9'],
  },
];
for (const { name, url, rules: set, options, expected } of cases)
  rules(name, async () => assert.equal(await verdict(url, set, options), expected));

addresses.run();
rules.run();
