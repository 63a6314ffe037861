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

/** Reference that the control plane resolves itself; in the schema so that its refusal can explain itself (T003-25). */
export const MeshRef = Optionals({ name: Type.String({ maxLength: 253 }), uid: Type.String({ maxLength: 253 }) });

/** An Amazon Resource Name, or another text of AWS that means nothing here; in the schema so that its refusal says why. */
export const AwsText = Type.String({ maxLength: 2_048 });

/**
 * A typed reference. Without a namespace, or with an empty one, it means that of the resource that refers (T003-10). The name is a name as it is: a
 * dot in it separates nothing (T003-11). `awsName` is refused (T003-14).
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

/** Common part of the declarations of the kinds. */
export function appMeshKind<Name extends `Virtual${string}`>(name: Name, shortName: string) {
  const place = { scope: 'mesh', meshFrom: 'namespace', namespaced: true, sync: Sync.routes } as const;
  const plural = `${name.toLowerCase()}s`;
  return { name, plural, shortName, apiVersion: `${APP_MESH}/v1beta2`, ...place, immutable: ['awsName'] };
}

/** The status that follows from a resource: the name at App Mesh, and the mesh of its namespace (T003-03, T003-21). */
export function appMeshStatus(awsName: unknown, derived: string, mesh: string) {
  return { awsName: typeof awsName === 'string' && awsName !== '' ? awsName : derived, meshRef: { name: mesh } };
}

/** A violation where a field is set that is known here and cannot be held; none where it is absent. */
export function refuse(value: unknown, at: FieldPath, why: string): Violation[] {
  return value === undefined ? [] : [at.violation(`is not supported: ${why}`, 'not-allowed')];
}

/** A violation where a body names its mesh (T003-25). */
export function refuseMeshRef(meshRef: unknown, at: FieldPath): Violation[] {
  const reason = 'is read-only: the mesh is the one whose namespaceSelector selects the namespace; leave it out';
  return meshRef === undefined ? [] : [at.violation(reason, 'not-allowed')];
}

/** A violation where a reference means something outside this control plane (T003-14). */
export function refuseAwsName({ awsName }: TypedRef, at: FieldPath): Violation[] {
  return refuse(awsName, at.field('awsName'), 'a reference means a resource here, by name and namespace');
}

/** A violation for each listener whose port an earlier one has. */
export function distinctListeners(
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

/** Returns the violations of the rules of a kind, then those of its compiler for fields without a violation yet. */
export function withCompilers(own: readonly Violation[], compilers: readonly Violation[]): Violation[] {
  const said = own.map(({ field }) => field).filter((field) => field !== 'spec');
  const isSaid = ({ field }: Violation): boolean =>
    said.some((each) => field === each || field.startsWith(`${each}.`) || field.startsWith(`${each}[`));
  return [...own, ...compilers.filter((found) => !isSaid(found))];
}
