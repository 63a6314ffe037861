/**
 * Shared parts of both control planes: settings, the modules of the engine, and the run of a program from start to end.
 *
 *   loadConfig → createProgram → runProgram: CoreModule ← StoreModule ← IndexModule ← AdmissionModule, LeaderModule, …
 */
export {
  loadConfig,
  exitWithProblems,
  exitOnError,
  type LoadedConfig,
  type ProgramStart,
} from './settings/load-config';
export { importBackup } from './program/import-backup';
export { createProgram, runProgram } from './program/run-program';
export { boundedText } from './settings/bounded-text';
export { removedSettings, sharedHelp, sharedSettings, streamRates } from './settings/settings';
export { CoreModule, type ControlPlaneCore, type ModuleImports } from './core.module';
export { INDEX, IndexModule, MESHES, StoreBinding, storeOptions } from './state/index.module';
export { LeaderAwareWriter } from './state/leader-aware-writer';
export { POLICIES } from './state/policies-follower';
export { ROUTES } from './state/routes-follower';
export { ACCESS_POLICY, AccessModule } from './api/access.module';
export { AuditModule } from './api/audit.module';
export { AdmissionModule } from './api/admission.module';
export { AUTHENTICATION, AuthenticationModule } from './api/authentication.module';
export { LeaderModule, type LeaderTermFactory, type LeaderWork } from './leader/leader.module';
export { QUERIES, QueriesModule, SharedQuerySources } from './api/queries.module';
export { restModule } from './api/rest-dependencies';
export { certificateSource, openCertificates, type CertificateSource } from './certificates/certificates';
export { CertificatesModule, PortCertificates, sourceForUsers } from './certificates/certificates.module';
export { grpcApiModule } from './api/grpc-api';
export { retryWhileUnavailable } from './state/retry-while-unavailable';
export { meshLoops } from './leader/mesh-loops';
export { maintainStore, type PeriodicTask } from './leader/store-maintenance';
export { stateFolder, tokenTasks } from './leader/admin-token';
export {
  expiringTokensMetric,
  serverCertificateMetrics,
  validityMetrics,
  readValidity,
  type Validity,
} from './metrics/end-metrics';
export { watchMetrics } from './metrics/metrics';
export { SharedTelemetry, SharedTelemetryModule } from './metrics/shared-telemetry.module';
export { syncMetrics, type SyncReports } from './metrics/sync-metrics';
export { VERSION } from './version';
