import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { RestWriter, ServiceWrite } from './rest-writer';
import type { SeenService } from './service-watch';
import { summary } from './summary';

/** Time without an arrival after which missing writes count as lost, ms. */
const PATIENCE = 30_000;

/** Result of a stream of writes. */
export interface StreamOutcome {
  /** Writes that were answered with a failure. */
  readonly refused: number;
  /** Writes that were answered with success and never seen. */
  readonly lost: number;
  /** From the moment a write was due until it was answered. */
  readonly answered: Readonly<Record<string, number>>;
}

/** Matches writes in one zone with events of another zone's watch, and records how long each write took. */
export class Propagation {
  /** From the moment a write was due until it, or a later one of the same service, was seen; ms. */
  readonly times: number[] = [];
  private readonly missing = new Map<string, { readonly port: number; readonly due: number }[]>();
  private lastSeen = 0;
  private told: () => void = () => undefined;

  /** Records an event of the target zone's watch. */
  seen({ name, port, at }: SeenService): void {
    const writes = this.missing.get(name) ?? [];
    const arrived = writes.filter((write) => write.port <= port);
    if (arrived.length === 0) return;
    const left = writes.filter((write) => write.port > port);
    if (left.length > 0) this.missing.set(name, left);
    else this.missing.delete(name);
    for (const { due } of arrived) this.times.push(at - due);
    this.lastSeen = at;
    this.told();
  }

  /** Sends one write and resolves when it was seen. */
  async one(writer: RestWriter, write: ServiceWrite): Promise<void> {
    this.expect(write, performance.now());
    const seen = new Promise<void>((resolve) => (this.told = resolve));
    await Promise.all([writer.put(write), seen]);
  }

  /**
   * Sends writes at a steady rate whether or not earlier ones were answered, and waits for all of them. A write counts
   * from when it was due, so that a sender that falls behind shows.
   */
  async stream(writer: RestWriter, writes: Iterable<ServiceWrite>, rate: number): Promise<StreamOutcome> {
    const start = performance.now();
    const answered: number[] = [];
    const answers: Promise<void>[] = [];
    let sent = 0;
    for (const write of writes) {
      const due = start + (sent++ * 1_000) / rate;
      if (due > performance.now()) await pause(due - performance.now());
      this.expect(write, due);
      const answer = writer.put(write).then(() => void answered.push(performance.now() - due));
      answers.push(answer.catch(() => undefined));
    }
    await Promise.all(answers);
    const refused = sent - answered.length;
    this.lastSeen = performance.now();
    while (this.missing.size > 0 && performance.now() - this.lastSeen < PATIENCE) await pause(100);
    return { refused, lost: answered.length - this.times.length, answered: summary(answered) };
  }

  private expect({ service, port }: ServiceWrite, due: number): void {
    const writes = this.missing.get(service);
    if (writes) writes.push({ port, due });
    else this.missing.set(service, [{ port, due }]);
  }
}
