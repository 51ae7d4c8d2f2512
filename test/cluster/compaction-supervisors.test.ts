import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../src/base/errors.js';
import { CLUSTER_DEFAULTS } from '../../src/cluster/compaction/cluster-config.js';
import { CompactionSupervisors } from '../../src/cluster/compaction/compaction-supervisors.js';
import { takeLease } from '../../src/metadata/leadership.js';
import { supervisorHistory } from '../../src/metadata/supervisors.js';
import { openMetadata } from '../metadata/fixture.js';

const AUTHOR = { author: 'a', comment: '', ip: '127.0.0.1' };
const ID = 'autocompact__ds';

async function withSupervisors(
  work: (supervisors: CompactionSupervisors, versions: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const { database, close } = await openMetadata();
  try {
    const { epoch } = await takeLease(database, { role: 'overlord', host: 'o', heldEpoch: null, nowMs: Date.now(), leaseMs: 60_000 });
    const supervisors = new CompactionSupervisors({
      database,
      fence: () => ({ role: 'overlord', epoch }),
      readTask: async (payload) => payload as never,
      changed: () => undefined,
      now: () => 0,
      cluster: async () => CLUSTER_DEFAULTS,
    });
    const versions = async (): Promise<unknown> =>
      (await supervisorHistory(database, ID)).map(({ document }) => {
        const { suspended, spec } = JSON.parse(document ?? 'null') ?? {};
        return [suspended, spec?.skipOffsetFromLatest];
      });
    await work(supervisors, versions);
  } finally {
    await close();
  }
}

const specOf = (skipOffsetFromLatest: string): object => ({ type: 'autocompact', spec: { dataSource: 'ds', skipOffsetFromLatest } });
const anyone = (): void => undefined;

const compacting = suite('supervisors that compact, in the metadata store');

compacting('suspending keeps a spec that was posted meanwhile', () =>
  withSupervisors(async (supervisors, versions) => {
    await supervisors.submit(specOf('P1D'), AUTHOR, anyone);
    const read = await supervisors.find(ID);
    await supervisors.submit(specOf('P2D'), AUTHOR, anyone);
    const suspended = await supervisors.setSuspended(read?.id ?? '', true, AUTHOR);
    assert.is(suspended.suspended, true);
    assert.equal(await versions(), [
      [true, 'P2D'],
      [false, 'P2D'],
      [false, 'P1D'],
    ]);
  }),
);

compacting('one that is so already, or was terminated meanwhile, is refused and nothing is written', () =>
  withSupervisors(async (supervisors, versions) => {
    await supervisors.submit(specOf('P1D'), AUTHOR, anyone);
    const read = await supervisors.find(ID);
    assert.ok(read);
    const codeOf = (suspended: boolean): Promise<unknown> =>
      supervisors.setSuspended(ID, suspended, AUTHOR).then(
        () => 'done',
        (error: ServiceError) => error.code,
      );
    assert.is(await codeOf(false), 'input_invalid');
    await supervisors.terminate(read, AUTHOR);
    assert.is(await codeOf(true), 'not_found');
    assert.equal(await versions(), [
      [undefined, undefined],
      [false, 'P1D'],
    ]);
  }),
);

compacting.run();
