import { workerData } from 'node:worker_threads';
import { type Piece, writePiece } from './table.js';

/* Writes one piece of the table, beside whatever loads the one before. */
writePiece(workerData as Piece);
