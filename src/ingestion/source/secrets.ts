// Takes passwords out of what is shown of specs.

import { createByName } from '../../base/names.js';

/** Fields of input sources that nobody is shown; those of headers may carry tokens. */
const SECRET_FIELDS = ['httpAuthenticationPassword', 'requestHeaders', 'accessKeyId', 'secretAccessKey', 'sessionToken', 'proxyConfig'];
const SHOWN = '********';
/** The same fields in JSON inside a string, such as EXTERN of a statement; values are strings, or flat objects. */
const IN_TEXT = new RegExp(`("(?:${SECRET_FIELDS.join('|')})"\\s*:\\s*)(?:"(?:[^"\\\\]|\\\\.)*"|\\{[^{}]*\\})`, 'g');

/** A copy of JSON without its passwords, at any depth. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('"') ? value.replace(IN_TEXT, `$1"${SHOWN}"`) : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const copy = createByName<unknown>();
  for (const [name, member] of Object.entries(value))
    copy[name] = SECRET_FIELDS.includes(name) && member !== null ? SHOWN : withoutSecrets(member);
  return copy;
}
