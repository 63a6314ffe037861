import { createKumaPolicyLoop } from '@causeway/kuma';
import {
  createPolicyStatusLoop,
  createProgressReporter,
  policyCounts,
  reportedPolicies,
  reportedRoutes,
} from '@causeway/controllers';
import { type ControlLoop } from '@causeway/loops';
import type { ProgressSource } from '@causeway/controllers/testing';
import { FollowedPolicies, getRegistry, type FollowedRoutes } from '@causeway/meshes';
import {
  globalIdentity,
  isJsonArray,
  isJsonObject,
  ownZone,
  type Identity,
  type JsonObject,
} from '@causeway/resources';
import { type PutChange, type ResourceStore } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { meshesOf } from './meshes';
import { RouteLeader } from './route-leader';
import type { TestPlane } from './test-plane';

/** Options of a leader that writes the status of policies. */
export interface PolicyLeaderOptions {
  readonly store?: ResourceStore;
  readonly progress?: ProgressSource;
  readonly isBeside?: boolean;
  /** Time until the leader reports that it waits, and interval of the next reports, ms; a second unless given. */
  readonly patience?: { readonly first: number; readonly then: number; readonly zones?: number };
  /** The zones of Kuma, for which policies are translated; without it none is. */
  readonly kuma?: () => readonly string[];
  /** In a zone with a global: reports to it the progress of its proxies. */
  readonly reports?: Pick<Parameters<typeof createProgressReporter>[0], 'cp' | 'proxies' | 'findPosition'>;
}

/** A leader of one plane that writes the status of its policies, and of its routes. */
export class PolicyLeader {
  private constructor(
    readonly leader: RouteLeader,
    readonly policies: FollowedPolicies,
    private readonly loop: ControlLoop,
  ) {}

  static async lead(plane: TestPlane, holder: string, options: PolicyLeaderOptions = {}): Promise<PolicyLeader> {
    const { progress, patience = { first: 1_000, then: 1_000 }, reports, kuma: zones, ...more } = options;
    const { index, cp } = plane;
    const meshes = meshesOf(index);
    const registry = getRegistry(index);
    let followed: FollowedPolicies | undefined;
    let loop: ControlLoop | undefined;
    const loops = (routes: FollowedRoutes, ended: AbortController): readonly ControlLoop[] => {
      const policies = policiesOf(plane, routes);
      followed = policies;
      const findKind = registry.kind.bind(registry);
      const kuma = zones && createKumaPolicyLoop({ meshes, routes, policies, zones }, ended);
      const known = { ...(progress && { progress }), ...(kuma && { kuma: kuma.translations }) };
      const status = { cp, meshes, policies, findKind, patience, ...known };
      const reported = [reportedRoutes(routes), reportedPolicies(policies, index)];
      const reporter = reports ? [createProgressReporter({ ...reports, reported }, ended)] : [];
      loop = createPolicyStatusLoop(status, ended);
      return [...reporter, ...(kuma ? [kuma.loop] : []), loop];
    };
    const leader = await RouteLeader.lead(plane, holder, { ...more, loops });
    if (!followed || !loop) throw new Error('no policies');
    return new PolicyLeader(leader, followed, loop);
  }

  settle(): Promise<void> {
    return this.leader.settle();
  }

  /** Returns how many policies have each reason of the condition `Enforced`. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(policyCounts([this.loop]));
  }

  /** Returns how many rows the loop of policies has written. */
  get written(): number {
    return this.leader.runner.stats.loops['policies']?.written ?? 0;
  }

  start(): this {
    this.leader.start();
    return this;
  }

  async stopped(): Promise<void> {
    await this.leader.stopped();
    this.policies.close();
  }

  end(): void {
    this.leader.end();
    this.policies.close();
  }
}

/** The policies of a plane, derived at once. */
function policiesOf({ index }: Pick<TestPlane, 'index'>, routes: FollowedRoutes): FollowedPolicies {
  return new FollowedPolicies({ index, meshes: meshesOf(index), routes, run: fillAtOnce });
}

/** A definition as it is stored. */
export function definition(spec: JsonObject): PutChange {
  const { plural, group } = spec;
  const id = globalIdentity('MetaresourceDefinition', `${text(plural)}.${text(group)}`);
  return { type: 'put', id, expect: 'any', labels: { 'kuma.io/origin': 'global' }, spec };
}

/** The identity of a policy of namespace `ns` that was made here. */
export function policyId({ cp }: Pick<TestPlane, 'cp'>, kind: string, name: string, namespace = 'ns'): Identity {
  return { kind, mesh: 'default', zone: ownZone(cp), namespace, name };
}

/** Returns a change that puts a policy, route, service or Gateway, of namespace `ns` unless the name is `namespace/name`. */
export function putOf(plane: Pick<TestPlane, 'cp'>, kind: string, called: string, spec: JsonObject): PutChange {
  const [name = '', namespace = 'ns'] = called.split('/').reverse();
  const id = policyId(plane, kind, name, namespace);
  const origin = plane.cp.role === 'zone' ? 'zone' : 'global';
  const labels = {
    'kuma.io/display-name': name,
    'kuma.io/mesh': id.mesh,
    'kuma.io/origin': origin,
    'k8s.kuma.io/namespace': namespace,
    'app.example.com/name': name,
  };
  return { type: 'put', id, expect: 'any', labels, spec };
}

/** Returns the conditions of a policy in a few words: `Accepted=True/Accepted …`; `-` if there are none. */
export function conditionsOf(plane: TestPlane, id: Identity, messages = false): string {
  return said(plane.get(id)?.status?.['conditions'], messages) || '-';
}

/** Its ancestors: the name of each, and its conditions. */
export function ancestorsOf(plane: TestPlane, id: Identity): readonly string[] {
  const all = plane.get(id)?.status?.['ancestors'];
  return (isJsonArray(all) ? all.filter(isJsonObject) : []).map((entry) => {
    const ref = isJsonObject(entry['ancestorRef']) ? entry['ancestorRef'] : {};
    return `${text(ref['kind'])} ${text(ref['name'])} ${said(entry['conditions'], false)}`;
  });
}

function said(conditions: unknown, messages: boolean): string {
  const all = isJsonArray(conditions) ? conditions.filter(isJsonObject) : [];
  return all
    .map(({ type, status, reason, message }) =>
      messages && status === 'True' && type !== 'Accepted'
        ? `${text(type)}: ${text(message)}`
        : messages
          ? []
          : `${text(type)}=${text(status)}/${text(reason)}`,
    )
    .flat()
    .join(' ');
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '-');
