import { setTimeout as pause } from 'node:timers/promises';
import { watchServices } from '../../bench/support/service-watch';
import type { ProcessPlane } from '../support/process-plane';
import { call } from './calls';
import { VipHolders } from './vip-holders';

/** A process that services of a churn share: it answers its name, and its Dataplane has an inbound tagged with it. */
export interface Slot {
  readonly name: string;
  /** The port of the inbound. */
  readonly port: number;
}

/** Options of the churn: how services come and go, and their callers. */
export interface ChurnOptions {
  readonly zone: ProcessPlane;
  readonly slots: readonly Slot[];
  /** Source addresses of callers, each calling all the time; the machine may give each a proxy of its own. */
  readonly callers: readonly string[];
  /** The port of every service. */
  readonly port: number;
  /** Services made in all, and how many stay at one time. */
  readonly services: number;
  readonly alive: number;
  /** It goes on, up to five times as long, until it has seen this; to the end of `services` if absent. */
  readonly isEnough?: (outcome: ChurnOutcome) => boolean;
  /** Services made a second, at most. */
  readonly rate: number;
  /** Time for which a service waits before it goes for a call that is answered at its address, ms; on a slow host proxies learn of it late. */
  readonly awaitsCall?: number;
  /** ms between two calls of one caller. */
  readonly every: number;
}

export interface ChurnOutcome {
  readonly made: number;
  /** Returns how often an address passed to another process. */
  readonly reused: number;
  readonly calls: number;
  readonly answered: number;
  /** Calls that another process answered than the holder's: none, or I11 does not hold. */
  readonly wrong: readonly string[];
}

/** Services that are made and deleted at one time. */
const WRITERS = 8;
/** So many times as many services are made where not enough was seen. */
const MOST = 5;
/** So many addresses that were freed last are called on. */
const FREED = 200;

/** Makes and deletes services in a zone while callers connect to addresses that are held, and to those that were. */
export class VipChurn {
  private readonly holders = new VipHolders();
  /** Address by service, of those that are there. */
  private readonly alive = new Map<string, string>();
  private readonly freed: string[] = [];
  /** Addresses at which a call was answered since their holders took them. */
  private readonly called = new Set<string>();
  private readonly wrong: string[] = [];
  private made = 0;
  private calls = 0;
  private answered = 0;
  private isOver = false;

  constructor(private readonly options: ChurnOptions) {}

  async run(): Promise<ChurnOutcome> {
    const { zone, callers, services, rate, alive, isEnough = () => true } = this.options;
    const end = await watchServices(zone, ({ name, vip, at }) => this.seen(name, vip, at));
    const calling = callers.map((from) => this.callOn(from));
    const began = performance.now();
    const writing = new Set<Promise<void>>();
    for (let n = 0; n < services || (n < MOST * services && !isEnough(this.outcome)); n++) {
      await pause(Math.max(0, began + (n * 1_000) / rate - performance.now()));
      if (writing.size >= WRITERS) await Promise.race(writing);
      const one = this.make(n).then(() => (n >= alive ? this.remove(n - alive) : undefined));
      writing.add(one);
      void one.then(
        () => writing.delete(one),
        () => undefined,
      );
    }
    await Promise.all(writing);
    this.isOver = true;
    await Promise.all(calling);
    end();
    return this.outcome;
  }

  get outcome(): ChurnOutcome {
    const { made, calls, answered, wrong, holders } = this;
    return { made, reused: holders.reused, calls, answered, wrong: [...wrong] };
  }

  private seen(name: string, vip: string, at: number): void {
    if (!name.startsWith('churn-') || this.alive.get(name) !== '') return;
    this.alive.set(name, vip);
    this.holders.took(vip, this.slotOf(name).name, at);
  }

  /** Names end in the number of their slot. */
  private slotOf(name: string): Slot {
    const { slots } = this.options;
    const slot = slots[Number(name.split('-')[2])];
    if (!slot) throw new Error(`no slot of ${name}`);
    return slot;
  }

  private nameOf(n: number): string {
    // No multiple of usual pool sizes, so that an address goes to another slot the next time.
    return `churn-${n}-${(n * 7 + Math.floor(n / 13)) % this.options.slots.length}`;
  }

  private async make(n: number): Promise<void> {
    const name = this.nameOf(n);
    const slot = this.slotOf(name);
    const ports = [{ port: this.options.port, targetPort: slot.port, appProtocol: 'tcp' }];
    const spec = { selector: { dataplaneTags: { slot: slot.name } }, ports };
    this.alive.set(name, '');
    const body = { type: 'MeshService', mesh: 'default', name, spec };
    const status = await this.options.zone.put(`/meshes/default/meshservices/${name}`, body);
    if (status !== 201) throw new Error(`the PUT of ${name} was answered ${status}`);
    this.made++;
  }

  private async remove(n: number): Promise<void> {
    const name = this.nameOf(n);
    const { awaitsCall = 0 } = this.options;
    const latest = performance.now() + awaitsCall;
    while (!this.called.has(this.alive.get(name) ?? '') && performance.now() < latest) await pause(this.options.every);
    const vip = this.alive.get(name) ?? '';
    this.alive.delete(name);
    this.called.delete(vip);
    if (vip !== '') {
      this.holders.freeing(vip, performance.now());
      this.freed.push(vip);
      if (this.freed.length > FREED) this.freed.shift();
    }
    const status = await this.options.zone.delete(`/meshes/default/meshservices/${name}`);
    if (status !== 200) throw new Error(`the DELETE of ${name} was answered ${status}`);
  }

  private async callOn(localAddress: string): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!this.isOver) {
      const vip = this.pick();
      if (vip !== undefined) {
        const one = this.callOnce(vip, localAddress);
        open.add(one);
        void one.then(() => open.delete(one));
      }
      await pause(this.options.every);
    }
    await Promise.all(open);
  }

  /** Returns an address that is held, or, half of the time, a freed one. */
  private pick(): string | undefined {
    const held = [...this.alive.values()].filter((vip) => vip !== '');
    const from = Math.random() < 0.5 && this.freed.length > 0 ? this.freed : held;
    return from[Math.floor(Math.random() * from.length)];
  }

  private async callOnce(vip: string, localAddress: string): Promise<void> {
    const from = performance.now();
    const answer = await call({ address: vip, port: this.options.port }, { localAddress });
    const to = performance.now();
    this.calls++;
    if (answer === '') return;
    this.answered++;
    this.called.add(vip);
    const by = answer.split(':')[0] ?? '';
    if (this.holders.isWrong({ vip, from, to, by }))
      this.wrong.push(`${vip} from ${localAddress} was answered by ${by}`);
  }
}
