import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/* Files of tests run at the same time, but for those that start whole servers, which run one after the other beside the others. */

const FOLDER = fileURLToPath(new URL('../../test/', import.meta.url));
const ONE_BY_ONE = 'api/';
/** Port of the Router under TLS, the last one of a server without an offset. */
const LAST_PORT = 9_088;
const FIRST_GIVEN = 32_768;

/** Offsets of ports that a file of tests names, and those that it counts from them. */
function offsetsOf(file: string): Set<number> {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const named = [...text.matchAll(/(?:OFFSET = |portOffset: |openSecuredHouse\()(\d{1,2}_\d{3})\b/g)].map(([, digits = '']) =>
    Number(digits.replace('_', '')),
  );
  const more = [...text.matchAll(/OFFSET \+ (\d+)/g)].map(([, digits]) => Number(digits));
  return new Set(named.flatMap((offset) => [offset, ...more.map((each) => offset + each)]));
}

const ports = suite('ports of tests');

ports('are not those of a file that may run at the same time', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  const placed = files.flatMap((file) => [...offsetsOf(file)].map((offset) => ({ file, offset })));
  assert.ok(placed.length > 40, 'offsets are found in the words that tests name them by');
  const shared = placed.flatMap(({ file, offset }) =>
    placed
      .filter((other) => other.offset === offset && other.file > file)
      .filter((other) => !(file.startsWith(ONE_BY_ONE) && other.file.startsWith(ONE_BY_ONE)))
      .map((other) => `${offset}: ${file} and ${other.file}`),
  );
  assert.equal(shared, []);
});

ports('lie below those that Linux gives to connections and to whoever asks for any', () => {
  const placed = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .flatMap((file) => [...offsetsOf(file)].filter((offset) => offset + LAST_PORT >= FIRST_GIVEN).map((offset) => `${offset}: ${file}`));
  assert.equal(placed, []);
});

ports.run();
