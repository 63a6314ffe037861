import { parentPort } from 'node:worker_threads';
import { parseBody } from './body-decode';
import { jsonShapeViolation } from './json-shape';
import { isParseRequest, type ParseResult } from './body-worker-messages';
import { problemOf } from './problem';

/**
 * The thread that reads large bodies. YAML comes back as a value. JSON is only looked through here and read again by
 * who asked: that holds the main thread for less time than taking over the value, once its shape is bounded.
 */
parentPort?.on('message', (order: unknown) => {
  if (isParseRequest(order)) parentPort?.postMessage(parseRequested(order.format, order.bytes));
});
parentPort?.postMessage({ type: 'ready' } satisfies ParseResult);

function parseRequested(format: 'json' | 'yaml', bytes: Uint8Array): ParseResult {
  try {
    const value = parseBody(format, bytes);
    const fault = jsonShapeViolation(value);
    if (fault !== undefined) return { type: 'failure', status: 400, detail: `The body cannot be read: ${fault}.` };
    return format === 'yaml' ? { type: 'value', value } : { type: 'fine' };
  } catch (error) {
    const { status, detail } = problemOf(error, '').problem;
    const stack = status === 500 && error instanceof Error ? error.stack : undefined;
    return { type: 'failure', status, detail: stack ?? detail };
  }
}
