import { resolveName, isWritable, type NameQuery } from '@causeway/admission';
import { parseKri } from '@causeway/naming';
import { compareText, type ControlPlane, type Kind, type Registry } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { ProgramFacts } from '../rest-dependencies';
import type { CallerAuthorizer } from '../http/caller-authorizer';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { pathParameter, queryOf, type RestRequest } from '../http/rest-request';
import { truncated } from '../http/truncated';
import { HttpError } from '../http/http-error';
import { readForm, type ResourceReads } from '../read/resource-reads';
import { FORMAT } from '../read/read-parameters';
import { redactSecrets } from './redacted';

/** What the answers about the server itself are made from. */
export interface ServerParts {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly program: ProgramFacts;
  readonly access: CallerAuthorizer;
  readonly reads: ResourceReads;
}

/** What a control plane says of itself (rest.md §1.2). */
export class ServerFacts {
  constructor(private readonly parts: ServerParts) {}

  /** Who this is and where to go on. */
  root(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    const { program, cp, index } = this.parts;
    return jsonResponse({
      product: 'Causeway',
      version: program.version,
      mode: cp.role,
      ...(cp.role === 'zone' ? { zone: cp.zone, federated: cp.federated } : {}),
      instanceId: program.instanceId,
      clusterId: index.point?.incarnation ?? '',
      revision: index.point?.revision ?? 0,
      links: {
        resources: '/_resources',
        openapi: '/openapi.json',
        docs: '/docs',
        config: '/config',
        whoAmI: '/who-am-i',
      },
    });
  }

  /** Every kind, by name. */
  kinds(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    const kinds = [...this.parts.registry.kinds].sort((a, b) => compareText(a.name, b.name));
    return jsonResponse({ resources: kinds.map((kind) => this.describe(kind)) });
  }

  /** The resource that an identifier names; 400 for what is none. */
  async byKri(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, [FORMAT]);
    const form = readForm(query);
    query.check();
    const { index, cp, reads } = this.parts;
    const name = this.readKri(pathParameter(call, 'kri'));
    await reads.ready(query);
    return reads.show(resolveName(index, cp, name), form);
  }

  /** Whom the server takes the caller for. */
  caller(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    return jsonResponse(
      this.parts.access.isOperator(call)
        ? { name: 'operator', groups: ['operators'] }
        : { name: 'anonymous', groups: [] },
    );
  }

  /** The configuration without secrets. */
  config(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    return jsonResponse(redactSecrets(this.parts.program.config));
  }

  private readKri(text: string): NameQuery {
    const reading = parseKri(text);
    if (!reading.ok) throw new HttpError(400, `This is no resource identifier: ${truncated(reading.reason)}.`);
    const { shortName, mesh, namespace, zone, name } = reading.kri;
    const kind = this.parts.registry.kinds.find((candidate) => candidate.shortName === shortName);
    if (!kind) throw new HttpError(400, `This is no resource identifier: no kind is called "${truncated(shortName)}".`);
    return { kind, name, mesh, zone, ...(namespace === '' ? {} : { namespace }) };
  }

  private describe(kind: Kind): object {
    const spaced = kind.name.replace(/([a-z])([A-Z])/g, '$1 $2');
    return {
      name: kind.name,
      scope: kind.scope === 'mesh' ? 'Mesh' : 'Global',
      namespaced: kind.namespaced,
      path: kind.plural,
      shortName: kind.shortName,
      singularDisplayName: spaced,
      pluralDisplayName: /s$/.test(spaced) ? `${spaced}es` : `${spaced}s`,
      readOnly: !isWritable(kind, this.parts.cp),
      writtenOn: kind.sync.writtenOn,
      includeInFederation: kind.sync.down !== 'nothing',
      confidential: kind.confidential,
    };
  }
}
