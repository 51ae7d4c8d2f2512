// SQL functions over IP addresses.

import { type Bound, call } from '../../relation/bound.js';
import { type FunctionCall, plain, type SqlFunction } from '../function-call.js';

/** An address as text or as the number it is. */
function address(bound: FunctionCall): Bound {
  const { type } = bound.any(0);
  return type === 'BIGINT' || type === 'INTEGER' ? bound.integer(0) : bound.text(0);
}

export const NETWORK_FUNCTIONS: readonly SqlFunction[] = [
  { name: 'IPV4_MATCH', minArguments: 2, maxArguments: 2, bind: (bound) => call('BOOLEAN', 'ipv4_match', address(bound), bound.text(1)) },
  plain('IPV6_MATCH', 'ipv6_match', ['text', 'text'], 'BOOLEAN'),
  { name: 'IPV4_PARSE', minArguments: 1, maxArguments: 1, bind: (bound) => call('BIGINT', 'ipv4_parse', address(bound)) },
  { name: 'IPV4_STRINGIFY', minArguments: 1, maxArguments: 1, bind: (bound) => call('VARCHAR', 'ipv4_stringify', address(bound)) },
];
