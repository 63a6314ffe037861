import { once } from 'node:events';
import { join } from 'node:path';
import { startWorkerThread, type WorkerThread } from './worker-thread';

const ENTRY = join(__dirname, 'testdata', 'echo-worker');

let worker: WorkerThread;

afterEach(() => worker.terminate());

it('runs a module with its imports, and gives it what it needs at its start', async () => {
  worker = startWorkerThread(ENTRY, { data: { answer: 42 } });
  worker.postMessage('hello');
  expect(await once(worker, 'message')).toEqual([{ message: 'hello', data: { answer: 42 }, imports: 'works' }]);
});

it('ends a thread that fills its heap, and only the thread', async () => {
  worker = startWorkerThread(ENTRY, { heapMiB: 16 });
  worker.postMessage('fill');
  expect(await once(worker, 'error')).toMatchObject([{ code: 'ERR_WORKER_OUT_OF_MEMORY' }]);
});
