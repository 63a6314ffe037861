/** Translation between our resources and those of zones of plain Kuma (libs/kuma/README.md). */
export { createKumaPolicyLoop } from './policies/kuma-policy-reconciler';
export { createKumaRouteLoop } from './routes/kuma-route-reconciler';
export { relayedKinds } from './resources/relayed-kinds';
export { withReportedInstances } from './resources/services';
export { type KumaOptions } from './resources/translation';
export { kumaTranslation } from './resources/translations';
