import type { Confirmation, EpochReset, ZoneAdoption } from '@causeway/api';
import { checkName, FieldPath, NotFound } from '@causeway/resources';

/** An accepted incarnation of a peer's store; `since`: when it was first seen, ms since 1970. */
interface AcceptedIncarnation {
  readonly incarnation: string;
  readonly since: number;
}

/**
 * Decisions about sync that only an operator makes (docs/design.md §5). Each control plane has the functions of its
 * role. They are idempotent and throw DomainErrors.
 */
export interface SyncDecisions {
  /** Accepts the new incarnation of a zone; undefined if none is pending. On a global. */
  readonly confirmZone?: (zone: string) => Promise<AcceptedIncarnation | undefined>;
  /** Binds a zone's name to a store, by default to the one that was refused last. On a global. */
  readonly adoptZone?: (zone: string, storeId: string | undefined) => Promise<ZoneAdoption>;
  /** Resets the leader epoch of a zone and resolves with the former one, -1 if there was none. On a global. */
  readonly resetEpoch?: (zone: string) => Promise<number>;
  /** Accepts the new incarnation of the global; undefined if none is pending. On a zone. */
  readonly confirmGlobal?: () => Promise<AcceptedIncarnation | undefined>;
}

/** Makes the decisions for callers on any interface: checks their input, and throws NotFound for those of the other role. */
export class OperatorDecisions {
  constructor(private readonly decisions: SyncDecisions) {}

  async confirmZone(zone: string): Promise<Confirmation> {
    const { confirmZone } = this.decisions;
    if (!confirmZone) throw onGlobal();
    return toConfirmation(await confirmZone(checkedZone(zone)));
  }

  /** Without `storeId` the store that was refused last is adopted. */
  async adoptZone(zone: string, storeId?: string): Promise<ZoneAdoption> {
    const { adoptZone } = this.decisions;
    if (!adoptZone) throw onGlobal();
    return adoptZone(checkedZone(zone), storeId);
  }

  /** `formerly` is the epoch before the reset. */
  async resetEpoch(zone: string): Promise<EpochReset> {
    const { resetEpoch } = this.decisions;
    if (!resetEpoch) throw onGlobal();
    const name = checkedZone(zone);
    const formerly = await resetEpoch(name);
    return { zone: name, ...(formerly < 0 ? {} : { formerly }) };
  }

  async confirmGlobal(): Promise<Confirmation> {
    const { confirmGlobal } = this.decisions;
    if (!confirmGlobal) {
      throw new NotFound('The new incarnation of a global is confirmed on each zone that has joined it; ask there.');
    }
    return toConfirmation(await confirmGlobal());
  }
}

function toConfirmation(accepted: AcceptedIncarnation | undefined): Confirmation {
  if (!accepted) return { confirmed: false };
  return { confirmed: true, incarnation: accepted.incarnation, since: new Date(accepted.since).toISOString() };
}

/** Throws NotFound for text that cannot be a zone's name. */
function checkedZone(zone: string): string {
  if (checkName(zone, FieldPath.at('name')).length > 0) throw new NotFound('no zone has such a name');
  return zone;
}

function onGlobal(): NotFound {
  return new NotFound('This is decided on the global control plane; ask it there.');
}
