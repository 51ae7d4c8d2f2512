// Reads the connection strings of JDBC drivers, of which little is accepted.

import { isIP } from 'node:net';

/** Parts of a connection. Nothing of the string but these parts reaches a client of a database. */
export interface Connection {
  readonly database: 'postgresql' | 'mysql';
  readonly host: string;
  readonly port: number;
  readonly databaseName: string;
  readonly tls: TlsMode;
}

/** `encrypted`: whoever answers; `trusted`: its certificate is checked; `verified`: the name of the host in it too. */
export type TlsMode = 'off' | 'encrypted' | 'trusted' | 'verified';

const PORTS = { postgresql: 5432, mysql: 3306 };

const SHAPE =
  /^jdbc:(postgresql|mysql|mariadb):\/\/(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?)(?::(\d{1,5}))?\/([\w$.-]{1,64})(?:\?(.*))?$/i;

/** Why a connection string is refused. */
export class ConnectionRefusal extends Error {}

/**
 * The parts of `jdbc:postgresql://host:port/database?property=value`, the same with `mysql` and `mariadb`.
 * @throws ConnectionRefusal that does not repeat the string, which may hold a password
 */
export function parseConnectionUri(written: string): Connection {
  const parts = SHAPE.exec(written);
  if (parts === null)
    throw new ConnectionRefusal(
      'expected jdbc:postgresql://host:port/database, or mysql or mariadb, with one host, without credentials and with properties of TLS alone',
    );
  const [, driver = '', hostWritten = '', portWritten, databaseName = '', properties] = parts;
  const database = driver.toLowerCase() === 'postgresql' ? 'postgresql' : 'mysql';
  const host = hostWritten.replace(/^\[(.*)\]$/, '$1');
  if (hostWritten.startsWith('[') && isIP(host) !== 6) throw new ConnectionRefusal('the host in brackets is not an IPv6 address');
  const port = portWritten === undefined ? PORTS[database] : Number(portWritten);
  if (port < 1 || port > 65_535) throw new ConnectionRefusal('the port is not between 1 and 65535');
  return { database, host, port, databaseName, tls: tlsOf(database, propertiesOf(properties)) };
}

/** Properties that are accepted, and their values by what they mean. */
const TLS_PROPERTIES: Readonly<Record<Connection['database'], ReadonlyMap<string, ReadonlyMap<string, TlsMode>>>> = {
  postgresql: new Map([
    [
      'ssl',
      new Map<string, TlsMode>([
        ['true', 'verified'],
        ['false', 'off'],
      ]),
    ],
    [
      'sslmode',
      new Map<string, TlsMode>([
        ['disable', 'off'],
        ['require', 'encrypted'],
        ['verify-ca', 'trusted'],
        ['verify-full', 'verified'],
      ]),
    ],
  ]),
  mysql: new Map([
    [
      'usessl',
      new Map<string, TlsMode>([
        ['true', 'encrypted'],
        ['false', 'off'],
      ]),
    ],
    [
      'requiressl',
      new Map<string, TlsMode>([
        ['true', 'encrypted'],
        ['false', 'off'],
      ]),
    ],
    [
      'ssl',
      new Map<string, TlsMode>([
        ['true', 'encrypted'],
        ['false', 'off'],
      ]),
    ],
    [
      'sslmode',
      new Map<string, TlsMode>([
        ['disabled', 'off'],
        ['disable', 'off'],
        ['required', 'encrypted'],
        ['trust', 'encrypted'],
        ['verify_ca', 'trusted'],
        ['verify-ca', 'trusted'],
        ['verify_identity', 'verified'],
        ['verify-full', 'verified'],
      ]),
    ],
  ]),
};

const STRICTEST: readonly TlsMode[] = ['verified', 'trusted', 'encrypted', 'off'];

/** The strictest of what the properties ask for. */
function tlsOf(database: Connection['database'], properties: ReadonlyMap<string, string>): TlsMode {
  const accepted = TLS_PROPERTIES[database];
  const modes = [...properties].map(([name, value]) => {
    const values = accepted.get(name.toLowerCase());
    if (values === undefined)
      throw new ConnectionRefusal(`the property ${name} is not accepted; accepted: ${[...accepted.keys()].join(', ')}`);
    const mode = values.get(value.toLowerCase());
    if (mode === undefined)
      throw new ConnectionRefusal(`the property ${name} has a value that is not accepted; accepted: ${[...values.keys()].join(', ')}`);
    return mode;
  });
  return STRICTEST.find((mode) => modes.includes(mode)) ?? 'off';
}

function propertiesOf(written = ''): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const pair of written === '' ? [] : written.split('&')) {
    const [, name = '', value = ''] = /^(\w{1,64})=([\w-]{0,64})$/.exec(pair) ?? [];
    if (name === '') throw new ConnectionRefusal('its properties are not name=value pairs of letters, digits, - and _');
    if (properties.has(name.toLowerCase())) throw new ConnectionRefusal(`the property ${name} is given twice`);
    properties.set(name.toLowerCase(), value);
  }
  return properties;
}
