import { checkName, FieldPath, Invalid, NotFound } from '@causeway/resources';
import { json, type Answer } from '../http/answer';
import { pathParameter, queryOf, type Call } from '../http/call';
import { HttpFailure } from '../http/http-failure';
import { objectBody } from '../http/object-body';
import type { AcceptedLife, SyncDecisions } from './sync-decisions';

/** What the answers are made from. */
export interface SyncAnswerParts {
  readonly decisions: SyncDecisions;
}

/** Ids of stores: what a header or a log line can show. */
const STORE_ID = /^[!-~]{1,200}$/;

/** What the operator decides of sync; the guard leaves it to the operator. */
export class SyncAnswers {
  constructor(private readonly parts: SyncAnswerParts) {}

  async confirmZone(call: Call): Promise<Answer> {
    queryOf(call, []).check();
    const { confirmZone } = this.parts.decisions;
    if (!confirmZone) throw onGlobal();
    return confirmation(await confirmZone(zoneOf(call)));
  }

  async adoptZone(call: Call): Promise<Answer> {
    queryOf(call, []).check();
    const { adoptZone } = this.parts.decisions;
    if (!adoptZone) throw onGlobal();
    return json(await adoptZone(zoneOf(call), this.storeIdOf(call)));
  }

  async resetEpoch(call: Call): Promise<Answer> {
    queryOf(call, []).check();
    const { resetEpoch } = this.parts.decisions;
    if (!resetEpoch) throw onGlobal();
    const zone = zoneOf(call);
    const formerly = await resetEpoch(zone);
    return json({ zone, ...(formerly < 0 ? {} : { formerly }) });
  }

  async confirmGlobal(call: Call): Promise<Answer> {
    queryOf(call, []).check();
    const { confirmGlobal } = this.parts.decisions;
    if (!confirmGlobal) {
      throw new HttpFailure(404, 'The new life of a global is confirmed on each zone that has joined it; ask there.');
    }
    return confirmation(await confirmGlobal());
  }

  /** Without a body none is named. */
  private storeIdOf(call: Call): string | undefined {
    if (!Buffer.isBuffer(call.body) || call.body.length === 0) return undefined;
    const { storeId } = objectBody(call, ['storeId']);
    if (storeId === undefined || (typeof storeId === 'string' && STORE_ID.test(storeId))) return storeId;
    throw new Invalid([FieldPath.at('storeId').violation('must be the id of a store, as a zone shows it')]);
  }
}

function confirmation(life: AcceptedLife | undefined): Answer {
  if (!life) return json({ confirmed: false });
  return json({ confirmed: true, incarnation: life.incarnation, since: new Date(life.since).toISOString() });
}

/** What can be no zone's name is no zone. */
function zoneOf(call: Call): string {
  const zone = pathParameter(call, 'name');
  if (checkName(zone, FieldPath.at('name')).length > 0) throw new NotFound('no zone has such a name');
  return zone;
}

function onGlobal(): HttpFailure {
  return new HttpFailure(404, 'This is decided on the global control plane; ask it there.');
}
