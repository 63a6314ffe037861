import type { Queries } from '@causeway/queries';
import { decodeObjectBody } from '../http/object-body';
import { header, pathParameter, queryOf, type RestRequest } from '../http/rest-request';
import { jsonResponse, type RestResponse } from '../http/rest-response';

const NOT_STORED = { 'cache-control': 'no-store' } as const;

/** Zone tokens, and the certificate by which zones verify the global; the guard leaves all but the latter to the operator. */
export class ZoneTokenRequests {
  constructor(private readonly queries: Pick<Queries, 'zoneTokens'>) {}

  /** A new token: the bare token as Kuma returns it, or with its id and end for a client that accepts JSON. */
  async issue(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const { zoneTokens } = this.queries;
    zoneTokens.checkHere();
    const issued = await zoneTokens.issue(decodeObjectBody(call, ['zone', 'validFor', 'scope']));
    if (/\bapplication\/json\b/.test(header(call, 'accept') ?? '')) return jsonResponse(issued, NOT_STORED);
    return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8', ...NOT_STORED }, body: issued.token };
  }

  async revoke(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const { zoneTokens } = this.queries;
    zoneTokens.checkHere();
    await zoneTokens.revoke(decodeObjectBody(call, ['id'])['id']);
    return jsonResponse({});
  }

  async rotate(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    return jsonResponse({ serial: await this.queries.zoneTokens.rotate() });
  }

  /** Public: a certificate is no secret. */
  authority(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    const body = this.queries.zoneTokens.authority();
    return { status: 200, headers: { 'content-type': 'application/x-pem-file' }, body };
  }
}

/** Decisions about sync; the guard leaves them to the operator. */
export class SyncDecisionRequests {
  constructor(private readonly queries: Pick<Queries, 'zoneDecisions'>) {}

  async confirmZone(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    return jsonResponse(await this.queries.zoneDecisions.confirmZone(pathParameter(call, 'name')));
  }

  async adoptZone(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const { zoneDecisions } = this.queries;
    return jsonResponse(await zoneDecisions.adoptZone(pathParameter(call, 'name'), storeIdOf(call)));
  }

  async resetEpoch(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    return jsonResponse(await this.queries.zoneDecisions.resetEpoch(pathParameter(call, 'name')));
  }

  async confirmGlobal(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    return jsonResponse(await this.queries.zoneDecisions.confirmGlobal());
  }
}

/** Without a body no store is named. */
function storeIdOf(call: RestRequest): unknown {
  if (!Buffer.isBuffer(call.body) || call.body.length === 0) return undefined;
  return decodeObjectBody(call, ['storeId'])['storeId'];
}
