import { Type, type Static } from 'typebox';
import { Sync, type FieldPath, type Violation } from '@causeway/resources';
import { Optionals, PortNumber, strict } from '../schema/schema-parts';

/** The group of App Mesh's kinds. */
const APP_MESH = 'appmesh.k8s.aws';

/** Protocols of listeners and health checks of App Mesh. */
const appMeshProtocols = ['grpc', 'http', 'http2', 'tcp'] as const;
export const Protocol = Type.Enum([...appMeshProtocols]);

/** The name at App Mesh; absent or empty means the derived one (T003-03). */
export const AwsName = Type.String({ maxLength: 255 });

/** Reference that the control plane resolves itself; in the schema so that its refusal explains itself (T003-25). */
export const MeshRef = Optionals({ name: Type.String({ maxLength: 253 }), uid: Type.String({ maxLength: 253 }) });

/** An Amazon Resource Name, or another AWS text without meaning here; in the schema so that its refusal explains itself. */
export const AwsText = Type.String({ maxLength: 2_048 });

/**
 * A typed reference. An absent or empty namespace means that of the referring resource (T003-10). Dots in the name have
 * no meaning (T003-11). `awsName` is refused (T003-14).
 */
export const TypedRef = Type.Object(
  {
    namespace: Type.Optional(
      Type.String({ title: 'a namespace, or empty', maxLength: 63, pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
    ),
    name: Type.String({ minLength: 1, maxLength: 253 }),
    awsName: Type.Optional(AwsText),
  },
  strict,
);
export type TypedRef = Static<typeof TypedRef>;

/** A time as App Mesh writes it: a whole number of seconds or milliseconds. */
export const AppMeshDuration = Type.Object(
  { unit: Type.Enum(['s', 'ms']), value: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }) },
  strict,
);

export const PortMapping = Type.Object({ port: PortNumber, protocol: Protocol }, strict);

export const RequestTimeout = Optionals({ perRequest: AppMeshDuration, idle: AppMeshDuration });
export const IdleTimeout = Optionals({ idle: AppMeshDuration });

/** Returns the declaration of an App Mesh kind, with the parts that all of them share. */
export function appMeshKind<Name extends `Virtual${string}`>(name: Name, shortName: string) {
  const place = { scope: 'mesh', meshFrom: 'namespace', namespaced: true, sync: Sync.routes } as const;
  const plural = `${name.toLowerCase()}s`;
  return { name, plural, shortName, apiVersion: `${APP_MESH}/v1beta2`, ...place, immutable: ['awsName'] };
}

/** Returns the status derived from a resource: its name at App Mesh and the mesh of its namespace (T003-03, T003-21). */
export function appMeshStatus(awsName: unknown, derived: string, mesh: string) {
  return { awsName: typeof awsName === 'string' && awsName !== '' ? awsName : derived, meshRef: { name: mesh } };
}

/** Returns a violation if a known but unsupported field is set. */
export function refuse(value: unknown, at: FieldPath, why: string): Violation[] {
  return value === undefined ? [] : [at.violation(`is not supported: ${why}`, 'not-allowed')];
}

/** Returns a violation if a document sets `meshRef` (T003-25). */
export function refuseMeshRef(meshRef: unknown, at: FieldPath): Violation[] {
  const reason = 'is read-only: the mesh is the one whose namespaceSelector selects the namespace; leave it out';
  return meshRef === undefined ? [] : [at.violation(reason, 'not-allowed')];
}

/** Returns a violation if a reference has an `awsName`, which means a resource outside this control plane (T003-14). */
export function refuseAwsName({ awsName }: TypedRef, at: FieldPath): Violation[] {
  return refuse(awsName, at.field('awsName'), 'a reference means a resource here, by name and namespace');
}

/** Returns a violation for each listener whose port an earlier listener has. */
export function checkDistinctListeners(
  listeners: readonly { readonly portMapping: { readonly port: number } }[],
  at: FieldPath,
): Violation[] {
  const first = new Map<number, number>();
  return listeners.flatMap(({ portMapping: { port } }, i) => {
    const earlier = first.get(port);
    if (earlier === undefined) first.set(port, i);
    const field = at.index(i).field('portMapping').field('port');
    if (earlier === undefined) return [];
    return [field.violation(`must be unique; ${port} is already at index ${earlier}`, 'not-unique')];
  });
}

/** Returns the violations of a kind's own rules, then the compiler's violations for fields that have none yet. */
export function mergeViolations(own: readonly Violation[], compilers: readonly Violation[]): Violation[] {
  const fields = own.map(({ field }) => field).filter((field) => field !== 'spec');
  const isSaid = ({ field }: Violation): boolean =>
    fields.some((each) => field === each || field.startsWith(`${each}.`) || field.startsWith(`${each}[`));
  return [...own, ...compilers.filter((found) => !isSaid(found))];
}
