/**
 * What both control planes are made of: settings, store, index, leadership, REST, diagnostics, and a way to end.
 *
 *   configure → bootstrap → serve → (the program's own parts) → life aborts → close
 */
export { loadConfig, exitWithProblems, exitOnError, type LoadedConfig, type ProgramStart } from './load-config';
export { bootstrap, type BootstrapOptions, type ControlPlaneCore } from './bootstrap';
export { retryWhileUnavailable } from './retry-while-unavailable';
export { openListeners, type OpenListeners, type ListenerOptions } from './listeners';
export { defaultsReadiness, maintainStore } from './store-maintenance';
export { namingInsights } from './naming-insights';
export { MAX_SERIES, OTHERS, propagationSeconds, syncMetrics, type SyncReports } from './sync-metrics';
export { VERSION } from './program-facts';
export { sharedHelp, sharedSettings } from './settings';
