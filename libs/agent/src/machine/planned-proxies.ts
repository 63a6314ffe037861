import { networkInterfaces } from 'node:os';
import { listCatchers } from '../config/clients';
import { qualifiedName, type QualifiedName } from '../config/qualified-name';
import type { AgentConfig } from '../config/schema';
import type { LeasedDataplane } from '../lease/lease-holder';
import { readDialFacts, type DialFacts } from '../dial/dial-facts';
import type { Plane } from '../plane';
import type { ChosenPlane } from './chosen-plane';
import { buildDataplane } from './dataplane-spec';
import type { ProxyPlan } from './machine-proxy';

/** A proxy that is to run, what its Dataplane is registered as, and what makes another proxy of it. */
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
const REDIRECTED = { envoy: 'redirect', builtin: 'bind', direct: 'translate', grpc: 'none' } as const;
/** Planes by whose certificates the machine's programs call. */
const CERTIFIES: ReadonlySet<Plane['type']> = new Set(['envoy', 'builtin']);

/**
 * The proxies of a configuration, in its order: the first Dataplane's catches the connections of the machine, but for those of users whom
 * another Dataplane names, where the plane can tell them apart.
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
  const catchers = new Map(listCatchers(config).map((each) => [each.dataplane, each]));
  const [first] = dataplanes;
  // // Users that no other Dataplane names.
  const others = !first || first.clients ? undefined : qualifiedName(first);
  return dataplanes.map((one, i) => {
    const qualified = qualifiedName(one);
    const catcher = catchers.get(qualified);
    // Two proxies cannot listen at one virtual IP: there that of the first Dataplane catches the clients of the machine.
    const catches = tellsUsers ? catcher !== undefined : i === 0 && !one.clients;
    const caught = catches && isCaught ? capture : 'none';
    // The builtin plane listens at the addresses, which `redirect` makes local; the plane direct translates them.
    const how = caught === 'redirect' ? REDIRECTED[plane.type] : caught;
    const ports = catcher && { port: catcher.port, reentryPort: catcher.reentryPort };
    const plan: ProxyPlan = {
      ...toProxyPlace(folder, mesh, one),
      type: 'dataplane',
      capture: how,
      ...(how === 'redirect' && ports && { redirect: { ...ports, ipv6: hasIpv6() } }),
      ...(plane.type === 'grpc' && { wire: plane.type }),
      ...(authoritiesFile !== undefined && { authoritiesFile }),
      ...(one.tokenFile !== undefined && { tokenFile: one.tokenFile }),
    };
    const isShared = isCaught && caught === 'none' && !one.clients && CERTIFIES.has(plane.type);
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
  return { mesh, ...named, folder: `${folder}/proxies/${mesh === '' ? 'ingress' : mesh}.${qualifiedName(named)}` };
}

/** Whether connections to IPv6 addresses can be led to loopback. */
function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((own = []) => own.some(({ address }) => address === '::1'));
}
