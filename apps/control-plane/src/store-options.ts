import type { PostgresOptions } from '@causeway/store-postgres';
import type { ControlPlaneCore } from './core.module';

/** How a control plane uses its database. */
export function storeOptions({ settings, clock, logger, shutdown }: ControlPlaneCore): PostgresOptions {
  return {
    url: settings.DATABASE_URL,
    clock,
    logger,
    tolerateNewer: settings.CAUSEWAY_DATABASE_TOLERATE_NEWER,
    signal: shutdown,
  };
}
