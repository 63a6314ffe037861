import { identityAttributes, recentTrace } from '@causeway/resources';
import { noTracer, type Clock, type Tracer } from '@causeway/runtime';
import type { Change, IndexReader, WriteResult } from '@causeway/store';
import type { LoopPlan } from './control-loop';

/** Maximum number of spans of one write, so that a large one does not push out all others. */
const MAX_SPANS = 50;

interface LoopTracesOptions {
  readonly index: IndexReader;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
}

/** A change that belongs to a trace. */
interface TracedChange {
  readonly plan: number;
  readonly at: number;
  readonly name: string;
  readonly change: Change;
  readonly parent: string;
}

/** Creates spans for writes of control loops that a traced change caused: a virtual IP, hostnames, a generated service. */
export class LoopTraces {
  constructor(private readonly options: LoopTracesOptions) {}

  /** Records which changes of these plans belong to traces; returns undefined if none does. Called before they are written. */
  begin(
    planned: readonly { readonly state: { readonly loop: { readonly name: string } }; readonly plan: LoopPlan }[],
  ): { end(plan: number, result: WriteResult): void } | undefined {
    const { tracer = noTracer, clock } = this.options;
    if (!tracer.isOn) return undefined;
    const startedAt = clock.now();
    const traced: TracedChange[] = [];
    planned.forEach(({ state, plan: { changes } }, plan) =>
      changes.forEach((change, at) => {
        const parent = traced.length < MAX_SPANS ? this.findTrace(change, startedAt) : undefined;
        if (parent !== undefined) traced.push({ plan, at, name: state.loop.name, change, parent });
      }),
    );
    if (traced.length === 0) return undefined;
    return {
      end: (plan, { results }) => {
        for (const { at, name, change, parent } of traced.filter((each) => each.plan === plan)) {
          if (results[at]?.type !== 'written') continue;
          const attributes = identityAttributes(change.id);
          tracer.step(`loop ${name}`, parent, { attributes, startedAt })?.end();
        }
      },
    };
  }

  private findTrace(change: Change, now: number): string | undefined {
    if (change.type !== 'delete' && change.traceparent !== undefined) return change.traceparent;
    if (change.type === 'put' && change.copy) return recentTrace(change.copy.origin, now);
    const origin = this.options.index.get(change.id)?.origin;
    return origin && recentTrace(origin, now);
  }
}
