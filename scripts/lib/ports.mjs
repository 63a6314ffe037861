import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
/** Folder in which programs claim drawn ports, and the time for which a claim is valid, ms: a port is drawn before it is used. */
const CLAIMS = join(tmpdir(), 'causeway-ports');
const CLAIM_HOLDS = 600_000;

/** A port of 127.0.0.1, drawn at random, that is free for TCP and UDP, and that no other draw of the last ten minutes has given. */
export async function freePort() {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (claim(port) && (await isPortFree(port)) && (await isUdpPortFree(port))) return port;
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

/** False where the port was drawn a short time ago, here or by another program. */
function claim(port) {
  const file = join(CLAIMS, String(port));
  try {
    mkdirSync(CLAIMS, { recursive: true });
    if (Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > CLAIM_HOLDS) unlinkSync(file);
  } catch {
    // There is no claim, or the folder is another user's: then the look at the port has to do.
  }
  try {
    writeFileSync(file, '', { flag: 'wx' });
    return true;
  } catch (error) {
    return error.code !== 'EEXIST';
  }
}
