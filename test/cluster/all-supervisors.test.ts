import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorCode, ServiceError } from '../../src/base/errors.js';
import { changeAll } from '../../src/cluster/overlord/supervisor/all-supervisors.js';

/** Supervisors that are to be suspended: the change of one fails, and then it is found suspended, running, gone or not at all. */
interface Case {
  readonly name: string;
  readonly supervisors: Readonly<Record<string, { readonly fails?: readonly [ErrorCode, string] | 'oddly'; readonly now?: State }>>;
  readonly changed: readonly string[];
  readonly told?: readonly [ErrorCode, string];
}
type State = 'suspended' | 'running' | 'gone' | 'unknown';

const refused = ['conflict', 'another leads'] as const;
const away = ['unavailable', 'metadata is away'] as const;

const CASES: readonly Case[] = [
  { name: 'none', supervisors: {}, changed: [] },
  { name: 'all change', supervisors: { a: {}, b: {} }, changed: ['a', 'b'] },
  {
    name: 'one fails, the others change',
    supervisors: { a: {}, b: { fails: refused, now: 'running' }, c: {} },
    changed: ['a', 'b', 'c'],
    told: ['conflict', '1 of 3 supervisors were not changed: [b]: another leads'],
  },
  {
    name: 'those that others have changed or removed do not count',
    supervisors: { a: { fails: refused, now: 'suspended' }, b: { fails: refused, now: 'gone' } },
    changed: ['a', 'b'],
  },
  {
    name: 'each that fails is named, by reasons',
    supervisors: {
      a: { fails: refused, now: 'running' },
      b: { fails: ['input_invalid', 'odd'], now: 'running' },
      c: { fails: refused, now: 'running' },
      d: { fails: 'oddly', now: 'running' },
    },
    changed: ['a', 'b', 'c', 'd'],
    told: ['conflict', '4 of 4 supervisors were not changed: [a], [c]: another leads; [b]: odd; [d]: oddly'],
  },
  {
    name: 'one that cannot be found after it failed is named with its own failure',
    supervisors: { a: { fails: refused, now: 'unknown' }, b: {} },
    changed: ['a', 'b'],
    told: ['conflict', '1 of 2 supervisors were not changed: [a]: another leads'],
  },
  {
    name: 'metadata that is away is asked once',
    supervisors: { a: {}, b: { fails: away, now: 'unknown' }, c: {}, d: {} },
    changed: ['a', 'b'],
    told: ['unavailable', '3 of 4 supervisors were not changed: [b]: metadata is away; [c], [d]: not tried after that'],
  },
  {
    name: 'the code is that of the first failure',
    supervisors: { a: { fails: 'oddly', now: 'running' }, b: { fails: away, now: 'running' } },
    changed: ['a', 'b'],
    told: ['internal', '2 of 2 supervisors were not changed: [a]: oddly; [b]: metadata is away'],
  },
];

const all = suite('changes of all supervisors');
for (const { name, supervisors, changed, told } of CASES)
  all(name, async () => {
    const tried: string[] = [];
    const list = Object.entries(supervisors).map(([id, { fails, now }]) => ({
      id,
      async change() {
        tried.push(id);
        if (fails !== undefined) throw fails === 'oddly' ? new Error('oddly') : new ServiceError(...fails);
      },
      async find() {
        if (now === 'unknown') throw new Error('not found out');
        return now === 'gone' ? undefined : { suspended: now === 'suspended' };
      },
    }));
    const error = await changeAll(list, (isSuspended) => isSuspended).catch((thrown: ServiceError) => thrown);
    assert.equal(error === undefined ? undefined : [error.code, error.message], told);
    assert.equal(tried, changed);
  });

all.run();
