import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { dnsAttacks } from './attacks/dns-attacks';
import { proxyAttacks } from './attacks/proxy-attacks';
import { restAttacks } from './attacks/rest-attacks';
import { machineAttacks, roleAttacks } from './attacks/right-attacks';
import { streamAttacks } from './attacks/stream-attacks';
import { zoneAttacks } from './attacks/zone-attacks';
import { Tally } from './tally';
import { textOf, type Arena, type Attack, type Target } from './target';

/** Attacks that share a process: each group has a process of its own. */
export type AttackGroup = 'zones' | 'rest' | 'dns' | 'proxies';

/** Arguments of an attacking process. */
export interface Orders {
  readonly target: Target;
  readonly group: AttackGroup;
  /** Duration of the attack, ms. */
  readonly lasts: number;
  /** Names of attacks to leave to themselves; empty means all. */
  readonly only: readonly string[];
}

const GROUPS: Readonly<Record<AttackGroup, readonly Attack[]>> = {
  zones: zoneAttacks(),
  rest: [...restAttacks(), ...roleAttacks()],
  dns: dnsAttacks(),
  proxies: [...proxyAttacks(), ...machineAttacks(), ...streamAttacks()],
};

/** Runs all attacks of the group at once until the time is over; sends the tally to the parent. */
async function main({ target, group, lasts, only }: Orders): Promise<void> {
  const tally = new Tally();
  const stop = new AbortController();
  const chosen = GROUPS[group].filter(({ name }) => only.length === 0 || only.includes(name));
  for (const { name } of chosen) tally.expect(name);
  const arena = { target, tally, stop: stop.signal };
  setMaxListeners(0, stop.signal);
  const timer = setTimeout(() => stop.abort(), lasts);
  await Promise.all(chosen.map((attack) => until(attack, arena)));
  clearTimeout(timer);
  // Open connections stay open: the parent ends this process when it has the tally.
  process.send?.(tally.counted());
}

/** Strikes again and again; a blow that does not end is left alone when the time is over. */
async function until(attack: Attack, arena: Arena): Promise<void> {
  const over = new Promise<void>((resolve) => arena.stop.addEventListener('abort', () => resolve(), { once: true }));
  for (let turn = 0; !arena.stop.aborted; turn++) {
    await Promise.race([strike(attack, arena, turn), over]);
    await Promise.race([pause(attack.pause), over]);
  }
}

async function strike(attack: Attack, arena: Arena, turn: number): Promise<void> {
  try {
    await attack.strike(arena, turn);
  } catch (error) {
    arena.tally.note(attack.name, `refused: ${textOf(error)}`);
  }
}

process.on('uncaughtException', (error) => console.error('attacker:', error.message));
process.once('message', (orders: Orders) => void main(orders));
