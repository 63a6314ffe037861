import type { Socket } from 'node:net';
import { setImmediate as afterThisTurn } from 'node:timers';

/** Timers of sockets are ms of 31 bits. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** One of two connections that are joined: what is read and written, and the connection of TCP below it, which can be reset. */
export interface Leg {
  readonly socket: Socket;
  readonly raw: Socket;
}

/**
 * Ends a connection by a reset, so that the other side hears of it even where one direction has ended before. One that is just being shut
 * down is only closed: Node would neither reset nor close it.
 */
export function reset({ socket, raw }: Leg): void {
  if (isEnding(socket) || isEnding(raw) || raw.destroyed) socket.destroy();
  else raw.resetAndDestroy();
}

function isEnding({ writableEnded, writableFinished }: Socket): boolean {
  return writableEnded && !writableFinished;
}

/** Bytes of one direction that may wait here until its reader takes more are read. */
const MAX_WAITING = 128 * 1024;

/** A full record of TLS: Node hands over each by itself, and more follow. They are written together, up to so many bytes. */
const RECORD = 16 * 1024;
const MAX_TOGETHER = 64 * 1024;

/** Options of joining two connections. */
export interface SpliceOptions {
  /** Without a byte for so long both end, ms. */
  readonly idle: number;
  /** The idle time is over. */
  readonly onIdle: () => void;
  /** Bytes that went from the client to the server, and back. */
  readonly onBytes: (up: number, down: number) => void;
}

/**
 * Passes on what either side says until both have ended. At most one piece of each direction is held here (64 KiB): whoever reads slowly
 * slows the other down. The end of one direction is passed on alone, and a connection that breaks off is passed on as a reset, never as
 * an end: a reader must be able to tell a whole answer from half of one.
 */
export function splice(client: Leg, server: Leg, { idle, onIdle, onBytes }: SpliceOptions): void {
  join(client, server, (bytes) => onBytes(bytes, 0));
  join(server, client, (bytes) => onBytes(0, bytes));
  // Reads of the server are writes to the client, so one socket hears of all bytes.
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
    // // Nobody reads further data of `to`; data that it already received is still sent.
    else if (!from.writableFinished && to.writableFinished) reset(leg);
    else if (!from.writableFinished) to.once('finish', () => reset(leg));
  });
  from.resume();
}
