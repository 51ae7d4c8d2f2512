import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** Hidden classes of the objects that queries are made of: V8 optimises who reads them only where they are few (decision 46). */
const classes = suite('hidden classes');

const QUERIES = 400;
/** Classes that a place may meet: objects keyed by columns have as many as there are choices of columns; one for each query is twice as many. */
const CLASSES_MAX = 150;

/** Hidden classes that V8 met for the first time at each place that reads or writes a field, in the second half of its log. */
function classesMet(log: string): ReadonlyMap<string, ReadonlySet<string>> {
  const met = log
    .split('\n')
    .map((line) => line.split(','))
    .filter(([kind = '', , , , , , , object]) => kind.endsWith('IC') && object !== undefined);
  const half = Number(met.at(-1)?.[2]) / 2;
  const found = new Map<string, Set<string>>();
  for (const [kind, , time, line, column, , , object = '', field] of met) {
    if (Number(time) < half) continue;
    const place = `${kind} of ${field} in line ${line}, column ${column}`;
    found.set(place, (found.get(place) ?? new Set()).add(object));
  }
  return found;
}

classes('are few at every place that queries come through', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-classes-'));
  try {
    const logfile = path.join(folder, 'log');
    const flags = ['--log-ic', '--no-logfile-per-isolate', `--logfile=${logfile}`];
    execFileSync(process.execPath, [...flags, fileURLToPath(new URL('practised.js', import.meta.url)), String(QUERIES)]);
    const found = classesMet(readFileSync(logfile, 'utf8'));
    assert.ok(found.size > 0, 'V8 logs what it meets');
    const many = [...found].filter(([, { size }]) => size > CLASSES_MAX).map(([place, { size }]) => `${place}: ${size}`);
    assert.equal(many, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

classes.run();
