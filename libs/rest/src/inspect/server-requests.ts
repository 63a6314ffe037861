import type { Queries } from '@causeway/queries';
import type { CallerAuthorizer } from '../http/caller-authorizer';
import type { RequestSignals } from '../http/request-signals';
import { pathParameter, queryOf, type RestRequest } from '../http/rest-request';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { readForm } from '../read/query-decoding';
import { FORMAT } from '../read/read-parameters';
import type { ResourceReads } from '../read/resource-reads';

/** Where to go on from the root. */
const LINKS = {
  resources: '/_resources',
  openapi: '/openapi.json',
  docs: '/docs',
  config: '/config',
  whoAmI: '/who-am-i',
} as const;

/** What requests about the server translate with. */
export interface ServerRequestParts {
  readonly queries: Queries;
  readonly access: CallerAuthorizer;
  readonly requestSignals: RequestSignals;
  readonly reads: ResourceReads;
}

/** What a control plane says of itself (docs/reference/kuma-rest.md §1.2). */
export class ServerRequests {
  constructor(private readonly parts: ServerRequestParts) {}

  /** Product, role and replica, with links. */
  root(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    return jsonResponse({ ...this.parts.queries.server.server(), links: LINKS });
  }

  /** Every kind, by name. */
  kinds(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    return jsonResponse({ resources: this.parts.queries.server.kinds() });
  }

  /** The resource that an identifier names; 400 for text that is no identifier. */
  async byKri(call: RestRequest): Promise<RestResponse> {
    const query = queryOf(call, [FORMAT]);
    const form = readForm(query);
    query.check();
    const { queries, reads } = this.parts;
    return reads.show(await queries.resources.byKri(pathParameter(call, 'kri')), form);
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
    return jsonResponse(this.parts.queries.server.config());
  }

  /** What is wrong, for the operator only: the guard sees to it. */
  async doctor(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    return jsonResponse(await this.parts.queries.doctor.report(this.parts.requestSignals.signalOf(call)));
  }
}
