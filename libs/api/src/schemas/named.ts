import { Type } from 'typebox';
import { Integer, strict, Text, type Value } from '../schema';

/** The name of a resource in answers. */
export const Named = Type.Object({ kind: Text, zone: Text, namespace: Text, name: Text });
export type Named = Value<typeof Named>;

/** The name of a service port in answers. */
export const BackendName = Type.Object({ service: Named, port: Integer });
export type BackendName = Value<typeof BackendName>;

/** The name of a service in answers about hostnames. */
export const ServiceName = Type.Object({ kind: Text, mesh: Text, zone: Text, namespace: Text, name: Text });
export type ServiceName = Value<typeof ServiceName>;

/** The name of a Dataplane of the zone that answers. */
export const DataplaneName = Type.Object({ namespace: Text, name: Text }, strict);
