import { networkInterfaces } from 'node:os';
import { listCapturingDataplanes } from '../config/clients';
import { formatQualifiedName, type QualifiedName } from '../config/qualified-name';
import type { AgentConfig } from '../config/schema';
import type { LeasedDataplane } from '../lease/lease-holder';
import { readDialFacts, type DialFacts } from '../dial/dial-facts';
import type { Plane } from '../plane';
import type { ChosenPlane } from './chosen-plane';
import { buildDataplane } from './dataplane-spec';
import type { ProxyPlan } from './machine-proxy';

/** Proxy to run, with the registration of its Dataplane. A change of `facts` recreates the proxy. */
export interface PlannedProxy {
  readonly plan: ProxyPlan;
  readonly registered?: LeasedDataplane;
  /** Addresses to which it may connect; a change does not recreate the proxy. */
  readonly dial: DialFacts;
  readonly facts: unknown;
}

/** Facts, besides the configuration, from which proxies are planned. */
export interface PlanningFacts {
  readonly plane: ChosenPlane;
  /** The state folder. */
  readonly folder: string;
  /** File of the authorities that the machine trusts; undefined if it has none. */
  readonly authoritiesFile: string | undefined;
}

/** Capture that is reported to the zone for `redirect`. */
const REPORTED_CAPTURE = { envoy: 'redirect', builtin: 'bind', direct: 'translate', grpc: 'none' } as const;
/** Modes in which the machine's programs call with the proxy's certificate. */
const MODES_WITH_PROXY: ReadonlySet<Plane['type']> = new Set(['envoy', 'builtin']);

/**
 * Plans the proxies of a configuration, in its order. That of the first Dataplane captures the machine's connections,
 * except those of users that another Dataplane names, if the mode distinguishes users.
 */
export function planProxies(config: AgentConfig, machine: PlanningFacts): readonly PlannedProxy[] {
  const { plane, folder, authoritiesFile } = machine;
  const { mesh, dataplanes, ingress, capture } = config;
  const reach = [config.controlPlanes, config.bundle, config.tokenFile, config.authorityFile];
  const shared = [plane, config.envoy, config.builtin, config.trustedNetworks, reach];
  const toDial = (dataplane: string | undefined, redirect?: ProxyPlan['redirect']): DialFacts =>
    readDialFacts(config, { dataplane, redirect, authoritiesFile });
  if (ingress) {
    const plan = { ...toProxyPlace(folder, '', ingress), type: 'ingress' as const, capture: 'none' as const };
    return [{ plan, dial: toDial(undefined), facts: [plan, shared] }];
  }
  const isCaught = capture === 'bind' || capture === 'redirect';
  const tellsUsers = capture === 'redirect' && plane.type === 'envoy';
  const catchers = new Map(listCapturingDataplanes(config).map((each) => [each.dataplane, each]));
  const [first] = dataplanes;
  // The Dataplane of users that no other Dataplane names.
  const others = !first || first.clients ? undefined : formatQualifiedName(first);
  return dataplanes.map((one, i) => {
    const qualified = formatQualifiedName(one);
    const catcher = catchers.get(qualified);
    // Two proxies cannot listen at one virtual IP, so with `bind` only the first Dataplane's proxy captures.
    const catches = tellsUsers ? catcher !== undefined : i === 0 && !one.clients;
    const caught = catches && isCaught ? capture : 'none';
    // The builtin plane listens at the virtual IPs that are used, which `redirect` makes local; mode `direct` translates them.
    const how = caught === 'redirect' ? REPORTED_CAPTURE[plane.type] : caught;
    const isListening = caught === 'redirect' && plane.type === 'builtin';
    const ports = catcher && { port: catcher.port, reentryPort: catcher.reentryPort };
    const plan: ProxyPlan = {
      ...toProxyPlace(folder, mesh, one),
      type: 'dataplane',
      capture: how,
      ...(isListening && { bindsOnDemand: true }),
      ...(how === 'redirect' && ports && { redirect: { ...ports, ipv6: hasIpv6() } }),
      ...(plane.type === 'grpc' && { wire: plane.type }),
      ...(authoritiesFile !== undefined && { authoritiesFile }),
      ...(one.tokenFile !== undefined && { tokenFile: one.tokenFile }),
    };
    const isShared = isCaught && caught === 'none' && !one.clients && MODES_WITH_PROXY.has(plane.type);
    const client = isShared ? others : undefined;
    const registered = { ...buildDataplane(config, one), ...(client !== undefined && { clientDataplane: client }) };
    return { plan, registered, dial: toDial(qualified, plan.redirect), facts: [plan, shared] };
  });
}

function toProxyPlace(
  folder: string,
  mesh: string,
  { name, namespace }: QualifiedName,
): Pick<ProxyPlan, 'mesh' | 'name' | 'namespace' | 'folder'> {
  const named = { name, ...(namespace !== undefined && { namespace }) };
  return {
    mesh,
    ...named,
    folder: `${folder}/proxies/${mesh === '' ? 'ingress' : mesh}.${formatQualifiedName(named)}`,
  };
}

/** Returns whether IPv6 connections can be redirected to loopback. */
function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((own = []) => own.some(({ address }) => address === '::1'));
}
