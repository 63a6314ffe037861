import { isJsonObject } from '@causeway/resources';
import type { Commit, Row, WatchedDisk } from '../engine/watched-disk';
import type { Report } from './violation';

/** I1 and I2 in one zone. */
export class AddressCheck {
  private readonly holders = new Map<string, string>();
  /** Of each address: who gave it up last and when, by the store's clock. */
  private readonly freed = new Map<string, { readonly key: string; readonly at: number }>();
  /** Of each address: who got it last. */
  private readonly granted = new Map<string, string>();
  /** The last address of each service. */
  private readonly last = new Map<string, string>();

  constructor(
    private readonly disk: WatchedDisk,
    private readonly rest: number,
    private readonly report: Report,
  ) {
    for (const [key, row] of disk.rows) {
      const ip = shownAddress(row);
      if (ip === undefined) continue;
      for (const book of [this.holders, this.granted]) book.set(ip, key);
      this.last.set(key, ip);
    }
  }

  check({ changes }: Commit): void {
    const moved = changes.flatMap(({ key, before, after }) => {
      const [from, to] = [shownAddress(before), shownAddress(after)];
      if (to !== undefined && after.vip !== to) this.say('I1', `${key} shows ${to} and holds ${after.vip ?? 'none'}`);
      return from === to ? [] : [{ key, from, to, lives: after.deletedAt === undefined }];
    });
    for (const { key, from, to, lives } of moved) {
      if (from === undefined) continue;
      if (lives) this.say('I2', `living ${key} lost ${from}${to === undefined ? '' : ` for ${to}`}`);
      if (this.holders.get(from) === key) this.holders.delete(from);
      this.freed.set(from, { key, at: this.disk.clock.now() });
    }
    for (const { key, to } of moved) if (to !== undefined) this.grant(key, to);
  }

  private grant(key: string, ip: string): void {
    const holder = this.holders.get(ip);
    if (holder !== undefined && holder !== key) this.say('I1', `${key} and ${holder} both hold ${ip}`);
    const freed = this.freed.get(ip);
    const rested = freed ? this.disk.clock.now() - freed.at : Infinity;
    if (freed && freed.key !== key && rested < this.rest) {
      this.say('I1', `${key} got ${ip} ${rested} ms after ${freed.key} gave it up`);
    }
    const former = this.last.get(key);
    if (former !== undefined && former !== ip && this.granted.get(former) === key) {
      this.say('I2', `${key} had ${former}, which nobody else got since, and got ${ip}`);
    }
    this.holders.set(ip, key);
    this.granted.set(ip, key);
    this.last.set(key, ip);
  }

  private say(invariant: string, detail: string): void {
    this.report(invariant, `${this.disk.name}: ${detail}`);
  }
}

function shownAddress(row: Row | undefined): string | undefined {
  const vip = row?.deletedAt === undefined ? row?.status?.['vip'] : undefined;
  return isJsonObject(vip) && typeof vip['ip'] === 'string' ? vip['ip'] : undefined;
}
