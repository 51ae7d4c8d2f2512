// OpenLDAP as a service of scripts/services.mjs: two trees, of which one keeps memberOf, with TLS.
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificates } from './certificates.mjs';

const SCHEMAS = '/etc/ldap/schema';
const MODULES = '/usr/lib/ldap';
/** Trees: with an overlay that keeps memberOf, and without. */
export const TREES = ['with', 'without'];
/** Users by name, with their passwords. */
const USERS = { alice: 'alice secret', bob: 'bob secret', 'star*(name)\\': 'star secret', zoë: 'zoë sécret' };
const GROUPS = { analysts: ['alice', 'zoë'], admins: ['alice'], 'odd, group+one': ['bob'] };

export function ldapService({ find, user, password, freePort }) {
  const suffix = (tree) => `dc=${tree},dc=test`;
  const portsFile = (data) => join(data, 'ports.json');
  return {
    packages: ['slapd'],
    program: () => find('slapd', ['/usr/sbin', '/usr/libexec']),
    account: 'openldap',
    uri: (port) => `ldap://127.0.0.1:${port}`,
    async prepare({ program, data, folder, port, run, account }) {
      const certificates = makeCertificates(join(folder, 'certificates'));
      if (account !== undefined)
        for (const name of readdirSync(certificates)) chownSync(join(certificates, name), account.uid, account.gid);
      writeFileSync(portsFile(data), JSON.stringify({ port, securePort: await freePort() }), { mode: 0o644 });
      const databases = TREES.map((tree) => {
        const directory = join(data, tree);
        mkdirSync(directory);
        if (account !== undefined) chownSync(directory, account.uid, account.gid);
        const overlay = tree === 'with' ? 'overlay memberof\nmemberof-refint TRUE\n' : '';
        return `database mdb\nsuffix "${suffix(tree)}"\nrootdn "cn=${user},${suffix(tree)}"\nrootpw "${password}"\ndirectory "${directory}"\n${overlay}`;
      });
      const files = ['core', 'cosine', 'inetorgperson'].map((name) => `include ${SCHEMAS}/${name}.schema`).join('\n');
      const modules = ['back_mdb', 'memberof'].map((name) => `moduleload ${name}`).join('\n');
      const tls = `TLSCACertificateFile ${certificates}/ca.pem\nTLSCertificateFile ${certificates}/server-cert.pem\nTLSCertificateKeyFile ${certificates}/server-key.pem`;
      const config = `${files}\nmodulepath ${MODULES}\n${modules}\npidfile ${data}/pid\n${tls}\n\n${databases.join('\n')}`;
      writeFileSync(join(data, 'slapd.conf'), config, { mode: 0o644 });
      for (const tree of TREES) {
        const entries = [
          `dn: ${suffix(tree)}\nobjectClass: dcObject\nobjectClass: organization\no: test\ndc: ${tree}`,
          `dn: ou=users,${suffix(tree)}\nobjectClass: organizationalUnit\nou: users`,
          `dn: ou=groups,${suffix(tree)}\nobjectClass: organizationalUnit\nou: groups`,
        ];
        await run(program, ['-T', 'add', '-f', join(data, 'slapd.conf'), '-b', suffix(tree)], `${entries.join('\n\n')}\n`);
      }
    },
    args: ({ data }) => {
      const { port, securePort } = JSON.parse(readFileSync(portsFile(data), 'utf8'));
      return ['-d', '256', '-h', `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${securePort}/`, '-f', join(data, 'slapd.conf')];
    },
    ready: /slapd starting/,
    stopSignal: 'SIGTERM',
    /** Adds users and groups while it runs, as the overlay sees such changes only. */
    async fill({ data, folder, port }) {
      const { Client, DN } = await import('ldapts');
      const client = new Client({ url: `ldap://127.0.0.1:${port}` });
      for (const tree of TREES) {
        await client.bind(`cn=${user},${suffix(tree)}`, password);
        const below = (attribute, name, unit) => `${new DN().addPairRDN(attribute, name).toString()},ou=${unit},${suffix(tree)}`;
        for (const [name, secret] of Object.entries(USERS))
          await client.add(below('uid', name, 'users'), {
            objectClass: ['inetOrgPerson'],
            uid: name,
            cn: name,
            sn: name,
            userPassword: secret,
          });
        for (const [name, members] of Object.entries(GROUPS))
          await client.add(below('cn', name, 'groups'), {
            objectClass: ['groupOfNames'],
            cn: name,
            member: members.map((member) => below('uid', member, 'users')),
          });
      }
      await client.unbind();
      const { securePort } = JSON.parse(readFileSync(portsFile(data), 'utf8'));
      return { secureUri: `ldaps://127.0.0.1:${securePort}`, certificates: join(folder, 'certificates') };
    },
  };
}
