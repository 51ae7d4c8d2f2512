// Keys of task specs that are accepted and have no effect.

/**
 * Keys of the public task spec that existing clients send and that have nothing left to do here: they tune machinery
 * (Java heap, codecs) that this service does not have. They are accepted with any value.
 */
export const INERT_KEYS = {
  tuningConfig: [
    'appendableIndexSpec',
    'skipBytesInMemoryOverheadCheck',
    'maxTotalRows',
    'indexSpec',
    'indexSpecForIntermediatePersists',
    'maxPendingPersists',
    'pushTimeout',
    'segmentWriteOutMediumFactory',
    // Sub-tasks tell what they did through the Overlord, and wait for one that leads.
    'chatHandlerTimeout',
    'chatHandlerNumRetries',
    'maxNumSegmentsToMerge',
    'maxColumnsToMerge',
    // Every segment can be added to, unless its chunk is divided.
    'forceExtendableShardSpecs',
  ],
  /** Whether a bitmap index pays is decided by the writer of segments, for each column. */
  dimension: ['createBitmapIndex'],
  /** Columns are read as far as the data schema names them; the last key divides the input between sub-tasks. */
  druidSource: ['dimensions', 'metrics', 'maxInputSegmentBytesPerTask'],
  /** For splitting a file between sub-tasks. */
  inputFormat: ['assumeNewlineDelimited'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
