import { ReaderThread } from '../../../src/ingestion/batch/divided/reader-thread.js';
import { orderOf, settingOf } from './thread-order.js';

// Program that has a thread read a file and writes why it could not: `node thread-program.js FILE FOLDER`.

const [file = '', folder = ''] = process.argv.slice(2);
const thread = new ReaderThread(settingOf(file, folder, { of: 2, number: 1 }), new AbortController().signal);
const { failure } = await thread.read(orderOf(file), () => undefined);
console.log(`${failure?.code} ${failure?.message}`);
await thread.close();
