import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { type LookedAt, ServerLooks } from '../../src/cluster/server-looks.js';
import { HandClock, settled } from './hand-clock.js';

/** A server whose calls are answered by hand. */
class Server {
  readonly host: string;
  session = 's';
  readonly calls: { readonly answer: (told: string) => void; readonly fail: (error: Error) => void }[] = [];

  constructor(host: string) {
    this.host = host;
  }

  /** Its announcement at the moment. */
  get announced(): LookedAt<Server> {
    return { host: this.host, session: this.session, service: this };
  }

  ask(): Promise<string> {
    return new Promise((answer, fail) => this.calls.push({ answer, fail }));
  }
}

function looksAt() {
  const clock = new HandClock();
  const failed: string[] = [];
  const state = { late: 0 };
  const looks = new ServerLooks<Server, string>({
    ask: ({ service }) => service.ask(),
    failed: (host) => failed.push(host),
    late: () => void state.late++,
    clock,
  });
  return { looks, failed, state, clock };
}

const WAIT_MS = 2000;
const looking = suite('looks at servers');

looking('a look gives what all have told', async () => {
  const { looks } = looksAt();
  const servers = [new Server('a'), new Server('b')] as const;
  const look = looks.look(
    servers.map(({ announced }) => announced),
    WAIT_MS,
  );
  for (const server of servers) server.calls[0]?.answer(`of ${server.host}`);
  assert.equal(await look, { told: ['of a', 'of b'], hosts: ['a', 'b'], isOld: false });
  assert.equal([...looks.silent], []);
});

looking('one that does not answer is silent, is asked once, and what it tells at last is of an earlier look', async () => {
  const { looks, failed, state, clock } = looksAt();
  const [silent, other] = [new Server('a'), new Server('b')];
  const startMs = clock.now();
  for (let round = 0; round < 3; round++) {
    const look = looks.look([silent.announced, other.announced], WAIT_MS);
    other.calls[round]?.answer(`${round}`);
    // Only the first look waits for it.
    assert.equal(await (round === 0 ? clock.passUntil(look) : look), { told: [`${round}`], hosts: ['a', 'b'], isOld: false });
    assert.is(clock.now() - startMs, WAIT_MS);
    assert.equal([...looks.silent], ['a']);
    assert.is(silent.calls.length, 1);
  }
  assert.is(state.late, 0);
  silent.calls[0]?.answer('at last');
  await settled();
  assert.is(state.late, 1);
  assert.equal(await looks.look([silent.announced], WAIT_MS), { told: ['at last'], hosts: ['a'], isOld: true });
  assert.equal([...looks.silent], []);
  const look = looks.look([silent.announced], WAIT_MS);
  silent.calls[1]?.answer('now');
  assert.equal(await look, { told: ['now'], hosts: ['a'], isOld: false });
  assert.equal(failed, []);
  assert.is(clock.waiting, 0);
});

looking('one that fails is not there; after a time-out it is silent as well, and not waited for', async () => {
  const { looks, failed, clock } = looksAt();
  const server = new Server('a');
  const fail = async (error: ServiceError): Promise<readonly string[]> => {
    const look = looks.look([server.announced], WAIT_MS);
    server.calls.at(-1)?.fail(error);
    return (await look).hosts;
  };
  assert.equal(await fail(new ServiceError('unavailable', 'gone')), []);
  assert.equal([...looks.silent], []);
  assert.equal(await fail(new ServiceError('timeout', 'late')), []);
  assert.equal([...looks.silent], ['a']);
  // This look ends at once although the call that it begins has no answer.
  const startMs = clock.now();
  assert.equal(await clock.passUntil(looks.look([server.announced], WAIT_MS)), { told: [], hosts: ['a'], isOld: false });
  assert.is(clock.now(), startMs);
  assert.equal(failed, ['a', 'a']);
  assert.is(server.calls.length, 3);
});

for (const [what, change] of [
  ['an earlier process of the address', (server: Server) => void (server.session = 't')],
  ['before all was forgotten', (_server: Server, looks: ServerLooks<Server, string>) => looks.clear()],
] as const)
  looking(`the answer of ${what} is given to nobody`, async () => {
    const { looks, clock } = looksAt();
    const server = new Server('a');
    await clock.passUntil(looks.look([server.announced], WAIT_MS));
    change(server, looks);
    const first = looks.look([server.announced], WAIT_MS);
    assert.is(server.calls.length, 2);
    server.calls[0]?.answer('old');
    server.calls[1]?.answer('new');
    const found = await clock.passUntil(first);
    // One that was silent is not waited for: its answer comes with the next look.
    const { told } = found.told.length > 0 ? found : await looks.look([server.announced], WAIT_MS);
    assert.equal(told, ['new']);
  });

looking('a look asks those that come later, too', async () => {
  const { looks } = looksAt();
  const [a, b] = [new Server('a'), new Server('b')];
  const first = looks.look([a.announced], WAIT_MS);
  a.calls[0]?.answer('1');
  assert.equal((await first).told, ['1']);
  const second = looks.look([a.announced, b.announced], WAIT_MS);
  a.calls[1]?.answer('2');
  b.calls[0]?.answer('3');
  assert.equal((await second).told.toSorted(), ['2', '3']);
});

looking.run();
