import { isDeepStrictEqual } from 'node:util';
import { labelsMatch } from '@causeway/resources';
import {
  listInbounds,
  type DataplaneInbound,
  type DataplaneResource,
  type ServiceResource,
} from './dataplane-selector';

/** With fewer inbounds it costs no less to find out which services are left alone. */
const MANY_INBOUNDS = 4;

/**
 * A change of a Dataplane in nothing but some of its inbounds, as when one of many services of a machine becomes ready: the services of
 * its other inbounds are as they were.
 */
export class InboundChange {
  private readonly targets: ReadonlySet<number | string>;

  private constructor(private readonly inbounds: readonly DataplaneInbound[]) {
    this.targets = new Set(inbounds.flatMap(({ port, name }) => (name === undefined ? [port] : [port, name])));
  }

  /** Undefined where more has changed, or there are few inbounds: then all of its services are concerned. Linear in its inbounds. */
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

/** The inbounds of `other` that a Dataplane does not have. */
function missingIn(dataplane: DataplaneResource, other: DataplaneResource): readonly DataplaneInbound[] {
  const had = new Set(listInbounds(dataplane).map((inbound) => JSON.stringify(inbound)));
  return listInbounds(other).filter((inbound) => !had.has(JSON.stringify(inbound)));
}

function countInbounds(dataplane: DataplaneResource): number {
  return listInbounds(dataplane).length;
}

/** The spec without its inbounds. */
function omitInbounds({ spec }: DataplaneResource): DataplaneResource['spec'] {
  return { ...spec, networking: { ...spec.networking, inbound: [] } };
}
