import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Whether nothing listens on this port of 127.0.0.1 now. */
export function isPortFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1' }, () => probe.close(() => resolve(true)));
  });
}

/**
 * No system gives these ports to a program that asks for any (Linux: from 32768, macOS and Windows: from 49152), so nobody
 * takes one by chance between the look at it and its use.
 */
const [LOWEST, HIGHEST] = [10_240, 29_999];
const TRIES = 100;

/** A port of 127.0.0.1, drawn at random, that is free for TCP and UDP. */
export async function freePort() {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if ((await isPortFree(port)) && (await isUdpPortFree(port))) return port;
  }
  throw new Error(`of ${TRIES} ports from ${LOWEST} to ${HIGHEST} none is free`);
}

function isUdpPortFree(port) {
  return new Promise((resolve) => {
    const probe = createSocket('udp4');
    probe.once('error', () => probe.close(() => resolve(false)));
    probe.bind(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
