import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runHistoricalKills } from '../faults/historical-kills.js';
import { HISTORICAL_FAULTS } from '../faults/historicals.js';

/**
 * Three Historicals with two copies of every segment are killed, paused and moved while clients ask what has one right answer each.
 * DOLMEN_HISTORICAL_FAULTS: number of faults, of all kinds in turn, beside statements that run as tasks.
 */
const FEW = ['paused', 'killed', 'moved: fewer copies, then more'];
const MANY = Number(process.env['DOLMEN_HISTORICAL_FAULTS'] ?? 0);
const names = Object.keys(HISTORICAL_FAULTS);
const began = performance.now();
const say = (line: string): void => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);

const kills = suite('Historicals that are killed, paused and moved');

kills('no answer is wrong or partial, and errors may be gone when asked again', async () => {
  const { counts, bad, p99Ms, backMs } = await runHistoricalKills({
    portOffset: 12_700,
    faults: MANY === 0 ? FEW : Array.from({ length: MANY }, (_, turn) => names[(turn * 5) % names.length] ?? ''),
    clients: MANY === 0 ? 2 : 4,
    pauseMs: 20,
    withStatements: MANY > 0,
    // Sixty seconds now and then.
    secondsOf: (turn) => (turn % 40 === 15 ? 60 : 3 + (turn % 7)),
    calmMs: MANY === 0 ? 500 : 10_000,
    say,
  });
  const back = backMs.map(({ ms }) => ms).sort((a, b) => a - b);
  say(
    `${backMs.length} faults: ${JSON.stringify(counts)}; p99 ${p99Ms.toFixed(0)} ms before; as quick again after ` +
      `${back[back.length >> 1]?.toFixed(0)} ms (median), ${back.at(-1)?.toFixed(0)} ms (worst)`,
  );
  assert.equal(bad, []);
  assert.ok(counts.right > 0);
});

kills.run();
