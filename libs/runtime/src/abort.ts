import { setMaxListeners } from 'node:events';
import type { Clock } from './clock';

/** More than a program has parts that listen to one signal; Node warns of a leak from so many listeners on. */
const MAX_PARTS = 100;

/** A controller whose signal all parts of a program listen to, for as long as each of them works. */
export function sharedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(MAX_PARTS, controller.signal);
  return controller;
}

/**
 * Calls `listener` once when `signal` aborts, at once where it has aborted already: an AbortSignal tells a listener that
 * comes late nothing. Returns what takes the listener back.
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

/** Settles as `work` does, or rejects with the signal's reason when it aborts first. */
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

/** Settles as `work` does, or rejects after `ms`. The work goes on, and its outcome is ignored. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** Does work whose signal aborts with `reason` after `ms`. Settles as the work does. */
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
 * Does work whose signal aborts with the first of `signals`, and lets go of them when the work has ended. Settles as the work does.
 * For work that is done again and again under a signal that lasts: each `AbortSignal.any` leaves an entry in every source for as long as
 * that lives (Node 20), and one with a listener lives as long itself.
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
