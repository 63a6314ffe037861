import type { ReceivedSpan } from '../../test/support/otlp-receiver';

/** A stage of the way of a write, ms after its request came: medians over all traced writes. */
export interface Hop {
  readonly hop: string;
  readonly begins_ms: number;
  readonly ends_ms: number;
  /** Time that passed since the stage before it ended: waits of loops, watches and the wire. */
  readonly wait_ms: number;
  readonly took_ms: number;
  readonly writes: number;
}

/** One stage of one trace, µs since 1970. */
interface Stage {
  readonly begins: number;
  readonly ends: number;
}

/**
 * Returns the stages of the writes in these spans, in the order in which they end. All programs are on one machine, so that their
 * clocks are one. Of several spans of a stage in one trace the first counts.
 */
export function listHops(spans: readonly ReceivedSpan[]): readonly Hop[] {
  const traces = new Map<string, ReceivedSpan[]>();
  for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span]);
  const found = new Map<string, (Stage & { readonly wait: number })[]>();
  for (const trace of traces.values()) {
    const root = trace.find(({ parentSpanId, name }) => (parentSpanId ?? '') === '' && name.startsWith('PUT'));
    if (!root) continue;
    const stages = toStages(trace);
    const zero = toMicros(root.startTimeUnixNano);
    for (const [hop, stage] of stages) {
      const before = [...stages.values()].map(({ ends }) => ends).filter((ends) => ends <= stage.begins);
      const wait = stage.begins - Math.max(zero, ...before);
      const list = found.get(hop) ?? [];
      found.set(hop, list);
      list.push({ begins: stage.begins - zero, ends: stage.ends - zero, wait });
    }
  }
  return [...found]
    .map(([hop, stages]) => ({
      hop,
      begins_ms: toMs(median(stages.map(({ begins }) => begins))),
      ends_ms: toMs(median(stages.map(({ ends }) => ends))),
      wait_ms: toMs(median(stages.map(({ wait }) => wait))),
      took_ms: toMs(median(stages.map(({ begins, ends }) => ends - begins))),
      writes: stages.length,
    }))
    .sort((a, b) => a.ends_ms - b.ends_ms);
}

/** Returns the stages of one trace by program and span. */
function toStages(trace: readonly ReceivedSpan[]): ReadonlyMap<string, Stage> {
  const stages = new Map<string, Stage>();
  for (const { service, name, startTimeUnixNano, endTimeUnixNano } of trace) {
    const hop = `${service.replace('causeway-', '')}: ${name}`;
    const stage = { begins: toMicros(startTimeUnixNano), ends: toMicros(endTimeUnixNano) };
    const known = stages.get(hop);
    if (!known || stage.begins < known.begins) stages.set(hop, stage);
  }
  return stages;
}

function toMicros(nanos: string): number {
  return Number(BigInt(nanos) / 1_000n);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function toMs(micros: number): number {
  return Math.round(micros / 10) / 100;
}
