import { Dataplane } from '@causeway/kinds';
import { Label, labelValue, type Identity, type Labels, type Resource } from '@causeway/resources';

/** An instance of a service at its own address. */
interface DiscoveredInstance {
  readonly address: string;
  readonly port: number;
  readonly ready: boolean;
  /** Whether it accepts plain text; otherwise only the mesh's mTLS. */
  readonly plaintext: boolean;
  /** Absent outside the mesh. */
  readonly dataplane?: { readonly id: Identity; readonly labels: Labels };
}

/** The instances behind one port of a service. */
export interface DiscoveredPort {
  readonly port: number;
  readonly name: string;
  readonly protocol: string;
  readonly instances: readonly DiscoveredInstance[];
}

/** Source of the instances of services, in a zone. */
export interface InstanceSource {
  /** Returns the instances of a service that can be reached from this zone without a proxy, by port. */
  instancesOf(service: Identity): readonly DiscoveredPort[];
}

/** Conditions for targets; all must hold, undefined means any. */
export interface TargetSelection {
  readonly mesh: string | undefined;
  readonly namespace: string | undefined;
  /** The name of the service. */
  readonly service: string | undefined;
  /** The name or the number of its port. */
  readonly port: string | undefined;
}

/** An entry of Prometheus' `http_sd`. */
export interface PrometheusTarget {
  readonly targets: readonly [string];
  readonly labels: Readonly<Record<string, string>>;
}

/** Service name and port name of the agents' own metrics. */
const AGENT = { service: 'causeway-agent', port: 'metrics' } as const;
/** Maximum number of a Dataplane's labels on a target. */
const MAX_LABELS = 64;

/** Yields the targets of a service: one per instance and port. `port`: a name or a number; undefined means all. */
export function* serviceTargets(
  service: Identity,
  ports: readonly DiscoveredPort[],
  port: string | undefined,
): Generator<PrometheusTarget> {
  for (const { port: number, name, protocol, instances } of ports) {
    if (port !== undefined && port !== name && port !== String(number)) continue;
    for (const { address, port: at, ready, plaintext, dataplane } of instances) {
      if (!dataplane) continue;
      yield {
        targets: [hostPort(address, at)],
        labels: {
          ...ownLabels(dataplane.id, service.name, name),
          __meta_causeway_port_number: String(number),
          __meta_causeway_protocol: protocol,
          __meta_causeway_ready: String(ready),
          __meta_causeway_plaintext: String(plaintext),
          ...metaLabels(dataplane.labels),
        },
      };
    }
  }
}

/** Yields the target of a Dataplane's agent, if a label of the Dataplane names the port of its metrics. */
export function* agentTarget(dataplane: Resource, { service, port }: TargetSelection): Generator<PrometheusTarget> {
  if (!Dataplane.is(dataplane) || (service ?? AGENT.service) !== AGENT.service) return;
  const at = labelValue(dataplane.labels, Label.metricsPort) ?? '';
  const number = /^[1-9]\d{0,4}$/.test(at) ? Number(at) : 0;
  if (number === 0 || number > 65_535 || (port !== undefined && port !== AGENT.port && port !== at)) return;
  const { address } = dataplane.spec.networking;
  yield {
    targets: [hostPort(address, number)],
    labels: {
      ...ownLabels(dataplane.id, AGENT.service, AGENT.port),
      __metrics_path__: `/metrics/${dataplane.id.mesh}.${dataplane.id.name}`,
      ...metaLabels(dataplane.labels),
    },
  };
}

/** Returns the labels that every sample gets. */
function ownLabels({ mesh, namespace, zone, name }: Identity, service: string, port: string): Record<string, string> {
  return { mesh, namespace, service, port, zone, instance: name };
}

/** Returns labels of the Dataplane that are available for relabelling only. */
function metaLabels(labels: Labels): Record<string, string> {
  const shown = Object.entries(labels).slice(0, MAX_LABELS);
  return Object.fromEntries(
    shown.map(([key, value]) => [`__meta_causeway_label_${key.replace(/[^a-zA-Z0-9_]/g, '_')}`, value]),
  );
}

function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
