import { Inject, Injectable, type PipeTransform } from '@nestjs/common';
import type { NameQuery } from '@causeway/admission';
import type { AffectingOptions, PolicyQuestion, VirtualName } from '@causeway/queries';
import { isJsonObject, type Kind, type Registry } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import { RequestCallers } from '../http/request-callers';
import { RequestSignals } from '../http/request-signals';
import { HttpError, truncated } from '../http/http-error';
import { pathParameter, type RestRequest } from '../http/rest-request';
import { REGISTRY } from '../rest-dependencies';
import {
  addressParameters,
  AFFECTING_PARAMETERS,
  FRESHNESS,
  IMPACT_OPERATION,
  OFFSET_PAGE_PARAMETERS,
  TOPOLOGY_PARAMETERS,
  VIRTUAL_PARAMETERS,
} from './query-parameters';
import { readQuery, type QueryReader } from '../http/query-reader';
import { kindInPath, meshInPath, nameQuery, readMinRevision, readOffsetPage } from '../http/request-decoding';

/** Query of the policies that affect a resource, and the wanted part of the answer. */
export interface AffectingQuery {
  readonly name: NameQuery;
  readonly options: AffectingOptions;
  readonly range: PageRange;
}

/** Decodes which policies that affect a resource are asked for. Throws 404 for a path of no kind. */
@Injectable()
export class AffectingPipe implements PipeTransform<RestRequest, AffectingQuery> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  transform(request: RestRequest): AffectingQuery {
    const { kind, mesh } = this.named(request);
    const query = readQuery(request, [...addressParameters(kind), ...AFFECTING_PARAMETERS]);
    const name = nameQuery(request, kind, mesh, query);
    return affectingQuery(name, query);
  }

  /** `/meshes/x/_policies` is of the Mesh x: the router takes it before the paths of kinds. */
  private named(request: RestRequest): { readonly kind: Kind; readonly mesh: string | undefined } {
    const isOfMesh = !(isJsonObject(request.params) && 'plural' in request.params);
    const mesh = isOfMesh ? this.registry.kind('Mesh') : undefined;
    return mesh ? { kind: mesh, mesh: undefined } : kindInPath(request, this.registry, true);
  }
}

/** As AffectingPipe, of an object that is stored nowhere. */
export class AffectingVirtualPipe implements PipeTransform<
  RestRequest,
  Omit<AffectingQuery, 'name'> & { readonly virtual: VirtualName }
> {
  transform(request: RestRequest): Omit<AffectingQuery, 'name'> & { readonly virtual: VirtualName } {
    const query = readQuery(request, VIRTUAL_PARAMETERS);
    const namespace = query.text('namespace') || 'default';
    const [mesh, group, kind, name] = [
      pathParameter(request, 'mesh'),
      pathParameter(request, 'group'),
      pathParameter(request, 'kind'),
      pathParameter(request, 'name'),
    ];
    const { options, range } = affectingQuery(undefined, query);
    return { virtual: { mesh, namespace, group, kind, name }, options, range };
  }
}

function affectingQuery<N>(name: N, query: QueryReader): { name: N; options: AffectingOptions; range: PageRange } {
  const kind = query.text('kind') || undefined;
  const form = query.text('representation');
  if (form !== undefined && form !== 'string') {
    query.refuse('representation', `must be string; got "${truncated(form)}"`, 'not-one-of');
  }
  const range = readOffsetPage(query);
  const minRevision = readMinRevision(query);
  query.check();
  return { name, options: { kind, representation: form === 'string', minRevision }, range };
}

/** A policy, and which part of the answer is wanted. */
export interface PolicyQuery {
  readonly name: NameQuery;
  readonly minRevision: number | undefined;
  readonly range: PageRange;
}

/** Decodes which policy is asked about. Throws 404 for a path of no kind. */
@Injectable()
export class ScopesPipe implements PipeTransform<RestRequest, PolicyQuery> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  transform(request: RestRequest): PolicyQuery {
    return policyQuery(request, this.registry, []);
  }
}

/** As ScopesPipe, of a deletion whose consequences are asked for: `op=delete`. */
@Injectable()
export class DeletionImpactPipe implements PipeTransform<RestRequest, PolicyQuery> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  transform(request: RestRequest): PolicyQuery {
    return policyQuery(request, this.registry, [IMPACT_OPERATION]);
  }
}

function policyQuery(
  request: RestRequest,
  registry: Registry,
  more: readonly (typeof IMPACT_OPERATION)[],
): PolicyQuery {
  const { kind, mesh } = kindInPath(request, registry, true);
  const query = readQuery(request, [...addressParameters(kind), ...OFFSET_PAGE_PARAMETERS, FRESHNESS, ...more]);
  const name = nameQuery(request, kind, mesh, query);
  const operation = more.length > 0 ? query.text('op') : undefined;
  if (more.length > 0 && operation !== 'delete') {
    query.refuse('op', 'must be delete; what a write would change is asked with POST and the document', 'not-one-of');
  }
  const range = readOffsetPage(query);
  const minRevision = readMinRevision(query);
  query.check();
  return { name, minRevision, range };
}

/** The graph of a mesh, and in which form. */
export interface TopologyQuery {
  readonly mesh: string;
  readonly root: NameQuery | undefined;
  readonly form: 'json' | 'dot';
}

/** Decodes which graph is asked for: `root=KIND/NAME` or `root=KIND/NAMESPACE/NAME`. */
@Injectable()
export class TopologyPipe implements PipeTransform<RestRequest, TopologyQuery> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  transform(request: RestRequest): TopologyQuery {
    const query = readQuery(request, TOPOLOGY_PARAMETERS);
    const mesh = meshInPath(request) ?? '';
    const format = query.text('format') ?? 'json';
    if (format !== 'json' && format !== 'dot') {
      query.refuse('format', `must be one of json, dot; got "${truncated(format)}"`, 'not-one-of');
    }
    const root = this.rootOf(query, mesh);
    query.check();
    return { mesh, root, form: format === 'dot' ? 'dot' : 'json' };
  }

  private rootOf(query: QueryReader, mesh: string): NameQuery | undefined {
    const text = query.text('root');
    const zone = query.text('zone');
    if (text === undefined) return undefined;
    const parts = text.split('/');
    const [name = '', namespace] = [...parts.slice(1)].reverse();
    const kind = this.registry.noun((parts[0] ?? '').toLowerCase());
    if (!kind || name === '' || parts.length > (kind.namespaced ? 3 : 2)) {
      query.refuse('root', 'must be KIND/NAME or KIND/NAMESPACE/NAME of a known kind');
      return undefined;
    }
    return {
      kind,
      name,
      ...(kind.scope === 'mesh' ? { mesh } : {}),
      ...(namespace === undefined ? {} : { namespace }),
      ...(zone === undefined ? {} : { zone }),
    };
  }
}

/** Decodes which part of the answer to a POST of a candidate is wanted; the address is decoded by WritePipe's rules. */
@Injectable()
export class CandidatePipe implements PipeTransform<RestRequest, Pick<PolicyQuery, 'name' | 'range'>> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  transform(request: RestRequest): Pick<PolicyQuery, 'name' | 'range'> {
    const { kind, mesh } = kindInPath(request, this.registry, true);
    if (!this.registry.isDeclared(kind.name)) throw new HttpError(404, `${kind.name} is no kind of policy.`);
    const query = readQuery(request, [...addressParameters(kind), ...OFFSET_PAGE_PARAMETERS]);
    const name = nameQuery(request, kind, mesh, query);
    const range = readOffsetPage(query);
    query.check();
    return { name, range };
  }
}

/** Caller, deadline, and the request itself, whose URL the next page has. */
export interface Asking extends Pick<PolicyQuestion, 'rights' | 'signal'> {
  readonly request: RestRequest;
}

/** Gives a handler what it answers with: `@FromRequest(AskingPipe) asking: Asking`. */
@Injectable()
export class AskingPipe implements PipeTransform<RestRequest, Asking> {
  constructor(
    @Inject(RequestCallers) private readonly callers: RequestCallers,
    @Inject(RequestSignals) private readonly signals: RequestSignals,
  ) {}

  transform(request: RestRequest): Asking {
    return { rights: this.callers.rightsOf(request), signal: this.signals.signalOf(request), request };
  }
}
