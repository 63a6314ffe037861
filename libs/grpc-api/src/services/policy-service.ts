import type { Admission, NameQuery } from '@causeway/admission';
import {
  AffectingPolicies,
  PolicyImpact,
  PolicyScopes,
  Topology,
  type GetImpactRequest,
  type GetImpactResponse,
  type GetTopologyRequest,
  type GetTopologyResponse,
  type ListPoliciesRequest,
  type ListPoliciesResponse,
  type ListScopesRequest,
  type ListScopesResponse,
  type PolicyPage,
  type VirtualName,
} from '@causeway/proto-gen';
import { PAGE_SIZE } from '@causeway/api';
import { type AffectingOptions, type PolicyQuestion, type Queries } from '@causeway/queries';
import type { Registry } from '@causeway/resources';
import type { PageRange } from '@causeway/runtime';
import type { CallContext } from '../calls/handler-factory';
import { parseDocument } from '../wire/apply-messages';
import { readName, readNameQuery, refused, readRevision } from '../wire/messages';

/** Sources of PolicyService. */
export interface PolicyServiceParts {
  readonly registry: Registry;
  readonly queries: Pick<Queries, 'defaultMesh' | 'policies'>;
  readonly admission: Pick<Admission, 'put'>;
}

/** Handlers of ListPolicies, ListScopes, GetImpact and GetTopology. Answers are the documents of REST, as typed fields and, for older clients, as JSON text. */
export class PolicyServiceHandlers {
  constructor(private readonly parts: PolicyServiceParts) {}

  async listPolicies(request: ListPoliciesRequest, context: CallContext): Promise<ListPoliciesResponse> {
    const { policies } = this.parts.queries;
    const options: AffectingOptions = {
      kind: readName('kind', request.kind),
      representation: request.representation,
      minRevision: readRevision(request.minRevision),
    };
    const question = readQuestion(request.page, context);
    const answer =
      request.of?.$case === 'virtual'
        ? await policies.affectingVirtual(this.readVirtual(request.of.value), options, question)
        : await policies.affecting(this.named(request.of?.value), options, question);
    return { answerJson: JSON.stringify(answer), answer: AffectingPolicies.fromJSON(answer) };
  }

  async listScopes(request: ListScopesRequest, context: CallContext): Promise<ListScopesResponse> {
    const question = readQuestion(request.page, context);
    const name = this.named(request.name);
    const answer = await this.parts.queries.policies.scopes(name, readRevision(request.minRevision), question);
    return { answerJson: JSON.stringify(answer), answer: PolicyScopes.fromJSON(answer) };
  }

  /** Admission validates a candidate as it does a write; nothing is written. */
  async getImpact(request: GetImpactRequest, context: CallContext): Promise<GetImpactResponse> {
    const { queries, registry, admission } = this.parts;
    const { document, minRevision, page } = request;
    const question = readQuestion(page, context);
    const address = this.named(request.name);
    if (document === undefined) {
      const answer = await queries.policies.impactOfDeletion(address, readRevision(minRevision), question);
      return { answerJson: JSON.stringify(answer), answer: PolicyImpact.fromJSON(answer) };
    }
    if (!registry.isDeclared(address.kind.name)) throw refused('name.kind', 'must be a kind of policy');
    if (minRevision !== 0) throw refused('min_revision', 'is for a deletion');
    const body = parseDocument(document);
    const { id, spec } = await admission.put({ address, body, dryRun: true, context: context.write });
    const answer = await queries.policies.impactOfWrite(id, spec, question);
    return { answerJson: JSON.stringify(answer), answer: PolicyImpact.fromJSON(answer) };
  }

  async getTopology({ mesh, root }: GetTopologyRequest, context: CallContext): Promise<GetTopologyResponse> {
    const { queries } = this.parts;
    const named = readName('mesh', mesh) ?? queries.defaultMesh;
    if (root && root.mesh !== '' && root.mesh !== named) throw refused('root.mesh', 'must be that of mesh, or empty');
    const query = root && readNameQuery(this.parts.registry, root, named);
    const answer = await queries.policies.topology(named, query, context);
    return { answerJson: JSON.stringify(answer), answer: Topology.fromJSON(answer) };
  }

  private named(name: Parameters<typeof readNameQuery>[1]): NameQuery {
    return readNameQuery(this.parts.registry, name, this.parts.queries.defaultMesh);
  }

  private readVirtual({ mesh, namespace, group, kind, name }: VirtualName) {
    const field = (of: string, text: string): string => {
      const given = readName(`virtual.${of}`, text);
      if (given === undefined) throw refused(`virtual.${of}`, 'must be given');
      return given;
    };
    return {
      mesh: readName('virtual.mesh', mesh) ?? this.parts.queries.defaultMesh,
      namespace: readName('virtual.namespace', namespace) ?? 'default',
      group: field('group', group),
      kind: field('kind', kind),
      name: field('name', name),
    };
  }
}

function readQuestion(page: PolicyPage | undefined, { rights, signal }: CallContext): PolicyQuestion {
  return { rights, signal, range: readRange(page) };
}

function readRange({ size, offset }: PolicyPage = { size: 0, offset: 0 }): PageRange {
  if (size > PAGE_SIZE.maximum) throw refused('page.size', `must be at most ${PAGE_SIZE.maximum}; got ${size}`);
  return { size: size || PAGE_SIZE.default, offset };
}
