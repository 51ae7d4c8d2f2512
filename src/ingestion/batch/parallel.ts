// Divides the work of an `index_parallel` task over sub-tasks.

import { formatInterval } from '../../base/interval.js';
import type { PushedSegment } from '../../model/publication.js';
import type { TaskContext } from '../contract.js';
import type { ProgressReporter } from '../report/progress.js';
import type { CountedRows, RowStatistics } from '../report/row-statistics.js';
import type { Split } from '../source/splits.js';
import type { IndexSpec } from '../task-spec/index-spec.js';
import type { HashedPartitions, RangePartitions } from '../task-spec/partitions-spec.js';
import { checkChunkCount } from '../task-spec/tuning-config.js';
import { boundsFor, bucketsFor, RowSamples } from './row-sample.js';
import type { LoadOutput, MergeOutput, PartialOutput, SampleOutput } from './sub-task.js';
import type { SubTaskFields, SubTaskRuns } from './sub-task-runs.js';
import type { ChunkParts, LoadSpec } from './sub-task-spec.js';
import type { SubTaskType } from './sub-task-types.js';

export interface ParallelOptions {
  readonly spec: IndexSpec;
  readonly context: TaskContext;
  readonly splits: readonly Split[];
  /** Takes what the sub-tasks count. */
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  readonly runs: SubTaskRuns;
}

/** The segments that sub-tasks made of the splits; they are in deep storage, and the task publishes them. */
export async function runParallel(options: ParallelOptions): Promise<readonly PushedSegment[]> {
  const { spec, splits, progress } = options;
  const sizes = splits.map(({ sizeBytes }) => sizeBytes);
  progress.bytesTotal = sizes.includes(null) ? null : sizes.reduce((sum: number, size) => sum + (size ?? 0), 0);
  const { partitions } = spec.tuning;
  const phases = new Phases(options);
  const segments = partitions.kind === 'dynamic' ? await phases.load() : await phases.divideAndMerge(partitions);
  checkChunkCount(spec.tuning, new Set(segments.map(({ interval }) => interval.start)).size);
  return segments;
}

/** The phases of a load, each a set of sub-tasks. */
class Phases {
  readonly #options: ParallelOptions;
  readonly #runs: SubTaskRuns;

  constructor(options: ParallelOptions) {
    this.#options = options;
    this.#runs = options.runs;
  }

  /** Each sub-task builds the segments of its split: rows of different splits are not rolled up. */
  async load(): Promise<readonly PushedSegment[]> {
    this.#options.progress.phase('reading');
    const outputs = await this.#read('single_phase_sub_task', this.#works({}), ({ segments }: LoadOutput) => segments);
    return outputs.flat();
  }

  /** Sub-tasks divide the rows of their splits alike, others merge the rows of each part: rollup is perfect. */
  async divideAndMerge(partitions: HashedPartitions | RangePartitions): Promise<readonly PushedSegment[]> {
    const { progress } = this.#options;
    const intervalToParts = await this.#parts(partitions);
    progress.phase('reading');
    const type = partitions.kind === 'hashed' ? 'partial_index_generate' : 'partial_range_index_generate';
    const works = this.#works(intervalToParts === null ? {} : { intervalToParts });
    const partial = await this.#read(type, works, ({ files }: PartialOutput) => files);
    progress.phase('building');
    const groups = new Map<number, LoadSpec[]>();
    for (const { group, loadSpec } of partial.flat()) groups.set(group, [...(groups.get(group) ?? []), loadSpec]);
    const merges = [...groups].sort(([a], [b]) => a - b).map(([, locations]) => this.#mergeOf(locations));
    const merged = await this.#runs.run('partial_index_generic_merge', merges, ({ segments }: MergeOutput) => {
      progress.tick();
      return segments;
    });
    return merged
      .flat()
      .sort((a, b) => a.segment.interval.start - b.segment.interval.start || a.at - b.at)
      .map(({ segment }) => segment);
  }

  /** The parts of each chunk by its interval; null: the spec says how many there are. */
  async #parts(partitions: HashedPartitions | RangePartitions): Promise<Readonly<Record<string, ChunkParts>> | null> {
    if (partitions.kind === 'hashed' && partitions.numShards !== null) return null;
    this.#options.progress.phase('determining_partitions');
    const type = partitions.kind === 'hashed' ? 'partial_dimension_cardinality' : 'partial_dimension_distribution';
    const samples = new RowSamples();
    await this.#runs.run(type, this.#works({}), (output: SampleOutput) => samples.join(output.samples));
    const parts = samples
      .finish()
      .map((sample): [string, ChunkParts] => [
        formatInterval(sample.interval),
        partitions.kind === 'hashed' ? bucketsFor(sample, partitions) : boundsFor(sample, partitions),
      ]);
    return Object.fromEntries(parts);
  }

  /** Runs sub-tasks that read the input, whose rows are counted, also while they run. */
  async #read<Output extends { readonly counts: CountedRows }, Kept>(
    type: SubTaskType,
    works: readonly SubTaskFields[],
    kept: (output: Output) => Kept,
  ): Promise<readonly Kept[]> {
    const { statistics, progress } = this.#options;
    statistics.running = () => this.#runs.progress;
    const count = (output: Output): Kept => {
      statistics.addCounted(output.counts);
      progress.tick();
      return kept(output);
    };
    try {
      return await this.#runs.run(type, works, count, () => progress.tick());
    } finally {
      statistics.running = () => [];
    }
  }

  /** One for each split: the spec of the task over another source. */
  #works(more: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
    const { spec, splits } = this.#options;
    const ioConfig = spec.source['ioConfig'] as object;
    return splits.map(({ source: inputSource }) => ({ spec: { ...spec.source, ioConfig: { ...ioConfig, inputSource } }, ...more }));
  }

  #mergeOf(partitionLocations: readonly LoadSpec[]): Readonly<Record<string, unknown>> {
    const { dataSchema, tuningConfig } = this.#options.spec.source;
    return { spec: { dataSchema, ioConfig: { type: 'index_parallel', partitionLocations }, tuningConfig } };
  }
}
