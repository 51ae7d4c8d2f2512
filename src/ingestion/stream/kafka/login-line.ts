// Reads `sasl.jaas.config`, the login line of the Java client, for its name and password alone.

import { ServiceError } from '../../../base/errors.js';

const JAAS = /^\s*(?:\w+\.)+(Plain|Scram)LoginModule\s+(?:required|requisite|sufficient|optional)\b([\s\S]*?);?\s*$/;

/** Name and password of a line. @throws ServiceError `unsupported` for other login modules than those of PLAIN and SCRAM */
export function loginLine(text: string): readonly [username: string, password: string] {
  const options = JAAS.exec(text)?.[2];
  const option = (name: string): string | undefined => {
    const found = new RegExp(`\\b${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|'((?:[^'\\\\]|\\\\.)*)')`).exec(options ?? '');
    return (found?.[1] ?? found?.[2])?.replace(/\\(.)/g, '$1');
  };
  const [username, password] = [option('username'), option('password')];
  if (username === undefined || password === undefined)
    throw new ServiceError(
      'unsupported',
      'sasl.jaas.config: only PlainLoginModule and ScramLoginModule with username and password are read',
    );
  return [username, password];
}
