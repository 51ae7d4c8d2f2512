// Takes passwords out of what is shown of specs.

import { createByName } from '../../base/names.js';

/** Fields of input sources that nobody is shown; those of headers may carry tokens. */
const SECRET_FIELDS = [
  'httpAuthenticationPassword',
  'password',
  'requestHeaders',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
  'proxyConfig',
];
const SHOWN = '********';
/** Parameters of URLs that let whoever knows them in: tokens, keys and signatures of storage services. */
const URL_SECRET =
  /([?&](?:[\w.-]*(?:token|secret|password|passwd|credential|signature|api_?key|access_?key)[\w.-]*|sig|key|auth|pwd)=)[^&#"'\s\\]+/gi;
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const objectOf = (inner: string): string => `\\{(?:[^{}"]|${STRING}${inner})*\\}`;
/** The same fields in JSON inside a string, such as EXTERN of a statement; values are strings, or objects with objects in them. */
const IN_TEXT = new RegExp(`("(?:${SECRET_FIELDS.join('|')})"\\s*:\\s*)(?:${STRING}|${objectOf(`|${objectOf('')}`)})`, 'g');

/** The same text without the passwords of JSON in it, and without those in URLs. */
export function textWithoutSecrets(text: string): string {
  const shown = text.includes('"') ? text.replace(IN_TEXT, `$1"${SHOWN}"`) : text;
  return shown.includes('=') ? shown.replace(URL_SECRET, `$1${SHOWN}`) : shown;
}

/** Whether a URL has a parameter that is not shown. */
export function isSecretUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && text.search(URL_SECRET) >= 0;
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
