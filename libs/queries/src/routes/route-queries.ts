import { toAccessTarget, type CallerRights } from '@causeway/access';
import type { FollowedRoutes, Meshes } from '@causeway/meshes';
import type { PolicyTable } from '@causeway/policies';
import {
  compareIdentities,
  FieldPath,
  globalIdentity,
  Invalid,
  Label,
  labelValue,
  NotFound,
  ownZone,
  type ControlPlane,
  type Resource,
} from '@causeway/resources';
import {
  explain,
  TooCostly,
  type Client,
  type Explanation,
  type Frontend,
  type RouteQuestion,
  type BindingTable,
} from '@causeway/routing';
import type { IndexReader } from '@causeway/store';
import type { ConcurrencyLimit } from '../concurrency-limit';
import type { HostnameQueries } from '../inspect/hostname-queries';
import { listVirtualIps, findWinner } from '../inspect/hostname-resolution';
import type { ReadYourWrites } from '../list/read-your-writes';
import { requireMesh } from '../list/resource-queries';
import { evaluateAccess, identifyCaller, type AccessFacts } from '../policies/access-verdicts';
import { listBackends } from '../policies/request-backends';
import { policiesOfRequest } from '../policies/request-policies';
import { dataplaneAt, readiness } from './readiness';
import type { RequestAnswer, ServiceRoutes } from '@causeway/api';
import { isAddress, type RequestQuestion } from '../request-question';
import { decisionAnswer, named, outcomeAnswer, routesAnswer } from './route-answers';
import { routesOfZone } from './routes-of-zone';

/** Dependencies of RouteQueries. */
export interface RouteQueriesSources {
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly meshes: Meshes;
  readonly readYourWrites: ReadYourWrites;
  readonly hostnames: HostnameQueries;
  readonly expensive: ConcurrencyLimit;
  /** The table of this control plane; without it each query builds its own. */
  readonly routes?: Pick<FollowedRoutes, 'table'> | undefined;
  /** Policies in this control plane's view; without them explanations name none. */
  readonly policies?: { readonly table: PolicyTable } | undefined;
  /** Access rules in a zone; without them explanations do not cover access. */
  readonly callers?: AccessFacts | undefined;
}

/** Client and service of a query for routes. */
export interface RoutesQuestion {
  readonly mesh: string;
  readonly zone?: string | undefined;
  readonly kind: string;
  readonly namespace: string;
  readonly service: string;
  readonly port?: number | undefined;
  /** Only the groups that apply to clients of this namespace. */
  readonly client?: string | undefined;
  readonly minRevision?: number | undefined;
}

/** Maximum number of tables, and of matches over all tables, in one response; the others are counted. */
const MAX_TABLES = 64;
const MAX_MATCHES = 1_024;

/** Frontend of a request, before routing. */
interface FoundFrontend {
  readonly service: Resource;
  readonly steps: readonly string[];
}

/** Evaluates requests, and lists the routes of a service, as one zone sees them (seed GEP-1426). */
export class RouteQueries {
  constructor(private readonly sources: RouteQueriesSources) {}

  /**
   * Explains a request, from its host to the shares of its backends, and why every other rule lost. Rejects with
   * NotFound if the host is unknown, with Invalid as HostnameQueries.explain does, with AccessDenied for a service or a
   * route that the caller may not read.
   */
  async explain(
    mesh: string,
    question: RequestQuestion,
    {
      rights,
      zone: asked,
      signal,
    }: { readonly rights: CallerRights; readonly zone: string | undefined; readonly signal: AbortSignal },
  ): Promise<RequestAnswer> {
    rights.checkAny();
    const { index, expensive, meshes, readYourWrites } = this.sources;
    await readYourWrites.wait(undefined);
    requireMesh(meshes, mesh);
    const zone = this.viewed(asked);
    this.checkClient(mesh, zone, question);
    const place = { mesh, zone };
    const found = await this.findService(place, question, rights, signal);
    if (!found) return this.direct(place, question, rights);
    const { service } = found;
    rights.check('get', toAccessTarget(service.id));
    return expensive.run(async (running) => {
      const table = await this.findTable(place, service, running);
      const { client, port, request } = question;
      const frontend = table.frontend(service.id);
      if (!frontend) throw new NotFound(`mesh ${mesh} is not served here`);
      if (!frontend.ports.some((one) => one.port === port))
        throw new NotFound(`${describe(service)} has no port ${port}`);
      checkRoutes(table, frontend, rights);
      const asked = { client, frontend, port, request };
      const explained = refuseTooCostly(() => explain(table, asked, readiness(index)));
      const decision = decisionAnswer(explained);
      return {
        mesh,
        zone,
        steps: [...found.steps, ...explained.steps],
        to: { service: named(service.id), port, virtualIps: listVirtualIps(service) },
        ...outcomeAnswer(explained.outcome),
        ...(decision ? { decision } : {}),
        ...this.readPolicies(zone, asked, explained),
        ...this.readAccess(place, question, explained),
        lost: explained.lost,
        lostTotal: explained.lostTotal,
        notes: [...explained.notes, ...this.notes()],
      };
    }, signal);
  }

  /** Returns the merged tables of a service by port and group. Rejects as `explain` does. */
  async table(question: RoutesQuestion, rights: CallerRights, signal: AbortSignal): Promise<ServiceRoutes> {
    rights.checkAny();
    const { meshes, readYourWrites, expensive } = this.sources;
    const { mesh, kind, namespace, service: name, port, client } = question;
    await readYourWrites.wait(question.minRevision);
    requireMesh(meshes, mesh);
    const zone = this.viewed(question.zone);
    const service = this.namedService({ mesh, zone }, { kind, namespace, name });
    rights.check('get', toAccessTarget(service?.id ?? { kind, mesh, zone: '', namespace, name }));
    if (!service) throw new NotFound(`there is no ${kind} ${namespace}/${name} in mesh ${mesh}`);
    return expensive.run(async (running) => {
      const table = await this.findTable({ mesh, zone }, service, running);
      const frontend = table.frontend(service.id);
      const bindings = frontend ? listBindings(table, frontend, { port, client }) : [];
      if (frontend) checkRoutes(table, frontend, rights);
      let left = MAX_MATCHES;
      const tables = bindings.slice(0, MAX_TABLES).map((binding) => {
        const answer = routesAnswer(table, binding, left);
        left -= answer.rules.length;
        return answer;
      });
      return { mesh, zone, service: named(service.id), tables, total: bindings.length };
    }, signal);
  }

  /** Returns the policies that affect a request; nothing in another zone's view, whose policies are unknown here. */
  private readPolicies(
    zone: string,
    asked: RouteQuestion,
    explained: Explanation,
  ): Partial<Pick<RequestAnswer, 'policies'>> {
    const { cp, policies } = this.sources;
    if (!policies || zone !== ownZone(cp)) return {};
    return { policies: policiesOfRequest(policies.table, asked, explained) };
  }

  /** Returns whether the caller may call the backends of the request; nothing in another zone's view, whose callers are unknown here. */
  private readAccess(
    place: FrontendPlace,
    question: RequestQuestion,
    explained: Explanation,
  ): Partial<Pick<RequestAnswer, 'access'>> {
    const { cp, policies, callers: facts } = this.sources;
    const { zone } = place;
    if (!policies || !facts || zone !== ownZone(cp)) return {};
    const caller = identifyCaller(facts, place, question);
    const sources = { zone, facts, table: policies.table };
    return { access: listBackends(explained).flatMap((backend) => evaluateAccess(backend, caller, sources)) };
  }

  private direct({ mesh, zone }: FrontendPlace, { host, port }: RequestQuestion, rights: CallerRights): RequestAnswer {
    const dataplane = dataplaneAt(this.sources.index, mesh, { address: host, port });
    if (dataplane) rights.check('get', toAccessTarget(dataplane));
    else throw new NotFound(`no service and no Dataplane of mesh ${mesh} is at ${host}`);
    const steps = [`${host}:${port} is the address of Dataplane ${dataplane.name}: routes are bound to services only`];
    return { mesh, zone, steps, outcome: 'direct', dataplane: named(dataplane), lost: [], lostTotal: 0, notes: [] };
  }

  /** Returns the table of this control plane, or the one that the zone would have. */
  private async findTable(
    { mesh, zone }: FrontendPlace,
    service: Resource,
    signal: AbortSignal,
  ): Promise<BindingTable> {
    const { cp, index, meshes, routes } = this.sources;
    if (routes && zone === ownZone(cp)) return routes.table;
    return routesOfZone(index, meshes, { mesh, zone, service }, signal);
  }

  private notes(): readonly string[] {
    const isGlobal = this.sources.cp.role === 'global';
    if (!isGlobal) return [];
    return [
      'computed by the global from its own copies: export rules and lost zones are ignored',
      'which policies shape the request, and whether they let the caller in, is said by the control plane of the zone: ask it',
    ];
  }

  private viewed(zone: string | undefined): string {
    const { cp, index } = this.sources;
    const at = FieldPath.at('zone');
    if (cp.role === 'zone') {
      if (zone === undefined || zone === cp.zone) return cp.zone;
      throw new Invalid([at.violation(`must be "${cp.zone}" or left out here; got "${zone}"`)]);
    }
    if (zone === undefined || zone === '') {
      throw new Invalid([at.violation('must name the zone whose view is asked for', 'required')]);
    }
    if (!index.get(globalIdentity('Zone', zone))) throw new NotFound(`there is no zone "${zone}"`);
    return zone;
  }

  /** A named Dataplane must exist: a misspelt name would give the answer of another namespace. */
  private checkClient(mesh: string, zone: string, { dataplane }: RequestQuestion): void {
    if (!dataplane) return;
    const { namespace, name } = dataplane;
    if (this.sources.index.get({ kind: 'Dataplane', mesh, zone, namespace, name })) return;
    const reason = `must be a Dataplane of zone ${zone} and namespace ${namespace}; got "${name}"`;
    throw new Invalid([FieldPath.at('from').field('dataplane').violation(reason)]);
  }

  /** Returns the service of a question; undefined if its host is an address that no service has. */
  private async findService(
    place: FrontendPlace,
    question: RequestQuestion,
    rights: CallerRights,
    signal: AbortSignal,
  ): Promise<FoundFrontend | undefined> {
    const { index, hostnames } = this.sources;
    const { mesh, zone } = place;
    const { service: given, host } = question;
    if (given) {
      const { kind = 'MeshService', namespace = 'default', name } = given;
      const service = this.namedService(place, { kind, namespace, name });
      if (service) return { service, steps: [`${describe(service)} is named`] };
      rights.check('get', { kind, mesh, namespace });
      throw new NotFound(`there is no ${kind} ${namespace}/${name} in mesh ${mesh}`);
    }
    if (isAddress(question)) {
      const service = this.serviceAt(place, host);
      return service && { service, steps: [`${host} is the virtual IP of ${describe(service)}`] };
    }
    const asked = this.sources.cp.role === 'zone' ? {} : { zone };
    const { winner } = await hostnames.explainAll({ hostname: host, mesh, ...asked }, rights, undefined, signal);
    const service = findWinner(index, winner);
    if (!service) throw new NotFound(`no service has the hostname ${host} in mesh ${mesh}`);
    const [ip] = listVirtualIps(service);
    const address = ip === undefined ? 'which has no virtual IP yet' : `virtual IP ${ip}`;
    return { service, steps: [`${host} is a hostname of ${describe(service)}, ${address}`] };
  }

  private serviceAt({ mesh, zone }: FrontendPlace, address: string): Resource | undefined {
    const { cp, index } = this.sources;
    for (const kind of SERVICES) {
      for (const service of index.ofKind(kind)) {
        // On the global, a status is what the zone of origin reported.
        const isKnown = cp.role === 'zone' || service.id.zone === zone || service.id.zone === '';
        if (service.id.mesh === mesh && isKnown && listVirtualIps(service).includes(address)) return service;
      }
    }
    return undefined;
  }

  /** Returns the service of a reference in this zone: the zone's own before those of others. */
  private namedService({ mesh, zone }: FrontendPlace, { kind, namespace, name }: ServiceName): Resource | undefined {
    const found = [...this.sources.index.ofKind(kind)].filter(
      ({ id, labels }) =>
        id.mesh === mesh &&
        (id.namespace === namespace || kind === 'MeshMultiZoneService') &&
        (labelValue(labels, Label.displayName) || id.name) === name,
    );
    const own = found.filter(({ id }) => id.zone === zone);
    const [first] = (own.length > 0 ? own : found).sort((a, b) => compareIdentities(a.id, b.id));
    return first;
  }
}

/** A group whose expressions take too long for this request is not the control plane's fault. */
function refuseTooCostly<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TooCostly) throw new Invalid([FieldPath.at('to').violation(error.message, 'too-large')]);
    throw error;
  }
}

const SERVICES = ['MeshService', 'MeshMultiZoneService'];

interface FrontendPlace {
  readonly mesh: string;
  readonly zone: string;
}

interface ServiceName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

function describe({ id: { kind, zone, namespace, name } }: Resource): string {
  return `${kind} ${[zone, namespace, name].filter(Boolean).join('/')}`;
}

/** Throws AccessDenied unless the caller may read every route that names the service. */
function checkRoutes(table: BindingTable, frontend: Frontend, rights: CallerRights): void {
  for (const group of table.listGroups(frontend)) {
    for (const key of table.group(frontend, group).results.keys()) {
      const route = table.route(key.replace(/#[0-9]+$/, ''));
      if (route) rights.check('get', toAccessTarget(route.id));
    }
  }
}

function listBindings(
  table: BindingTable,
  frontend: Frontend,
  { port, client: namespace }: Pick<RoutesQuestion, 'port' | 'client'>,
) {
  const client: Client | undefined = namespace === undefined ? undefined : { namespace };
  const all = table.listGroups(frontend).flatMap((group) => [...table.group(frontend, group).bindings.values()]);
  const isSelected = (binding: (typeof all)[number]): boolean => {
    const transport = binding.kind === 'UDPRoute' ? 'udp' : 'tcp';
    if (port !== undefined && binding.port !== port) return false;
    return !client || table.bindingFor(client, frontend, binding.port, transport) === binding;
  };
  return all.filter(isSelected).sort((a, b) => a.port - b.port);
}
