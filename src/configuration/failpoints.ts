// Table of the points at which a test may end a process, each with the promise that holds after it.

/**
 * Names of points: the process that gets there, and the promise that holds after it was killed there, once everything is started
 * again. Everywhere, no acknowledged row is lost or doubled, no lock is stuck, and the clean-up leaves no file that nobody knows.
 */
export const FAILPOINTS = {
  'submit.beforeCommit': ['overlord', 'nobody knows the task, of which nothing was acknowledged'],
  'submit.committed': ['overlord', 'the task runs, though nobody was told'],
  'lock.granted': ['overlord', 'the task keeps its lock and runs'],
  'assign.recorded': ['overlord', 'the task runs once more, its worker never heard of it'],
  'assign.started': ['middleManager', 'the task runs once more: its process ended with its worker'],
  'task.started': ['task', 'the task fails by the end of its process'],
  'task.read': ['task', 'the task fails, and nothing of it is published'],
  'task.spilled': ['task', 'the task fails, and its spill file goes with its folder'],
  'task.segmentWritten': ['task', 'the task fails, and its segment file goes with its folder'],
  'storage.beforeSync': ['task', 'the task fails before its file is in deep storage'],
  'storage.beforeRename': ['task', 'the task fails before its file is in deep storage'],
  'storage.renamed': ['task', 'the task fails, and its file in deep storage is cleaned up'],
  'storage.pushed': ['task', 'the task fails, and its files in deep storage are cleaned up'],
  'task.beforePublish': ['task', 'the task fails, and its files in deep storage are cleaned up'],
  'task.published': ['task', 'the task succeeds: its rows are there'],
  'publish.asked': ['middleManager', 'the task runs once more, the files of the run before are cleaned up'],
  'publish.beforeCommit': ['overlord', 'the task runs once more, nothing was published'],
  'publish.committed': ['overlord', 'the task succeeds: its rows are there, once'],
  'end.beforeCommit': ['overlord', 'the task succeeds, since it has published, and its locks are released'],
  'end.committed': ['overlord', 'the task has ended, though its worker was not told'],
  'load.copied': ['historical', 'the segment is loaded once more'],
  'load.described': ['historical', 'the segment is verified at the start and served'],
  'compact.unitBuilt': ['task', 'the compaction fails, the rows are those of before'],
  'compact.beforePublish': ['task', 'the compaction fails, the rows are those of before'],
  'compact.published': ['task', 'the compaction succeeds, the rows are those of before'],
  'carry.placed': ['overlord', 'the replace runs once more and carries along what was appended'],
  'mark.committed': ['overlord', 'the segments are unused, though nobody was told'],
  'kill.beforeCommit': ['overlord', 'the kill task goes on where it was'],
  'kill.rowsRemoved': ['overlord', 'the kill task goes on; files without rows are cleaned up'],
  'kill.fileRemoved': ['overlord', 'the kill task goes on; files without rows are cleaned up'],
  'results.written': ['task', 'the statement fails, its page goes with its folder'],
  'results.pushed': ['task', 'the statement fails, its page ages out'],
  'results.removed': ['overlord', 'the other pages that are too old go later'],
  'log.opened': ['middleManager', 'the task runs once more, and its log goes on'],
  'orphans.removed': ['coordinator', 'the other files that nobody knows go later'],
} as const satisfies Readonly<Record<string, readonly [process: Role, promise: string]>>;

/** The same of tasks that read streams: everywhere, the rows of each committed message are stored once, and a reader never sees fewer. */
export const STREAM_FAILPOINTS = {
  'stream.started': ['task', 'another task reads from the published offsets'],
  'stream.read': ['task', 'another task reads the same rows again'],
  'stream.allocated': ['task', 'another task gets the same segment for the same rows'],
  'stream.persisted': ['task', 'its files go with its folder, another task reads the rows again'],
  'stream.sealed': ['task', 'nothing of the sequence is published, another task reads it again'],
  'stream.pushed': ['task', 'its files in deep storage are cleaned up, another task reads the sequence again'],
  'stream.published': ['task', 'segments and offsets are published, another task goes on behind them'],
  'stream.handedOff': ['task', 'others serve the rows, another task goes on behind them'],
  'stream.dropped': ['task', 'others serve the rows, another task goes on behind them'],
  'allocate.beforeCommit': ['overlord', 'the task asks again'],
  'supervisor.submitted': ['overlord', 'the next Overlord adopts the task'],
  'supervisor.paused': ['overlord', 'the next Overlord has the tasks go on'],
  'supervisor.ended': ['overlord', 'the next Overlord finds the tasks publishing, or in their next sequence'],
  'supervisor.adopted': ['overlord', 'the Overlord after it adopts the tasks again'],
  'worker.started': ['middleManager', 'it starts once more, the tasks of the one before are replaced'],
  'worker.announced': ['middleManager', 'its tasks end with it, and are replaced'],
} as const satisfies Readonly<Record<string, readonly [process: Role, promise: string]>>;

type Role = 'overlord' | 'middleManager' | 'task' | 'historical' | 'coordinator';

export type FailpointName = keyof typeof FAILPOINTS | keyof typeof STREAM_FAILPOINTS;
