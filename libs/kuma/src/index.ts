/** What zones of plain Kuma get and send, translated to and from our resources (libs/kuma/README.md). */
export { createKumaPolicyLoop } from './policies/kuma-policy-reconciler';
export { createKumaRouteLoop } from './routes/kuma-route-reconciler';
export { relayedKinds } from './resources/relayed-kinds';
export { withReportedInstances } from './resources/services';
export { type KumaOptions } from './resources/translation';
export { kumaTranslation } from './resources/translations';
