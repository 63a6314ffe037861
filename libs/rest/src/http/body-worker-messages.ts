import { isJsonObject } from '@causeway/resources';
import type { BodyFormat } from './body-decode';

/** What the thread that reads bodies is asked. */
export interface ParseRequest {
  readonly format: BodyFormat;
  readonly bytes: Uint8Array;
}

/** What it answers: `ready` once, then one answer to each order. */
export type ParseResult =
  | { readonly type: 'ready' | 'fine' }
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'failure'; readonly status: number; readonly detail: string };

/** True for an order; what comes from another thread has no type. */
export function isParseRequest(message: unknown): message is ParseRequest {
  if (typeof message !== 'object' || message === null || !('format' in message) || !('bytes' in message)) return false;
  return (message.format === 'json' || message.format === 'yaml') && message.bytes instanceof Uint8Array;
}

/** True for an answer. */
export function isParseResult(message: unknown): message is ParseResult {
  if (!isJsonObject(message)) return false;
  const { type, status, detail } = message;
  if (type === 'failure') return typeof status === 'number' && typeof detail === 'string';
  return type === 'ready' || type === 'fine' || type === 'value';
}
