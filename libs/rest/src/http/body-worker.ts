import { parentPort } from 'node:worker_threads';
import { jsonShapeViolation } from '@causeway/resources';
import { isParseRequest, parseBody, parseDocuments, type BodyParseResult, type ParseRequest } from './body-decode';
import { HttpError } from './http-error';

/**
 * Worker that parses large bodies. YAML is returned as a value. JSON is only checked here and parsed again by the main
 * thread: once its shape is bounded, that blocks the main thread for less time than receiving the value.
 */
parentPort?.on('message', (request: unknown) => {
  if (isParseRequest(request)) parentPort?.postMessage(parseRequested(request.format, request.bytes));
});
parentPort?.postMessage({ type: 'ready' } satisfies BodyParseResult);

function parseRequested(format: ParseRequest['format'], bytes: Uint8Array): BodyParseResult {
  try {
    if (format === 'documents') return { type: 'value', value: parseDocuments(bytes) };
    const value = parseBody(format, bytes);
    const violation = jsonShapeViolation(value);
    if (violation !== undefined)
      return { type: 'failure', status: 400, detail: `The body cannot be read: ${violation}.` };
    return format === 'yaml' ? { type: 'value', value } : { type: 'fine' };
  } catch (error) {
    if (error instanceof HttpError) return { type: 'failure', status: error.status, detail: error.message };
    return {
      type: 'failure',
      status: 500,
      detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}
