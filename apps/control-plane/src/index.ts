/**
 * What both control planes are made of: settings, the modules of the engine, and the run of a program from start to end.
 *
 *   loadConfig → createProgram → runProgram: CoreModule ← StoreModule ← IndexModule ← AdmissionModule, LeaderModule, …
 */
export { loadConfig, exitWithProblems, exitOnError, type LoadedConfig, type ProgramStart } from './load-config';
export { importBackup } from './import-backup';
export { createProgram, runProgram, type Program } from './run-program';
export { boundedText } from './bounded-text';
export { settingsSchema, settingsTable, type DescribedSettings } from './settings-reference';
export { removedSettings, sharedHelp, sharedSettings, streamRates, type SharedSettings } from './settings';
export { CORE, CoreModule, type ControlPlaneCore, type ModuleImports } from './core.module';
export { INDEX, IndexModule, MESHES, StoreBinding, storeOptions } from './index.module';
export { POLICIES } from './policies-follower';
export { ROUTES } from './routes-follower';
export { ACCESS_POLICY, AccessModule } from './access.module';
export { AUDIT_RECORDER, AuditModule } from './audit.module';
export { ADMISSION, AdmissionModule } from './admission.module';
export { AUTHENTICATION, AuthenticationModule, CALLER_RATES } from './authentication.module';
export { LeaderModule, LeaderService, type LeaderTermFactory, type LeaderWork } from './leader.module';
export { QUERIES, QueriesModule, SharedQuerySources } from './queries.module';
export { restModule } from './rest-dependencies';
export { certificateSource, openCertificates, type CertificateSource } from './certificates';
export { CertificatesModule, PortCertificates, sourceForUsers } from './certificates.module';
export { grpcApiModule } from './grpc-api';
export { retryWhileUnavailable } from './retry-while-unavailable';
export { meshLoops } from './mesh-loops';
export { maintainStore, type Chore } from './store-maintenance';
export { stateFolder, tokenChores } from './admin-token';
export {
  expiringTokensMetric,
  serverCertificateMetrics,
  validityMetrics,
  validityOf,
  type Validity,
} from './end-metrics';
export { namingInsights } from './naming-insights';
export { watchMetrics } from './metrics';
export { SharedTelemetry, SharedTelemetryModule } from './shared-telemetry.module';
export { MAX_SERIES, OTHERS, syncMetrics, type SyncReports } from './sync-metrics';
export { VERSION } from './version';
