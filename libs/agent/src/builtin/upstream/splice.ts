import type { Socket } from 'node:net';
import { setImmediate as afterThisTurn } from 'node:timers';

/** Timers of sockets are 31-bit ms. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** One of two joined connections: the socket for reading and writing, and the TCP socket below it, for a reset. */
export interface Leg {
  readonly socket: Socket;
  readonly raw: Socket;
}

/**
 * Resets a connection, so that the peer notices even if it has half-closed before. A connection that is shutting down
 * is only closed: Node would neither reset nor close it.
 */
export function reset({ socket, raw }: Leg): void {
  if (isEnding(socket) || isEnding(raw) || raw.destroyed) socket.destroy();
  else raw.resetAndDestroy();
}

function isEnding({ writableEnded, writableFinished }: Socket): boolean {
  return writableEnded && !writableFinished;
}

/** Maximum bytes buffered in one direction before reading pauses. */
const MAX_WAITING = 128 * 1024;

/** Size of a full TLS record, which Node delivers singly; consecutive ones are written together. */
const RECORD = 16 * 1024;
const MAX_TOGETHER = 64 * 1024;

/** Options of `splice`. */
export interface SpliceOptions {
  /** Idle timeout of both directions, ms. */
  readonly idle: number;
  /** Called when the idle timeout expires. */
  readonly onIdle: () => void;
  /** Called with bytes forwarded from client to server, and back. */
  readonly onBytes: (up: number, down: number) => void;
}

/**
 * Forwards bytes both ways until both sides have ended. Buffers are bounded, so a slow reader slows down the other
 * side. A half-close is forwarded as such; a broken connection is forwarded as a reset, so that a reader can tell a
 * complete response from a truncated one.
 */
export function splice(client: Leg, server: Leg, { idle, onIdle, onBytes }: SpliceOptions): void {
  join(client, server, (bytes) => onBytes(bytes, 0));
  join(server, client, (bytes) => onBytes(0, bytes));
  // Bytes read from the server are written to the client, so one socket sees traffic of both directions.
  client.socket.setTimeout(Math.min(idle, MAX_TIMEOUT), () => {
    onIdle();
    client.socket.destroy();
    server.socket.destroy();
  });
}

function join({ socket: from }: Leg, leg: Leg, onBytes: (bytes: number) => void): void {
  const to = leg.socket;
  let hasEnded = false;
  from.on('data', (piece: Buffer) => {
    onBytes(piece.length);
    if (piece.length >= RECORD && to.writableCorked === 0) {
      to.cork();
      afterThisTurn(() => to.uncork());
    }
    to.write(piece);
    if (to.writableLength >= MAX_TOGETHER) to.uncork();
    if (to.writableLength > MAX_WAITING) from.pause();
  });
  to.on('drain', () => from.resume());
  from.on('end', () => {
    hasEnded = true;
    to.end();
  });
  from.on('error', () => undefined);
  from.on('close', () => {
    if (to.destroyed) return;
    if (!hasEnded) reset(leg);
    // Nobody reads further data for `to`; data that it already received is still sent.
    else if (!from.writableFinished && to.writableFinished) reset(leg);
    else if (!from.writableFinished) to.once('finish', () => reset(leg));
  });
  from.resume();
}
