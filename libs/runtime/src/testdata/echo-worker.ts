import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../logger';

const data: unknown = workerData;

parentPort?.on('message', (message: unknown) => {
  if (message === 'fill') for (const kept: unknown[] = []; ; ) kept.push(new Array(1_000).fill(kept.length));
  parentPort?.postMessage({ message, data, imports: errorText(new Error('works')) });
});
