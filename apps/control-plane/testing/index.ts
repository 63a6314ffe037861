/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export type { Program } from '../src/program/run-program';
export { settingsSchema, settingsTable } from './settings-page';
export type { DescribedSettings } from '../src/settings/settings-reference';
export type { SharedSettings } from '../src/settings/settings';
export { CORE } from '../src/core.module';
export { AUDIT_RECORDER } from '../src/api/audit.module';
export { ADMISSION } from '../src/api/admission.module';
export { CALLER_RATES } from '../src/api/authentication.module';
export { LeaderService } from '../src/leader/leader.module';
export { namingInsights } from '../src/api/naming-insights';
export { MAX_SERIES, OTHERS } from '../src/metrics/sync-metrics';
