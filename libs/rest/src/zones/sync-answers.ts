import { checkName, FieldPath, Invalid, NotFound } from '@causeway/resources';
import { jsonResponse, type RestResponse } from '../http/rest-response';
import { pathParameter, queryOf, type RestRequest } from '../http/rest-request';
import { HttpError } from '../http/http-error';
import { decodeObjectBody } from '../http/object-body';
import type { AcceptedIncarnation, SyncDecisions } from './sync-decisions';

/** What the answers are made from. */
export interface SyncAnswerParts {
  readonly decisions: SyncDecisions;
}

/** Ids of stores: what a header or a log line can show. */
const STORE_ID = /^[!-~]{1,200}$/;

/** What the operator decides of sync; the guard leaves it to the operator. */
export class SyncAnswers {
  constructor(private readonly parts: SyncAnswerParts) {}

  async confirmZone(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const { confirmZone } = this.parts.decisions;
    if (!confirmZone) throw onGlobal();
    return confirmationAnswer(await confirmZone(zoneOf(call)));
  }

  async adoptZone(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const { adoptZone } = this.parts.decisions;
    if (!adoptZone) throw onGlobal();
    return jsonResponse(await adoptZone(zoneOf(call), this.storeIdOf(call)));
  }

  async resetEpoch(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const { resetEpoch } = this.parts.decisions;
    if (!resetEpoch) throw onGlobal();
    const zone = zoneOf(call);
    const formerly = await resetEpoch(zone);
    return jsonResponse({ zone, ...(formerly < 0 ? {} : { formerly }) });
  }

  async confirmGlobal(call: RestRequest): Promise<RestResponse> {
    queryOf(call, []).check();
    const { confirmGlobal } = this.parts.decisions;
    if (!confirmGlobal) {
      throw new HttpError(404, 'The new life of a global is confirmed on each zone that has joined it; ask there.');
    }
    return confirmationAnswer(await confirmGlobal());
  }

  /** Without a body none is named. */
  private storeIdOf(call: RestRequest): string | undefined {
    if (!Buffer.isBuffer(call.body) || call.body.length === 0) return undefined;
    const { storeId } = decodeObjectBody(call, ['storeId']);
    if (storeId === undefined || (typeof storeId === 'string' && STORE_ID.test(storeId))) return storeId;
    throw new Invalid([FieldPath.at('storeId').violation('must be the id of a store, as a zone shows it')]);
  }
}

function confirmationAnswer(life: AcceptedIncarnation | undefined): RestResponse {
  if (!life) return jsonResponse({ confirmed: false });
  return jsonResponse({ confirmed: true, incarnation: life.incarnation, since: new Date(life.since).toISOString() });
}

/** What can be no zone's name is no zone. */
function zoneOf(call: RestRequest): string {
  const zone = pathParameter(call, 'name');
  if (checkName(zone, FieldPath.at('name')).length > 0) throw new NotFound('no zone has such a name');
  return zone;
}

function onGlobal(): HttpError {
  return new HttpError(404, 'This is decided on the global control plane; ask it there.');
}
