/**
 * Names of services and resources: hostnames, claims and their precedence, wire names.
 * Pure functions; no store, no clock.
 */
export { hashedName, keepsNameOnWire, wireName, type WireNamed } from './kds-name';
