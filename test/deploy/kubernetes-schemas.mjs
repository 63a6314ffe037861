/**
 * Makes of the OpenAPI document of Kubernetes a JSON schema for each kind that the chart renders, in which unknown fields are faults:
 * `node kubernetes-schemas.mjs SWAGGER FOLDER` writes `deployment.json` and so on.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KINDS = {
  configmap: 'io.k8s.api.core.v1.ConfigMap',
  service: 'io.k8s.api.core.v1.Service',
  serviceaccount: 'io.k8s.api.core.v1.ServiceAccount',
  deployment: 'io.k8s.api.apps.v1.Deployment',
  poddisruptionbudget: 'io.k8s.api.policy.v1.PodDisruptionBudget',
  networkpolicy: 'io.k8s.api.networking.v1.NetworkPolicy',
};
/** Of these the document knows only the texts. */
const OR_NUMBER = ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'io.k8s.apimachinery.pkg.api.resource.Quantity'];

const [swagger, folder] = process.argv.slice(2);
const { definitions } = JSON.parse(readFileSync(swagger, 'utf8'));
for (const [name, definition] of Object.entries(definitions)) {
  if (definition.properties) definition.additionalProperties = false;
  if (OR_NUMBER.includes(name)) definition.type = ['string', 'number'];
}
mkdirSync(folder, { recursive: true });
for (const [file, name] of Object.entries(KINDS))
  writeFileSync(join(folder, `${file}.json`), JSON.stringify({ $ref: `#/definitions/${name}`, definitions }));
