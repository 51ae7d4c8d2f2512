import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ChangeLog } from '../../src/cluster/change-log.js';
import { answerCall } from '../../src/cluster/rpc/answer.js';
import type { HistoricalService, InventoryUpdate, ServerInventory } from '../../src/cluster/rpc/services.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';

const REMAINING_MS = 600_000;
const PATH = /^\/internal\/v1\/historical\/(\w+)$/;

/** A Historical without files or rows: it speaks the protocol between roles over HTTP, and has loaded whatever it is asked for. */
export class SimulatedHistorical implements HistoricalService {
  readonly #server: Server;
  readonly #served = new Set<string>();
  readonly #changed = new ChangeLog(0);
  readonly #onChange: () => void;
  #changes = 0;
  #bytes = 0;
  /** Loads and drops that it was asked for. */
  loads = 0;
  drops = 0;

  private constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#server = createServer((request, response) => {
      const chunks: Uint8Array[] = [];
      request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      request.on('end', async () => {
        const method = PATH.exec(request.url ?? '')?.[1] ?? '';
        const signal = new AbortController().signal;
        const call = { method, body: Buffer.concat(chunks), remainingMs: REMAINING_MS, signal };
        for await (const message of answerCall('historical', this, call)) response.write(message);
        response.end();
      });
    });
  }

  static async listen(onChange: () => void): Promise<SimulatedHistorical> {
    const historical = new SimulatedHistorical(onChange);
    await new Promise<void>((done) => historical.#server.listen(0, '127.0.0.1', done));
    return historical;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get segments(): number {
    return this.#served.size;
  }

  /** Serves a segment from now on. */
  serve(segment: SegmentDescriptor): void {
    this.#served.add(segmentIdText(segment.id));
    this.#bytes += segment.sizeBytes;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async inventory(): Promise<ServerInventory> {
    return { ...this.#facts(), segmentIds: [...this.#served], loading: [], failed: {} };
  }

  async inventoryAfter(generation: string | null): Promise<InventoryUpdate | null> {
    if (generation === String(this.#changes)) return null;
    const changed = generation === null ? undefined : this.#changed.since(Number(generation));
    if (changed === undefined) return this.inventory();
    const gone = [...changed].filter((id) => !this.#served.has(id));
    return { ...this.#facts(), segmentIds: [...changed].filter((id) => this.#served.has(id)), loading: [], failed: {}, since: { gone } };
  }

  async loadSegments(descriptors: readonly SegmentDescriptor[]): Promise<void> {
    this.loads += descriptors.length;
    for (const segment of descriptors) {
      this.serve(segment);
      this.#note(segmentIdText(segment.id));
    }
    this.#onChange();
  }

  async dropSegments(ids: readonly string[]): Promise<void> {
    this.drops += ids.length;
    for (const id of ids) {
      this.#served.delete(id);
      this.#note(id);
    }
    this.#onChange();
  }

  // biome-ignore lint/correctness/useYield: it has no rows
  async *runPlan(): AsyncGenerator<never> {
    throw new Error('a simulated historical has no rows');
  }

  // biome-ignore lint/correctness/useYield: it has no rows
  async *runNamed(): AsyncGenerator<never> {
    throw new Error('a simulated historical has no rows');
  }

  analyzeSegments = async (): Promise<readonly []> => [];

  lookupReport = async () => ({ tier: '__default', current: {}, failed: {} });

  #note(id: string): void {
    this.#changed.note(id, ++this.#changes);
  }

  #facts() {
    const place = { host: this.host, tier: '_default_tier', priority: 0, maxSizeBytes: 1e15 };
    return { ...place, currentSizeBytes: this.#bytes, generation: String(this.#changes) };
  }
}
