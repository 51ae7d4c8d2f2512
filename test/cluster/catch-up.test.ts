import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorCode, ServiceError } from '../../src/base/errors.js';
import { CATCH_UP_MS_MAX, type CatchUp, catchUp, tablesIn } from '../../src/cluster/broker/catch-up.js';
import { ClusterView } from '../../src/cluster/broker/view.js';
import type { RowSource } from '../../src/model/row-source.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { inventoryOf, scanPlan, segmentOf } from './fakes.js';

const [OLD, NEW] = [segmentOf('ds', 0, 'v1'), segmentOf('ds', 0, 'v2')];
const OTHER = segmentOf('other', 0, 'v1');
const both = inventoryOf(
  'a',
  [OLD, NEW, OTHER].map(({ id }) => segmentIdText(id)),
);

/** Waits for `ds` at revision 2; `looks` counts, and each look does what it is told. */
function waiting(view: ClusterView, rest: Partial<CatchUp> = {}) {
  const state = { looks: 0, done: false };
  const look = (): void => {
    state.looks++;
    rest.look?.();
  };
  const wait = catchUp({
    tables: new Set(['ds']),
    view,
    newest: async () => 2,
    deadlineMs: Date.now() + 60_000,
    now: Date.now,
    signal: new AbortController().signal,
    ...rest,
    look,
  }).finally(() => {
    state.done = true;
  });
  return { state, wait };
}

const refusal = (wait: Promise<void>): Promise<string> =>
  wait.then(
    () => 'none',
    (error: unknown) => (error instanceof ServiceError ? `${error.code}: ${error.message}` : String(error)),
  );

const waits = suite('catching up with metadata');

waits('a view that knows nothing is waited for', async () => {
  const view = new ClusterView();
  await view.updateServers([both]);
  const { state, wait } = waiting(view, { look: async () => state.looks === 2 && (await view.adopt({ revision: 2, segments: [NEW] })) });
  await wait;
  assert.is(state.looks, 2);
  assert.is(view.revisionOf('ds'), 2);
});

waits('one that is older is waited for until its segments are served, a later one is taken', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: [OLD] });
  const { state, wait } = waiting(view, {
    async look() {
      if (state.looks === 2) await view.updateServers([both]);
      await view.adopt({ revision: state.looks + 1, segments: [NEW] });
    },
  });
  await wait;
  assert.is(state.looks, 2);
  assert.is(view.revisionOf('ds'), 3);
});

waits('only the tables that are read are waited for', async () => {
  const view = new ClusterView();
  await view.updateServers([inventoryOf('a', [segmentIdText(OTHER.id)])]);
  await view.adopt({ revision: 1, segments: [OLD] });
  await view.adopt({ revision: 2, segments: [NEW, OTHER] });
  const { state, wait } = waiting(view, { tables: new Set(['other', 'nowhere']) });
  await wait;
  assert.is(state.looks, 0);
  assert.equal([view.revisionOf('ds'), view.revisionOf('other'), view.revisionOf('nowhere')], [1, 2, 2]);
});

waits('a table whose segments are gone by then has no rows', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: [OLD] });
  const { state, wait } = waiting(view, { look: () => view.adopt({ revision: 3, segments: [] }) });
  await wait;
  assert.is(state.looks, 1);
  assert.is(view.find('ds'), undefined);
});

waits('segments published after the call are not waited for', async () => {
  const view = new ClusterView();
  await view.updateServers([both]);
  let newest = 2;
  const { wait } = waiting(view, {
    newest: async () => newest++,
    look: () => view.adopt({ revision: 2, segments: [NEW] }),
  });
  await wait;
  assert.is(newest, 3);
});

waits('a coordinator that does not lead yet is asked again, any other failure ends the wait', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 2, segments: [OLD] });
  const codes: ErrorCode[] = ['unavailable', 'not_leader'];
  const failing = waiting(view, {
    async newest() {
      const code = codes.shift();
      if (code !== undefined) throw new ServiceError(code, 'soon');
      return 2;
    },
  });
  await failing.wait;
  assert.is(failing.state.looks, 2);
  const broken = waiting(view, {
    async newest() {
      throw new ServiceError('internal', 'disk');
    },
  });
  assert.is(await refusal(broken.wait), 'internal: disk');
});

waits('the wait has a limit, which says what is missing', async () => {
  const view = new ClusterView();
  await view.adopt({ revision: 1, segments: [OLD] });
  let nowMs = 0;
  const late = {
    deadlineMs: 10 * CATCH_UP_MS_MAX,
    now: () => nowMs,
    look() {
      nowMs = CATCH_UP_MS_MAX;
    },
  };
  const expected = 'segments_unavailable: not all segments of ds are served as of metadata revision 2, after 15 minutes';
  assert.is(await refusal(waiting(view, late).wait), expected);
  nowMs = 0;
  const nobody = async (): Promise<number> => {
    throw new ServiceError('unavailable', 'no coordinator leads');
  };
  assert.is(await refusal(waiting(view, { ...late, newest: nobody }).wait), 'unavailable: no coordinator leads');
});

waits('the deadline and the signal end it', async () => {
  assert.match(await refusal(waiting(new ClusterView(), { deadlineMs: Date.now() + 20 }).wait), /^timeout: /);
  const controller = new AbortController();
  const { wait, state } = waiting(new ClusterView(), { signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is(state.done, false);
  controller.abort();
  assert.match(await refusal(wait), /^cancelled: /);
});

waits.run();

const tables = suite('tables in a source');

tables('are found at any depth, each once', () => {
  const table = (name: string): RowSource => ({ kind: 'table', name });
  const inner: RowSource = { kind: 'query', plan: scanPlan('c'), source: { kind: 'union', sources: [table('a'), table('c')] } };
  const source: RowSource = {
    kind: 'join',
    left: { kind: 'filtered', source: table('a'), filter: { type: 'true' } as never },
    right: { kind: 'union', sources: [inner, { kind: 'lookup', name: 'l' }, { kind: 'inline', frame: { rowCount: 0, columns: [] } }] },
    prefix: 'r.',
    type: 'inner',
    keys: [],
    condition: null,
    leftColumns: [],
    rightColumns: [],
  };
  assert.equal([...tablesIn(source)].sort(), ['a', 'c']);
});

tables.run();
