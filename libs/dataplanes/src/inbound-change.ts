import { isDeepStrictEqual } from 'node:util';
import { labelsMatch } from '@causeway/resources';
import {
  listInbounds,
  type DataplaneInbound,
  type DataplaneResource,
  type ServiceResource,
} from './dataplane-selector';

/** Minimum number of inbounds: with fewer, finding unaffected services is no cheaper. */
const MANY_INBOUNDS = 4;

/**
 * A change of only some inbounds of a Dataplane, for example when one of many services of a host becomes ready: the
 * services of its other inbounds are unaffected.
 */
export class InboundChange {
  private readonly targets: ReadonlySet<number | string>;

  private constructor(private readonly inbounds: readonly DataplaneInbound[]) {
    this.targets = new Set(inbounds.flatMap(({ port, name }) => (name === undefined ? [port] : [port, name])));
  }

  /** Returns the change; undefined if more has changed, or there are few inbounds: then all of its services are affected. Linear in its inbounds. */
  static of(before: DataplaneResource | undefined, after: DataplaneResource | undefined): InboundChange | undefined {
    if (!before || !after || Math.min(countInbounds(before), countInbounds(after)) < MANY_INBOUNDS) return undefined;
    if (!isDeepStrictEqual([before.labels, omitInbounds(before)], [after.labels, omitInbounds(after)]))
      return undefined;
    return new InboundChange([...missingIn(after, before), ...missingIn(before, after)]);
  }

  /** Whether the service may select the Dataplane by a changed inbound, or has a port that such an inbound serves. Linear in its ports. */
  concerns({ spec: { selector, ports = [] } }: ServiceResource): boolean {
    const { dataplaneTags } = selector ?? {};
    if (dataplaneTags && this.inbounds.some(({ tags }) => labelsMatch(dataplaneTags, tags ?? {}))) return true;
    return ports.some(({ port, targetPort = port }) => this.targets.has(targetPort));
  }
}

/** Returns the inbounds of `other` that a Dataplane does not have. */
function missingIn(dataplane: DataplaneResource, other: DataplaneResource): readonly DataplaneInbound[] {
  const had = new Set(listInbounds(dataplane).map((inbound) => JSON.stringify(inbound)));
  return listInbounds(other).filter((inbound) => !had.has(JSON.stringify(inbound)));
}

function countInbounds(dataplane: DataplaneResource): number {
  return listInbounds(dataplane).length;
}

/** Returns the spec without its inbounds. */
function omitInbounds({ spec }: DataplaneResource): DataplaneResource['spec'] {
  return { ...spec, networking: { ...spec.networking, inbound: [] } };
}
