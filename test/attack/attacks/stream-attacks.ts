import { constants } from 'node:http2';
import { begunStreams, rapidResets, sendRaw } from '../../support/raw-http2';
import type { Arena, Attack } from '../target';

/** Source address of these connections: an address that begins too many streams is refused, and others are not. */
const FLOOD = '127.0.0.8';
/** 118 kB of streams that are reset. */
const STREAMS = 4_200;
/** Time for which a blow waits for its end, ms. */
const PATIENCE = 5_000;

/** Calls without credentials that are begun, and most of them reset at once, at every port that speaks gRPC. */
export function streamAttacks(): readonly Attack[] {
  return [
    { name: 'HTTP/2 rapid resets', pause: 20, strike: (arena) => flood(arena, 'HTTP/2 rapid resets', rapidResets) },
    { name: 'HTTP/2 begun streams', pause: 20, strike: (arena) => flood(arena, 'HTTP/2 begun streams', begunStreams) },
  ];
}

async function flood(arena: Arena, name: string, bytesOf: (path: string, streams: number) => Buffer): Promise<void> {
  await Promise.all(
    arena.target.grpc.map(async ({ target, path }) => {
      const { closed, code } = await sendRaw({ ...target, localAddress: FLOOD }, bytesOf(path, STREAMS), PATIENCE);
      const reason =
        code === constants.NGHTTP2_ENHANCE_YOUR_CALM ? 'told to be calm' : `closed, code ${code ?? 'none'}`;
      arena.tally.note(name, closed ? reason : 'stays open');
    }),
  );
}
