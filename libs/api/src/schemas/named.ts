import { Type } from 'typebox';
import { Integer, strict, Text, type Value } from '../schema';

/** A resource as answers name it. */
export const Named = Type.Object({ kind: Text, zone: Text, namespace: Text, name: Text });
export type Named = Value<typeof Named>;

/** A port of a service as answers name it. */
export const BackendName = Type.Object({ service: Named, port: Integer });
export type BackendName = Value<typeof BackendName>;

/** A service as answers about hostnames name it. */
export const ServiceName = Type.Object({ kind: Text, mesh: Text, zone: Text, namespace: Text, name: Text });
export type ServiceName = Value<typeof ServiceName>;

/** A Dataplane of the zone that is asked. */
export const DataplaneName = Type.Object({ namespace: Text, name: Text }, strict);
