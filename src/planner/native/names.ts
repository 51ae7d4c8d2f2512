/** Documented names of the native query language that are refused as unsupported, told apart from unknown ones. */
export const UNSUPPORTED_FILTERS: readonly string[] = ['javascript'];

export const UNSUPPORTED_AGGREGATORS: readonly string[] = (
  'javascript ddSketch tDigestSketch momentSketch momentSketchMerge spectatorHistogram ' +
  'spectatorHistogramTimer spectatorHistogramDistribution distinctCount Bitmap64ExactCountBuild Bitmap64ExactCountMerge compressedBigDecimalSum ' +
  'compressedBigDecimalMin compressedBigDecimalMax HLLSketch sketchBuild sketchMerge'
).split(' ');

export const UNSUPPORTED_POST_AGGREGATORS: readonly string[] = (
  'javascript quantileFromDDSketch quantilesFromDDSketch ' +
  'quantileFromTDigestSketch quantilesFromTDigestSketch momentSketchSolveQuantiles momentSketchMin momentSketchMax ' +
  'percentileSpectatorHistogram percentilesSpectatorHistogram countSpectatorHistogram bitmap64ExactCount sketchEstimate sketchSetOper'
).split(' ');

export const UNSUPPORTED_VIRTUAL_COLUMNS: readonly string[] = ['fallback', 'nested-object', 'nested-merge'];

export const UNSUPPORTED_DATA_SOURCES: readonly string[] = ['globalTable', 'restrict'];

export const UNSUPPORTED_QUERY_TYPES: readonly string[] = ['movingAverage', 'windowOperator', 'union', 'select'];
