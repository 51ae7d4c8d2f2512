import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { groupPattern, parseDistinguishedName } from '../../../src/cluster/access/distinguished-name.js';

const names = suite('distinguished names');

const EQUAL = [
  ['CN=a,OU=b', 'cn=A, ou=B'],
  ['cn=Smith\\, John,dc=x', 'CN="smith, john" , DC=X'],
  ['cn=Lu\\c4\\8di\\c4\\87', 'CN=Lučić'],
  ['a=1+b=2,c=3', 'B=2 + A=1,C=3'],
  ['cn=a\\ ,o=x', 'cn="a ",o=x'],
  ['cn=😀', 'cn=\\f0\\9f\\98\\80'],
] as const;
for (const [left, right] of EQUAL)
  names(`${left} is ${right}`, () => {
    assert.ok(parseDistinguishedName(left));
    assert.equal(parseDistinguishedName(left), parseDistinguishedName(right));
  });

for (const wrong of ['', ' ', 'a', 'a,b', 'cn', '=x', 'cn=a,,o=b', 'cn=a\\', '1a=x', 'cn="a'])
  names(`'${wrong}' is refused`, () => assert.is(parseDistinguishedName(wrong), undefined));

const PATTERNS = [
  ['cn=a,ou=g,dc=x', 'CN=A,OU=G,DC=X', true],
  ['cn=a,ou=g,dc=x', 'cn=a,ou=g', false],
  ['*,ou=g,dc=x', 'cn=a,ou=g,dc=x', true],
  ['*,ou=g,dc=x', 'cn=a,ou=h,ou=g,dc=x', true],
  ['*,ou=g,dc=x', 'ou=g,dc=x', true],
  ['*,ou=g,dc=x', 'cn=a,ou=gg,dc=x', false],
  ['*,ou=g,dc=x', 'cn=a\\,ou=g,dc=x', false],
  ['cn=a,*', 'cn=a,ou=g,dc=x', true],
  ['cn=a,*', 'cn=aa,ou=g', false],
  ['cn=a,*', 'ou=g,cn=a', false],
] as const;
for (const [pattern, name, means] of PATTERNS)
  names(`${pattern} ${means ? 'means' : 'does not mean'} ${name}`, () => {
    const parsed = parseDistinguishedName(name);
    assert.ok(parsed);
    assert.is(groupPattern(pattern)?.(parsed), means);
  });

for (const wrong of ['', '*', '*,', ',*', 'x', '*,x'])
  names(`the pattern '${wrong}' is refused`, () => assert.is(groupPattern(wrong), undefined));

names.run();
