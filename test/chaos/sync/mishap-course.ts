import { setTimeout as wait } from 'node:timers/promises';
import { errorText } from '@causeway/runtime';
import type { Prng } from '../../simulation/engine/prng';
import type { Mishap } from './mishaps';

/** Pause between two faults, ms. */
const PAUSE = [200, 1_200] as const;
const AT_ONCE = 3;

/** Runs faults, several at once, each on targets of its own. */
export class MishapCourse {
  /** Number of each fault. */
  readonly counts: Record<string, number> = {};
  /** Mishaps that could not begin or end as they should, with the reason. */
  readonly failed: string[] = [];
  private readonly under = new Map<Mishap, Promise<void>>();

  constructor(
    private readonly draw: () => Mishap,
    private readonly chance: Prng,
  ) {}

  /** Runs for this long, or until a fault fails to begin or end; resolves when each has ended or failed. */
  async run(seconds: number): Promise<void> {
    const end = performance.now() + seconds * 1_000;
    while (performance.now() < end && this.failed.length === 0) {
      await wait(this.chance.between(...PAUSE));
      const mishap = this.draw();
      if (this.under.size >= AT_ONCE || this.befalls(mishap.targets)) continue;
      this.counts[mishap.name] = (this.counts[mishap.name] ?? 0) + 1;
      this.under.set(mishap, this.befall(mishap));
    }
    await Promise.all(this.under.values());
  }

  private befalls(targets: readonly object[]): boolean {
    return [...this.under.keys()].some((mishap) => mishap.targets.some((target) => targets.includes(target)));
  }

  private async befall(mishap: Mishap): Promise<void> {
    try {
      await mishap.begin();
      await wait(mishap.lasts);
      await mishap.end();
    } catch (error) {
      this.failed.push(`${mishap.name}: ${errorText(error)}`);
    } finally {
      this.under.delete(mishap);
    }
  }
}
