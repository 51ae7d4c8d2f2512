import { runBenchCommand } from '../queries/main.js';
import { SKETCH_QUERIES } from './queries.js';

// npm run bench -- sketches: estimates of distinct values and quantiles, against those of DuckDB
await runBenchCommand(SKETCH_QUERIES);
