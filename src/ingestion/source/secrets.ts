// Takes passwords out of what is shown of specs.

import { createByName } from '../../base/names.js';

/** Fields of input sources that nobody is shown; those of headers may carry tokens. */
const SECRET_FIELDS = ['httpAuthenticationPassword', 'requestHeaders', 'accessKeyId', 'secretAccessKey', 'sessionToken', 'proxyConfig'];
const SHOWN = '********';
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const objectOf = (inner: string): string => `\\{(?:[^{}"]|${STRING}${inner})*\\}`;
/** The same fields in JSON inside a string, such as EXTERN of a statement; values are strings, or objects with objects in them. */
const IN_TEXT = new RegExp(`("(?:${SECRET_FIELDS.join('|')})"\\s*:\\s*)(?:${STRING}|${objectOf(`|${objectOf('')}`)})`, 'g');

/** The same text without the passwords of JSON in it. */
export function textWithoutSecrets(text: string): string {
  return text.includes('"') ? text.replace(IN_TEXT, `$1"${SHOWN}"`) : text;
}

/** A copy of JSON without its passwords, at any depth. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return textWithoutSecrets(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const copy = createByName<unknown>();
  for (const [name, member] of Object.entries(value))
    copy[name] = SECRET_FIELDS.includes(name) && member !== null ? SHOWN : withoutSecrets(member);
  return copy;
}
