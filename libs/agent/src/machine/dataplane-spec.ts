import { isIPv6 } from 'node:net';
import { Label, type JsonObject, type Labels } from '@causeway/resources';
import type { AgentConfig, DataplaneConfig, OutboundConfig, ServiceConfig } from '../config/schema';
import type { LeasedDataplane } from '../lease/lease-holder';

/** Builds the Dataplane of a part of the configuration; its inbounds are in the order of `services`. */
export function buildDataplane(
  { mesh, metrics, plane }: Pick<AgentConfig, 'mesh' | 'metrics' | 'plane'>,
  config: DataplaneConfig,
): LeasedDataplane {
  const { name, namespace, address, labels = {}, services, outbounds, backends } = config;
  return {
    mesh,
    name,
    namespace,
    labels: { ...labels, ...metricsLabel(metrics, address) },
    spec: {
      networking: {
        address,
        inbound: services.map((service) => toInbound(service, { address, plane })),
        ...(outbounds.length > 0 && { outbound: outbounds.map(toOutbound) }),
        ...(backends && { transparentProxying: { reachableBackends: { refs: backends.map((one) => ({ ...one })) } } }),
      },
    },
  };
}

/** Returns the label with the metrics port, if other machines reach it at the address of the Dataplane. */
function metricsLabel(metrics: AgentConfig['metrics'], address: string): Labels {
  if (!metrics) return {};
  const everywhere = isIPv6(address) ? ['::'] : ['0.0.0.0', '::'];
  const isReached = [address, ...everywhere].includes(metrics.address);
  return isReached ? { [Label.metricsPort]: String(metrics.port) } : {};
}

function toInbound(
  { name, port, servicePort = port, serviceAddress, protocol, portName, tags }: ServiceConfig,
  { address, plane }: { readonly address: string; readonly plane: AgentConfig['plane'] },
): JsonObject {
  // Without a proxy the process accepts the connections itself.
  const isItself = plane === 'direct' || (serviceAddress === address && servicePort === port);
  return {
    port,
    ...(!isItself && { servicePort, serviceAddress }),
    protocol,
    ...(portName !== undefined && { name: portName }),
    tags: { ...tags, 'kuma.io/service': name, 'kuma.io/protocol': protocol },
  };
}

function toOutbound({ address, port, backend }: OutboundConfig): JsonObject {
  return { address, port, backendRef: { ...backend } };
}
