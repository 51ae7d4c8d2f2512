// Runs the steps of a build as child processes and shows each as one line: what, how long, and how it ended.
import { spawn } from 'node:child_process';
import { ROOT } from './stamp.mjs';

export class StepFailed extends Error {}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/**
 * Runs `command` in the root folder. What it prints is kept back and shown only when it fails.
 * `progress()` may give a word on how far it is. Throws StepFailed on any exit but 0.
 */
export async function step(title, command, args, { progress = () => '', env = {} } = {}) {
  const begin = Date.now();
  const seconds = () => `${((Date.now() - begin) / 1000).toFixed(1)} s`;
  const child = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  let tick = 0;
  const draw = () => process.stderr.write(`\r\x1b[K${SPINNER[tick++ % SPINNER.length]} ${title} ${seconds()} ${progress()}`);
  const timer = process.stderr.isTTY ? setInterval(draw, 100) : undefined;
  if (timer === undefined) process.stderr.write(`› ${title}\n`);
  const ending = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`));
  });
  clearInterval(timer);
  const start = process.stderr.isTTY ? '\r\x1b[K' : '';
  if (ending === undefined) {
    process.stderr.write(`${start}✓ ${title} (${seconds()})\n`);
    return;
  }
  process.stderr.write(`${start}✗ ${title}: ${ending}\n${Buffer.concat(output).toString()}`);
  throw new StepFailed(title);
}
