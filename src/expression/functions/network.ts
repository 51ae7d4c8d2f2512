// Functions over IP addresses.

import { ServiceError } from '../../base/errors.js';
import { type Constant, type ExpressionFunction, plainFunction } from '../function.js';
import { fromTruth, type Value } from '../value.js';

export const LONGEST_V4 = 0xffffffffn;

const DOT = 0x2e;
const ZERO = 0x30;

/** Four numbers from 0 to 255 without leading zeros, as one of 32 bits. */
function parseV4(text: string): bigint | null {
  const { length } = text;
  if (length < 7 || length > 15) return null;
  let [address, part, digits, dots] = [0, 0, 0, 0];
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      if (digits === 0) return null;
      address = address * 256 + part;
      dots++;
      part = 0;
      digits = 0;
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9 || (digits > 0 && part === 0)) return null;
    part = part * 10 + digit;
    digits++;
    if (part > 255) return null;
  }
  return dots === 3 && digits > 0 ? BigInt(address * 256 + part) : null;
}

function printV4(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.');
}

/** Eight groups of hexadecimal digits, `::` once for a run of zeros, the last two perhaps as a v4 address. */
function parseV6(text: string): bigint | null {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return null;
  const first = groupsOf(head, tail === undefined);
  const last = tail === undefined ? [] : groupsOf(tail, true);
  if (first === null || last === null) return null;
  const missing = 8 - first.length - last.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const zeros = new Array<bigint>(missing).fill(0n);
  return [...first, ...zeros, ...last].reduce((address, group) => (address << 16n) | group, 0n);
}

function groupsOf(text: string, isEnd: boolean): bigint[] | null {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const v4 = isEnd && index === parts.length - 1 ? parseV4(part) : null;
    if (v4 !== null) groups.push(v4 >> 16n, v4 & 0xffffn);
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(BigInt(`0x${part}`));
    else return null;
  }
  return groups;
}

interface AddressKind {
  readonly name: string;
  readonly bits: number;
  readonly parse: (text: string) => bigint | null;
}

const V4: AddressKind = { name: 'ipv4_match', bits: 32, parse: parseV4 };
const V6: AddressKind = { name: 'ipv6_match', bits: 128, parse: parseV6 };

/** (address, 'subnet'): LONG 1 where the address lies in it; what is not an address lies nowhere. */
function matchFunction(kind: AddressKind, read: (value: Value) => bigint | null): ExpressionFunction {
  return {
    name: kind.name,
    minArguments: 2,
    maxArguments: 2,
    type: () => 'LONG',
    bind(constants) {
      const { network, shift } = parseSubnet(kind, constants[1]);
      return ([value = null]) => {
        const address = read(value);
        return fromTruth(address !== null && address >> shift === network);
      };
    },
  };
}

/** An address alone is a subnet of one. */
function parseSubnet(kind: AddressKind, constant: Constant | undefined): { readonly network: bigint; readonly shift: bigint } {
  const text = constant?.value;
  const [, address = '', length] = typeof text === 'string' ? (/^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []) : [];
  const start = kind.parse(address);
  const bits = length === undefined ? kind.bits : Number(length);
  if (start === null || bits > kind.bits)
    throw new ServiceError(
      'query_invalid',
      `${kind.name}: the second argument is a constant subnet such as '${kind.bits === 32 ? '192.168.0.0/16' : '2001:db8::/32'}'; found ${typeof text === 'string' ? `'${text}'` : 'something else'}`,
    );
  const shift = BigInt(kind.bits - bits);
  return { network: start >> shift, shift };
}

/** The addresses of a constant subnet of IPv4. */
export function addressesOfSubnet(constant: Constant | undefined): { readonly low: bigint; readonly high: bigint } {
  const { network, shift } = parseSubnet(V4, constant);
  return { low: network << shift, high: ((network + 1n) << shift) - 1n };
}

function v4Of(value: Value): bigint | null {
  if (typeof value === 'bigint') return value >= 0n && value <= LONGEST_V4 ? value : null;
  return typeof value === 'string' ? parseV4(value) : null;
}

export const NETWORK_FUNCTIONS: readonly ExpressionFunction[] = [
  matchFunction(V4, v4Of),
  matchFunction(V6, (value) => (typeof value === 'string' ? parseV6(value) : null)),
  plainFunction('ipv4_parse', [1, 1], 'LONG', ([value = null]) => v4Of(value)),
  plainFunction('ipv4_stringify', [1, 1], 'STRING', ([value = null]) => {
    const address = v4Of(value);
    return address === null ? null : printV4(address);
  }),
];
