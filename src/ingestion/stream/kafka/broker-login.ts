// Logs in to a broker of Kafka by SASL: PLAIN, and SCRAM of RFC 5802 and RFC 7677.

import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type BrokerRequest, saslAuthenticate, saslHandshake } from './requests.js';

export interface Login {
  readonly mechanism: LoginMechanism;
  readonly username: string;
  readonly password: string;
}

/** Ways to log in with a name and a password; others would start programs, or load code. */
export const LOGIN_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;
export type LoginMechanism = (typeof LOGIN_MECHANISMS)[number];

type Ask = <Value>(request: BrokerRequest<Value>) => Promise<Value>;

/** Iterations that a broker may ask for: fewer are refused as weak, more would keep a thread busy for long. */
const ITERATIONS_MIN = 4096;
const ITERATIONS_MAX = 1_000_000;

/** Logs in. @returns milliseconds for which the broker lets in; 0: without end. @throws Error */
export async function logIn(ask: Ask, { mechanism, username, password }: Login): Promise<number> {
  const { errorCode, mechanisms } = await ask(saslHandshake(mechanism));
  if (errorCode !== 0) throw new Error(`the broker does not accept ${mechanism}, but ${mechanisms.join(', ')}`);
  let lifetimeMs = 0;
  const send = async (text: string): Promise<string> => {
    const answer = await ask(saslAuthenticate(Buffer.from(text)));
    if (answer.errorCode !== 0) throw new Error(`the broker refuses the login: ${answer.message}`);
    lifetimeMs = answer.lifetimeMs;
    return answer.bytes.toString();
  };
  if (mechanism === 'PLAIN') await send(`\0${username}\0${password}`);
  else await scram(send, { hash: mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512', username, password });
  return lifetimeMs;
}

export interface ScramLogin {
  readonly hash: 'sha256' | 'sha512';
  readonly username: string;
  readonly password: string;
  /** Drawn unless given. */
  readonly nonce?: string;
}

/** Proves that we know the password, and has the other side prove that it does. @param send  answers a message */
export async function scram(
  send: (message: string) => Promise<string>,
  { hash, username, password, nonce = randomBytes(24).toString('base64url') }: ScramLogin,
): Promise<void> {
  const hmac = (key: Buffer, text: string): Buffer => createHmac(hash, key).update(text).digest();
  const firstBare = `n=${username.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`;
  const first = await send(`n,,${firstBare}`);
  const [, bothNonces = '', salt = '', iterations = ''] = /^r=([^,]+),s=([^,]+),i=(\d{1,9})(?:,|$)/.exec(first) ?? [];
  if (!bothNonces.startsWith(nonce) || bothNonces === nonce) throw new Error('the broker answers SCRAM with another nonce');
  const count = Number(iterations);
  if (count < ITERATIONS_MIN || count > ITERATIONS_MAX)
    throw new Error(`the broker asks for ${count} iterations of SCRAM; accepted: ${ITERATIONS_MIN} to ${ITERATIONS_MAX}`);
  const lastBare = `c=biws,r=${bothNonces}`;
  const all = `${firstBare},${first},${lastBare}`;
  const salted = await promisify(pbkdf2)(password, Buffer.from(salt, 'base64'), count, hash === 'sha256' ? 32 : 64, hash);
  const clientKey = hmac(salted, 'Client Key');
  const signature = hmac(createHash(hash).update(clientKey).digest(), all);
  const proof = clientKey.map((byte, at) => byte ^ (signature[at] ?? 0));
  const last = await send(`${lastBare},p=${Buffer.from(proof).toString('base64')}`);
  const expected = hmac(hmac(salted, 'Server Key'), all);
  const [, found = ''] = /^v=([^,]+)/.exec(last) ?? [];
  const given = Buffer.from(found, 'base64');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Error('the broker does not prove that it knows the password');
}
