import { setMaxListeners } from 'node:events';
import type { Clock } from './clock';

/** Maximum number of a program's parts that listen to one signal; above it Node warns of a leak. */
const MAX_PARTS = 100;

/** Returns a controller for a signal to which all parts of a program listen while they work. */
export function sharedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(MAX_PARTS, controller.signal);
  return controller;
}

/**
 * Calls `listener` once when `signal` aborts, or immediately if it already has: an AbortSignal does not notify late
 * listeners. Returns a function that removes the listener.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, resolve));
}

/** Settles like `work`, or rejects with the signal's reason if it aborts first. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined); // nobody awaits it, and an uncaught rejection ends the program
    return Promise.reject(toError(signal.reason));
  }
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(toError(signal.reason));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Settles like `work`, or rejects after `ms`. The work continues, and its outcome is ignored. */
export function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** Runs work whose signal aborts with `reason` after `ms`. Settles like the work. */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  reason: Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = clock.after(ms, () => deadline.abort(reason));
  try {
    return await work(deadline.signal);
  } finally {
    timer.cancel();
  }
}

/**
 * Runs work whose signal aborts with the first of `signals`, and unsubscribes from them when the work has ended.
 * Settles like the work. For repeated work under long-lived signals: each `AbortSignal.any` leaves an entry in every
 * source for the source's lifetime (Node 20), and one with a listener lives as long itself.
 */
export async function underSignals<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const letGo = signals.map((signal) => onAbort(signal, () => either.abort(signal.reason)));
  try {
    return await work(either.signal);
  } finally {
    for (const each of letGo) each();
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
