import { FieldPath, Invalid, type JsonObject } from '@causeway/resources';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { header, queryOf, type RestRequest } from '../http/rest-request';
import { HttpError } from '../http/http-error';
import { decodeObjectBody } from '../http/object-body';
import type { ZoneAccess, ZoneTokenParameters } from './zone-access';

/** What the answers are made from. */
export interface ZoneAnswerParts {
  /** Absent on a zone. */
  readonly zoneAccess: ZoneAccess | undefined;
}

const UNSTORED = { 'cache-control': 'no-store' } as const;

/** Zone tokens and what zones verify the global by; the guard leaves all but the latter to the operator. */
export class ZoneAnswers {
  constructor(private readonly parts: ZoneAnswerParts) {}

  /** A new token: the bare token as Kuma answers, or with its id and end for who accepts JSON. */
  async issue(call: RestRequest): Promise<RestResponse> {
    const { zoneAccess, body } = this.order(call, ['zone', 'validFor', 'scope']);
    const issued = await zoneAccess.issue(readOrder(body));
    if (/\bapplication\/json\b/.test(header(call, 'accept') ?? '')) return jsonResponse(issued, UNSTORED);
    return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8', ...UNSTORED }, body: issued.token };
  }

  async revoke(call: RestRequest): Promise<RestResponse> {
    const { zoneAccess, body } = this.order(call, ['id']);
    const { id } = body;
    if (typeof id !== 'string')
      throw new Invalid([FieldPath.at('id').violation('must be the id (jti) of a zone token')]);
    await zoneAccess.revoke(id);
    return jsonResponse({});
  }

  async rotate(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const zoneAccess = this.zoneAccess();
    return jsonResponse({ serial: await zoneAccess.rotate() });
  }

  /** Public: a certificate is no secret. */
  authority(call: RestRequest): RestResponse {
    queryOf(call, []).check();
    const pem = this.zoneAccess().authority();
    if (pem !== undefined) return { status: 200, headers: { 'content-type': 'application/x-pem-file' }, body: pem };
    throw new HttpError(
      404,
      'Zones verify this global by no authority of its own; ask whoever issued its certificate.',
    );
  }

  private order(
    call: RestRequest,
    fields: readonly string[],
  ): { readonly zoneAccess: ZoneAccess; readonly body: JsonObject } {
    queryOf(call, []).check();
    const zoneAccess = this.zoneAccess();
    return { zoneAccess, body: decodeObjectBody(call, fields) };
  }

  private zoneAccess(): ZoneAccess {
    if (this.parts.zoneAccess) return this.parts.zoneAccess;
    throw new HttpError(404, 'Zones are let in by the global control plane; ask it there.');
  }
}

function readOrder({ zone, validFor, scope }: JsonObject): ZoneTokenParameters {
  const violations = [
    ...(typeof zone === 'string' ? [] : [FieldPath.at('zone').violation('must be the name of a zone')]),
    ...(typeof validFor === 'string'
      ? []
      : [FieldPath.at('validFor').violation('must be a duration such as 720h or 1h30m')]),
    ...(scope === undefined || texts(scope) ? [] : [FieldPath.at('scope').violation('must be a list of texts')]),
  ];
  if (violations.length > 0 || typeof zone !== 'string' || typeof validFor !== 'string') throw new Invalid(violations);
  const words = texts(scope);
  return { zone, validFor, ...(words ? { scope: words } : {}) };
}

function texts(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const words = value.filter((item) => typeof item === 'string');
  return words.length === value.length ? words : undefined;
}
