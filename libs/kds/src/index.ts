/** Sync between control planes over Kuma's KDS (libs/kds/README.md). */
export { CredentialsMissing, globalCredentials, type GlobalTrust } from './auth/credentials';
export { type GlobalSync, type ZoneMetrics } from './global/global-sync';
export { noAuthentication, type ZoneAuthenticator } from './auth/zone-authenticator';
export { isZoneOnline } from './global/zones/zone-insights';
export { createZoneLifecycleLoop } from './global/zones/zone-lifecycle-loop';
export { GLOBAL_SYNC, KdsGlobalModule, type KdsGlobalOptions } from './kds-global.module';
export { KdsZoneModule, ZONE_SYNC_FACTORY, type KdsZoneOptions } from './kds-zone.module';
export { findStoredInsight } from './session/proxy-insights';
export { withRelayedKinds } from './session/relayed-kinds';
export { unsupportedByKuma } from './wire/unsupported';
export type { InboundSettings } from './session/inbound/inbound-capacity';
export { computeLag, type KindReport } from './session/kind-report';
export { confirmPeerIncarnation, GLOBAL_PEER } from './session/peer-state';
export { FirstState } from './zone/first-state';
export { sessionInsight, type ZoneSync, type ZoneSyncStatus } from './zone/zone-sync';
export type { InsightSource } from './zone/insight-view';
export type { ZoneSyncOptions } from './zone/zone-sync-options';
export type { ZoneTokenSource } from './zone/zone-token-source';
