// The function `complex_decode_base64`.

import { ServiceError } from '../../base/errors.js';
import type { ComplexType } from '../../model/schema.js';
import { DECODED_TYPES } from '../../model/state-traits.js';
import type { Constant, ExpressionFunction } from '../function.js';

function complexType(constant: Constant | undefined, name: string): ComplexType {
  const wanted = constant?.value;
  const [, inner = wanted] = typeof wanted === 'string' ? (/^complex<(.+)>$/i.exec(wanted) ?? []) : [];
  const found = DECODED_TYPES.find((each) => each === `COMPLEX<${inner}>`);
  if (found === undefined)
    throw new ServiceError(
      'query_invalid',
      `${name}: the first argument is a complex type in quotes, one of ${DECODED_TYPES.map((each) => each.slice('COMPLEX<'.length, -1)).join(', ')}; found ${typeof wanted === 'string' ? `'${wanted}'` : 'something else'}`,
    );
  return found;
}

/** (type, text): a text of base64 as a sketch. Whether its bytes are one shows where it is read. */
function decode(name: string): ExpressionFunction {
  return {
    name,
    minArguments: 2,
    maxArguments: 2,
    type: (_, constants) => complexType(constants[0], name),
    bind(constants) {
      complexType(constants[0], name);
      return ([, value = null]) => {
        if (typeof value !== 'string') return null;
        if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value) || value.length % 4 !== 0)
          throw new ServiceError('query_invalid', `${name}: a string that is not base64`);
        return value;
      };
    },
  };
}

export const COMPLEX_FUNCTIONS: readonly ExpressionFunction[] = [decode('complex_decode_base64'), decode('decode_base64_complex')];
