// From a clone to something that runs: checks the tools, installs packages when they are missing or stale, builds.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ROOT } from './stamp.mjs';
import { StepFailed, step } from './steps.mjs';

const MODULES = join(ROOT, 'node_modules');
/** Native packages are compiled for one application binary interface of Node. */
const ABI_FILE = join(MODULES, '.dolmen-node-abi');

/** Installs and builds what is missing; ends the process with 1 and a sentence when that cannot be done. */
export async function prepare(parts) {
  try {
    refuseOtherNodes();
    const reason = installReason();
    if (reason !== undefined) await install(reason);
    else if (!existsSync(ABI_FILE)) writeFileSync(ABI_FILE, process.versions.modules);
    await build(parts);
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    if (error.message !== '') process.stderr.write(`set-up stopped at: ${error.message}\n`);
    process.exit(1);
  }
}

function refuseOtherNodes() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major === 22 || (major === 20 && minor >= 19)) return;
  throw new StepFailed(`Node.js ${process.versions.node} is not supported: install 20.19 or later of 20, or any 22`);
}

/** Why an installation is due, or undefined. npm's own record of what it installed is compared with the lock file. */
function installReason() {
  const record = join(MODULES, '.package-lock.json');
  if (!existsSync(record)) return 'packages are not installed';
  if (existsSync(ABI_FILE) && readFileSync(ABI_FILE, 'utf8') !== process.versions.modules) return 'Node.js has changed';
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  for (const [path, entry] of Object.entries(locked)) {
    if (path === '' || (entry.optional === true && installed[path] === undefined)) continue;
    if (installed[path]?.version !== entry.version) return 'the lock file has changed';
  }
  return undefined;
}

async function install(reason) {
  const tools = [
    ['python3', 'Python 3'],
    ['make', 'GNU make'],
    ['g++', 'a C++ compiler'],
  ];
  const absent = tools.filter(([command]) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error !== undefined);
  if (absent.length > 0) {
    const names = absent.map(([command, name]) => `${command} (${name})`).join(', ');
    throw new StepFailed(`native packages are compiled at installation, and this machine lacks ${names}`);
  }
  process.stderr.write(`${reason}: installing takes one to three minutes\n`);
  const total = Object.keys(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages).length;
  const progress = () => `${existsSync(MODULES) ? readdirSync(MODULES).length : 0} of about ${total} packages`;
  await step('npm ci', 'npm', ['ci', '--no-audit', '--no-fund'], { progress });
  writeFileSync(ABI_FILE, process.versions.modules);
}
