/**
 * What both control planes are made of: settings, store, index, leadership, REST, diagnostics, and a way to end.
 *
 *   configure → layFoundations → serve → (the program's own parts) → life aborts → close
 */
export { configure, fail, orFail, type Configured, type ProgramStart } from './configure';
export { layFoundations, type FoundationOptions, type Foundations } from './foundations';
export { onceServed } from './once-served';
export { serve, type Served, type ServeOptions } from './serve';
export { awaitDefaults, upkeep } from './upkeep';
export { namingInsights } from './naming-insights';
export { MOST_SERIES, OTHERS, propagationSeconds, syncFigures, type SyncReports } from './sync-figures';
export { VERSION } from './program-facts';
export { sharedHelp, sharedSettings } from './settings';
