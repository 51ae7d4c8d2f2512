import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupSettings } from '../../bench/lookup-settings.js';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import { NamedLookups, withOwnLookups } from '../../src/cluster/lookups/named-lookups.js';
import { decodeValue, encodeValue } from '../../src/cluster/rpc/message.js';
import type { HistoricalService, LackReport, RunPlanRequest } from '../../src/cluster/rpc/services.js';
import { call, type Expression, text } from '../../src/model/expression.js';
import type { Frame } from '../../src/model/frame.js';
import { type LookupTable, lookupTableOf, readerOf } from '../../src/model/lookup/lookup-table.js';
import { rewriteData } from '../../src/model/rewrite/rewrite-data.js';
import { listOf } from '../../src/model/value-list.js';
import { scanPlan } from './fakes.js';
import { HandClock } from './hand-clock.js';

/* Plans for Historicals of other processes name lookups that these hold; what they do not hold comes along, whole. */

const test = suite('named lookups');

const never = new AbortController().signal;
const entriesOf = (count: number, state: string): [string, string][] =>
  Array.from({ length: count }, (_, at) => [`key ${at}`, `${state} ${at}`]);

function requestOf(...tables: readonly LookupTable[]): RunPlanRequest {
  const plan = {
    ...scanPlan('ds'),
    // A list of values is packed as well, and stays.
    filter: { kind: 'in', column: 'x', type: 'STRING', values: listOf(Array.from({ length: 2000 }, (_, at) => `${at}`)) } as const,
    virtualColumns: tables.map((table, at) => {
      const entries: Expression = { kind: 'literal', type: 'STRING', value: table };
      return {
        name: `v${at}`,
        expression: call('resolved_lookup', { kind: 'column', name: 'x' }, entries, text('none')),
        outputType: null,
      };
    }),
  };
  const rest = { ending: 'final', deadlineMs: 0, priority: 0, kernels: null, limits: {}, useCache: false, populateCache: false } as const;
  return { queryId: 'q', plan, segmentIds: [], ...rest };
}

/** A Historical of another process: it gets requests as bytes. */
class Elsewhere implements Pick<HistoricalService, 'runPlan' | 'runNamed'> {
  readonly calls: { readonly method: string; readonly bytes: number }[] = [];
  readonly ran: RunPlanRequest[] = [];
  readonly #held: () => readonly LookupTable[];

  constructor(held: () => readonly LookupTable[]) {
    this.#held = held;
  }

  async *runPlan(request: RunPlanRequest): AsyncGenerator<Frame> {
    this.ran.push(this.#arrived('runPlan', request));
    yield { rowCount: 1, columns: [] };
  }

  async *runNamed(request: RunPlanRequest): AsyncGenerator<Frame | LackReport> {
    const own = withOwnLookups(this.#arrived('runNamed', request), (digest) => this.#held().find((table) => table.digest === digest));
    if ('lacks' in own) {
      yield own;
      return;
    }
    this.ran.push(own);
    yield { rowCount: 1, columns: [] };
  }

  #arrived(method: string, request: RunPlanRequest): RunPlanRequest {
    const bytes = encodeValue(request);
    this.calls.push({ method, bytes: bytes.length });
    return decodeValue(bytes) as RunPlanRequest;
  }
}

async function ask(named: NamedLookups, host: string, elsewhere: Elsewhere, request: RunPlanRequest): Promise<void> {
  const frames: unknown[] = [];
  for await (const frame of named.run(host, elsewhere, request, never)) frames.push(frame);
  assert.equal(frames, [{ rowCount: 1, columns: [] }]);
  const ran = elsewhere.ran.at(-1);
  assert.ok(ran !== undefined);
  const [wanted, found] = [tablesIn(request), tablesIn(ran)];
  assert.is(found.length, wanted.length);
  for (const [at, table] of wanted.entries()) {
    assert.is(found[at]?.digest, table.digest);
    const [mine, theirs] = [readerOf(table), readerOf(found[at] as LookupTable)];
    assert.is(theirs.find('key 7'), mine.find('key 7'));
    assert.is(theirs.length, mine.length);
  }
}

function tablesIn({ plan }: RunPlanRequest): readonly LookupTable[] {
  const tables: LookupTable[] = [];
  rewriteData(plan, (object) => {
    if ('kind' in object && object.kind === 'literal' && 'value' in object && typeof object.value === 'object')
      tables.push(object.value as LookupTable);
    return object;
  });
  return tables;
}

const methods = ({ calls }: Elsewhere): readonly string[] => calls.map(({ method }) => method);

test('go without their bytes where they are held, whichever process packed them', async () => {
  const held = await lookupTableOf(entriesOf(5000, 'one'));
  const elsewhere = new Elsewhere(() => [held]);
  await ask(new NamedLookups(new HandClock()), 'a:1', elsewhere, requestOf(await lookupTableOf(entriesOf(5000, 'one'))));
  assert.equal(methods(elsewhere), ['runNamed']);
  assert.ok((elsewhere.calls[0]?.bytes ?? Infinity) < held.packed.length / 4);
  assert.is(tablesIn(elsewhere.ran[0] as RunPlanRequest)[0], held, 'the block of the process itself');
});

test('go whole where another state is held, and are asked for again after a while', async () => {
  const clock = new HandClock();
  const [one, two] = [await lookupTableOf(entriesOf(5000, 'one')), await lookupTableOf(entriesOf(5000, 'two'))];
  let held = [one];
  const [elsewhere, other] = [new Elsewhere(() => held), new Elsewhere(() => [two])];
  const named = new NamedLookups(clock);
  await ask(named, 'a:1', elsewhere, requestOf(one, two));
  assert.equal(methods(elsewhere), ['runNamed', 'runPlan']);
  // The state that is held is named all the same.
  await ask(named, 'a:1', elsewhere, requestOf(one, two));
  assert.equal(methods(elsewhere).slice(2), ['runNamed']);
  await ask(named, 'a:1', elsewhere, requestOf(two));
  assert.equal(methods(elsewhere).slice(3), ['runPlan']);
  // Another server is another matter.
  await ask(named, 'b:1', other, requestOf(two));
  assert.equal(methods(other), ['runNamed']);
  held = [two];
  await clock.pass(10_001);
  await ask(named, 'a:1', elsewhere, requestOf(two));
  assert.equal(methods(elsewhere).slice(4), ['runNamed']);
});

test('go along at once when they are small, as do plans without any', async () => {
  const elsewhere = new Elsewhere(() => []);
  const named = new NamedLookups(new HandClock());
  await ask(named, 'a:1', elsewhere, requestOf(await lookupTableOf([['key 7', 'v']])));
  await ask(named, 'a:1', elsewhere, requestOf());
  assert.equal(methods(elsewhere), ['runPlan', 'runPlan']);
});

test('are found in the store of a process by their digest', async () => {
  const store = new LookupStore(lookupSettings());
  const map = Object.fromEntries(entriesOf(10, 'one'));
  await store.replace({ l: { version: 'v0', lookupExtractorFactory: { type: 'map', map } } });
  const { digest } = store.table('l');
  assert.is(store.tableWith(digest), store.table('l'));
  assert.is(store.tableWith('another'), undefined);
  store.close();
});

test.run();
