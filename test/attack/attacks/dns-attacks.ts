import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Arena, Attack } from '../target';

/** Malformed packets, and TCP conversations without content. */
export function dnsAttacks(): readonly Attack[] {
  return [
    { name: 'DNS garbage', pause: 20, strike: garbage },
    { name: 'DNS over TCP by octets', pause: 1_000, strike: octets },
  ];
}

async function garbage(arena: Arena, turn: number): Promise<void> {
  for (const place of Object.values(arena.target.dns)) {
    const { host, port } = placeOf(place);
    const socket = createSocket('udp4').on('error', () => undefined);
    let answers = 0;
    socket.on('message', () => answers++);
    for (let n = 0; n < 200; n++) {
      const packet = randomBytes(12 + ((turn * 7 + n * 31) % 1_200));
      packet.writeUInt8(packet.readUInt8(2) & 0x7f, 2);
      if (n % 2 === 0) packet.writeUInt32BE(0x00010000, 4);
      socket.send(packet, port, host);
    }
    await pause(50);
    arena.tally.note('DNS garbage', answers > 0 ? 'answered' : 'silence');
    socket.close();
  }
}

async function octets(arena: Arena): Promise<void> {
  const sockets = Object.values(arena.target.dns).flatMap((place) => {
    const { host, port } = placeOf(place);
    return Array.from({ length: 150 }, (): Socket => connect(port, host).on('error', () => undefined));
  });
  for (let n = 0; n < 20 && !arena.stop.aborted; n++) {
    for (const socket of sockets) if (socket.writable) socket.write(Buffer.from([0xff]));
    await pause(200);
  }
  const some = sockets.some((socket) => socket.destroyed);
  arena.tally.note('DNS over TCP by octets', some ? 'some were ended' : 'all stay open');
  for (const socket of sockets) socket.destroy();
}

function placeOf(place: string): { readonly host: string; readonly port: number } {
  const colon = place.lastIndexOf(':');
  return { host: place.slice(0, colon), port: Number(place.slice(colon + 1)) };
}
