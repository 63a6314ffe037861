import type { Registry } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { Rejections, type Rejection } from '@causeway/sync';
import type { OpenedResponse } from '../../wire/response';
import type { KindReport } from '../kind-report';
import type { Direction } from '../session';

/** Reported in place of all unknown kinds. */
const UNKNOWN_KIND = 'unknown';

/** Progress of applying one kind. */
interface ReceivedProgress {
  applied: number;
  appliedAt: number;
  readonly rejections: Rejections;
}

/** Received state of each kind: the revision up to which it was applied, and its rejections. */
export class ReceivedKinds {
  private readonly progress = new Map<string, ReceivedProgress>();

  constructor(private readonly parts: { readonly registry: Registry; readonly clock: Pick<Clock, 'now'> }) {}

  /** Records an applied response: the wire keys that it answered, and those that were rejected. */
  advance(
    { kind, position }: Pick<OpenedResponse, 'kind' | 'position'>,
    answered: Iterable<string>,
    rejected: readonly Rejection[],
  ): void {
    const { registry, clock } = this.parts;
    // All kinds that a peer invents are reported as one.
    const known = registry.kind(kind) ? kind : UNKNOWN_KIND;
    const progress = this.progress.get(known) ?? { applied: 0, appliedAt: 0, rejections: new Rejections() };
    this.progress.set(known, progress);
    progress.applied = position?.revision || progress.applied;
    progress.appliedAt = clock.now();
    progress.rejections.recordAnswer(answered, rejected);
  }

  /** Returns a report of each kind; `heldOf` counts the held resources of a kind. */
  reports(direction: Direction, heldOf: (kind: string) => number): readonly KindReport[] {
    return [...this.progress].map(([kind, { applied, appliedAt, rejections }]) => ({
      kind,
      direction,
      applied,
      appliedAt,
      waiting: 0,
      held: heldOf(kind),
      rejected: rejections.total,
      rejections: rejections.current(),
    }));
  }
}
