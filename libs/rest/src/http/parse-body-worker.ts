import { parentPort } from 'node:worker_threads';
import { parseBody } from './body-decode';
import { jsonShapeFault } from './json-shape';
import { isParseOrder, type ParseAnswer } from './parse-messages';
import { problemOf } from './problem';

/**
 * The thread that reads large bodies. YAML comes back as a value. JSON is only looked through here and read again by
 * who asked: that holds the main thread for less time than taking over the value, once its shape is bounded.
 */
parentPort?.on('message', (order: unknown) => {
  if (isParseOrder(order)) parentPort?.postMessage(answerTo(order.format, order.bytes));
});
parentPort?.postMessage({ type: 'ready' } satisfies ParseAnswer);

function answerTo(format: 'json' | 'yaml', bytes: Uint8Array): ParseAnswer {
  try {
    const value = parseBody(format, bytes);
    if (format === 'yaml') return { type: 'value', value };
    const fault = jsonShapeFault(value);
    return fault === undefined
      ? { type: 'fine' }
      : { type: 'failure', status: 400, detail: `The body cannot be read: ${fault}.` };
  } catch (error) {
    const { status, detail } = problemOf(error, '').problem;
    const stack = status === 500 && error instanceof Error ? error.stack : undefined;
    return { type: 'failure', status, detail: stack ?? detail };
  }
}
