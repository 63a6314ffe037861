import { Admission } from '@causeway/admission';
import { coreKinds } from '@causeway/kinds';
import type { ControlPlane, JsonObject, Registry } from '@causeway/resources';
import { systemClock, type Clock, type LeaderElection, type Logger } from '@causeway/runtime';
import { followStore, ResourceIndex, type IndexReader, type ResourceStore } from '@causeway/store';
import { createPostgresBackend, type PostgresBackend } from '@causeway/store-postgres';
import { createLogger } from '@causeway/telemetry';
import type { SettingValues } from '@causeway/runtime';
import { exitOnError } from './load-config';
import { createLeadership, type Leadership } from './leadership';
import { retryWhileUnavailable } from './retry-while-unavailable';
import { bindIdentity } from './store-identity';
import { instanceId, VERSION } from './program-facts';
import { shutdownSignal } from './shutdown-signal';
import type { sharedSettings } from './settings';

/** What every control plane stands on, running: the store, the index that follows it, and who leads. */
export interface ControlPlaneCore {
  readonly cp: ControlPlane;
  readonly state: PostgresBackend;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly admission: Admission;
  readonly election: LeaderElection;
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Id of the store, minted at its first start. */
  readonly storeId: string;
  readonly instance: string;
  /** Aborts when the program is to end. */
  readonly life: AbortController;
  /** Resolves when the last of it has ended, after `life` aborted. */
  readonly close: () => Promise<void>;
}

/** What a program gives of itself. */
export interface BootstrapOptions {
  readonly cp: ControlPlane;
  readonly settings: SettingValues<typeof sharedSettings>;
  /** The settings as they may be shown. */
  readonly redacted: Readonly<Record<string, unknown>>;
  /** Variables that are no settings of this program. */
  readonly unknownVariables: readonly string[];
}

/** Starts the parts that a global and a zone share; returns when the index holds the store's state. */
export async function bootstrap(options: BootstrapOptions): Promise<ControlPlaneCore> {
  const { cp, settings } = options;
  const logger = createLogger({ level: settings.LOG_LEVEL, program: programName(cp), pretty: process.stdout.isTTY });
  const life = shutdownSignal(() => logger);
  logger.info('starting', { version: VERSION, settings: options.redacted });
  if (options.unknownVariables.length > 0)
    logger.warn('no setting of this program: ignored', { variables: [...options.unknownVariables].sort().join(', ') });
  const state = await exitOnError(
    createPostgresBackend({
      url: settings.DATABASE_URL,
      logger,
      tolerateNewer: settings.CAUSEWAY_DATABASE_TOLERATE_NEWER,
      signal: life.signal,
    }),
  );
  const patience = { clock: systemClock, logger, life };
  const { storeId } = await exitOnError(retryWhileUnavailable(() => bindIdentity(state.store, cp), patience));
  const index = new ResourceIndex();
  const following = followStore(state.store, index, { clock: systemClock, logger, signal: life.signal });
  const leadership = await createLeadership(settings, { state, logger, storeId });
  const admission = new Admission({
    registry: coreKinds,
    store: state.store,
    index,
    controlPlane: cp,
    clock: systemClock,
    operatorToken: settings.CAUSEWAY_OPERATOR_TOKEN !== undefined,
  });
  await index.reached(0, life.signal);
  return {
    cp,
    state,
    store: state.store,
    index,
    registry: coreKinds,
    admission,
    election: leadership.election,
    leadership,
    clock: systemClock,
    logger,
    storeId,
    instance: instanceId,
    life,
    close: async () => {
      await following;
      leadership.close();
      await state.close();
    },
  };
}

/** How logs call a program: `global`, or `zone east`. */
function programName(cp: ControlPlane): string {
  return cp.role === 'global' ? 'global' : `zone ${cp.zone}`;
}

/** The settings as JSON, for `/config`. */
export function configDocument(shown: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, String(value)]));
}
