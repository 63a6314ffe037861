/**
 * Shared parts of both control planes: settings, the modules of the engine, and the run of a program from start to end.
 *
 *   loadConfig → createProgram → runProgram: CoreModule ← StoreModule ← IndexModule ← AdmissionModule, LeaderModule, …
 */
export { loadConfig, exitWithProblems, exitOnError, type LoadedConfig, type ProgramStart } from './load-config';
export { importBackup } from './import-backup';
export { createProgram, runProgram } from './run-program';
export { boundedText } from './bounded-text';
export { removedSettings, sharedHelp, sharedSettings, streamRates } from './settings';
export { CoreModule, type ControlPlaneCore, type ModuleImports } from './core.module';
export { INDEX, IndexModule, MESHES, StoreBinding, storeOptions } from './index.module';
export { POLICIES } from './policies-follower';
export { ROUTES } from './routes-follower';
export { ACCESS_POLICY, AccessModule } from './access.module';
export { AuditModule } from './audit.module';
export { AdmissionModule } from './admission.module';
export { AUTHENTICATION, AuthenticationModule } from './authentication.module';
export { LeaderModule, type LeaderTermFactory, type LeaderWork } from './leader.module';
export { QUERIES, QueriesModule, SharedQuerySources } from './queries.module';
export { restModule } from './rest-dependencies';
export { certificateSource, openCertificates, type CertificateSource } from './certificates';
export { CertificatesModule, PortCertificates, sourceForUsers } from './certificates.module';
export { grpcApiModule } from './grpc-api';
export { retryWhileUnavailable } from './retry-while-unavailable';
export { meshLoops } from './mesh-loops';
export { maintainStore, type PeriodicTask } from './store-maintenance';
export { stateFolder, tokenTasks } from './admin-token';
export {
  expiringTokensMetric,
  serverCertificateMetrics,
  validityMetrics,
  readValidity,
  type Validity,
} from './end-metrics';
export { watchMetrics } from './metrics';
export { SharedTelemetry, SharedTelemetryModule } from './shared-telemetry.module';
export { syncMetrics, type SyncReports } from './sync-metrics';
export { VERSION } from './version';
