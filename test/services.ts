import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('../../scripts/services.mjs', import.meta.url));

/** A real service that runs for a test. */
export interface Service {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Connection string of a JDBC driver. */
  readonly uri: string;
  /** Address with TLS, of a directory. */
  readonly secureUri?: string;
  /** Addresses by security protocol, of Kafka. */
  readonly secureUris?: Readonly<Record<'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL', string>>;
  /** Module of a client of Kafka that is not ours. */
  readonly client?: string;
  /** Folder of certificates (`scripts/certificates.mjs`). */
  readonly certificates?: string;
  stop(): Promise<void>;
  /** Ends it for a while; its data stay. */
  halt(): Promise<void>;
  /** Starts it again, at the same address. */
  resume(): Promise<void>;
}

/** Starts a service of `scripts/services.mjs` for a test; undefined, with a printed reason, where it cannot be had. */
export async function startService(name: string): Promise<Service | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), `dolmen-${name}-`));
  // Servers that refuse to run as root run under an account of their own.
  chmodSync(folder, 0o755);
  const script = (verb: string) => run(process.execPath, [SCRIPT, name, verb, '--folder', path.join(folder, 'service')]);
  try {
    const { stdout } = await script('start');
    const service = JSON.parse(stdout) as Omit<Service, 'stop' | 'halt' | 'resume'>;
    return {
      ...service,
      halt: async () => void (await script('halt')),
      resume: async () => void (await script('start')),
      async stop() {
        await script('stop');
        rmSync(folder, { recursive: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true });
    const reason = (error as { stderr?: string }).stderr ?? String(error);
    console.log(`skipped: ${reason.trim()} (npm run services -- ${name} install)`);
    return undefined;
  }
}
