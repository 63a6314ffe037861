/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export type { Program } from '../src/run-program';
export { settingsSchema, settingsTable } from './settings-page';
export type { DescribedSettings } from '../src/settings-reference';
export type { SharedSettings } from '../src/settings';
export { CORE } from '../src/core.module';
export { AUDIT_RECORDER } from '../src/audit.module';
export { ADMISSION } from '../src/admission.module';
export { CALLER_RATES } from '../src/authentication.module';
export { LeaderService } from '../src/leader.module';
export { namingInsights } from '../src/naming-insights';
export { MAX_SERIES, OTHERS } from '../src/sync-metrics';
