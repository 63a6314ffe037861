import type { CallerRights } from '@causeway/access';
import type { RevocationPlan } from '@causeway/controllers';
import { enrolledDataplane } from '@causeway/identity';
import { Enrolment, type EnrolmentSpec } from '@causeway/kinds';
import {
  compareText,
  FieldPath,
  Invalid,
  NotFound,
  type Identity,
  type JsonObject,
  type Resource,
  type Violation,
} from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';

/** Ends enrolments in a zone. Methods throw DomainErrors. */
export interface WorkloadAccess {
  readonly zone: string;
  /** Returns the consequences of a revocation. */
  plan(dataplane: Identity): Promise<RevocationPlan>;
  revoke(dataplane: Identity, by: string): Promise<RevocationPlan>;
  /** Lets an enrolment that came back by its certificate after an import stand. */
  confirm(dataplane: Identity): Promise<void>;
}

/** The machines of a zone that have joined, for callers on any interface: checks their input and rights, and throws NotFound on a global. */
export class WorkloadQueries {
  constructor(
    private readonly access: WorkloadAccess | undefined,
    private readonly index: Pick<IndexReader, 'get' | 'ofKind'>,
  ) {}

  /** The enrolments that the caller may see, by mesh, namespace and name. Throws NotFound on a global. */
  list({ offset, size }: PageRange, rights: CallerRights): SortedPage<JsonObject> {
    const { zone } = this.here();
    const seen = new Map<string, boolean>();
    const maySee = ({ mesh, namespace }: Identity): boolean => {
      const place = `${mesh}/${namespace}`;
      const known = seen.get(place) ?? rights.may('list', { kind: 'Workload', mesh, namespace });
      seen.set(place, known);
      return known;
    };
    const found = [...this.index.ofKind(Enrolment.name)].flatMap((one) =>
      one.id.zone === zone && Enrolment.is(one) && maySee(one.id) ? [one] : [],
    );
    found.sort((a, b) => compareText(keyOf(a.id), keyOf(b.id)));
    return { total: found.length, items: found.slice(offset, offset + size).map((one) => this.json(one)) };
  }

  /** Ends an enrolment, or says with `dryRun` what that would end. Rejects with Invalid, AccessDenied, NotFound, Conflict, Unavailable. */
  async revoke(fields: JsonObject, rights: CallerRights): Promise<JsonObject> {
    checkMayRevoke(fields, rights);
    const { mesh, namespace, name, isDryRun } = read(fields);
    const access = this.here();
    const dataplane = { kind: 'Dataplane', mesh, zone: access.zone, namespace, name };
    const plan = isDryRun ? await access.plan(dataplane) : await access.revoke(dataplane, rights.caller.user);
    return planJson(plan, isDryRun);
  }

  /** Rejects as `revoke` does. */
  async confirm(fields: JsonObject, rights: CallerRights): Promise<JsonObject> {
    checkMayRevoke(fields, rights);
    const { mesh, namespace, name } = read(fields);
    const access = this.here();
    await access.confirm({ kind: 'Dataplane', mesh, zone: access.zone, namespace, name });
    return { mesh, namespace, name };
  }

  private here(): WorkloadAccess {
    if (this.access) return this.access;
    throw new NotFound('machines join zones; ask the control plane of the zone of the machine');
  }

  private json({ id, uid, spec, createdAt }: Resource<EnrolmentSpec>): JsonObject {
    const { mesh, namespace, name } = id;
    const { by, services, workload, tokens, group, confirmBefore } = spec;
    return {
      mesh,
      namespace,
      name,
      id: uid,
      by,
      tokens: [...tokens],
      since: new Date(createdAt).toISOString(),
      ...(services && { services: [...services] }),
      ...(workload !== undefined && { workload }),
      ...(group !== undefined && { group }),
      ...(confirmBefore !== undefined && { confirmBefore: new Date(confirmBefore).toISOString() }),
      registered: this.index.get(enrolledDataplane(id)) !== undefined,
    };
  }
}

function keyOf({ mesh, namespace, name }: Identity): string {
  return `${mesh}/${namespace}/${name}`;
}

function planJson(plan: RevocationPlan, dryRun: boolean): JsonObject {
  const { dataplane, services, tokens, newBundles, otherZones, disconnectedZones, kumaZones } = plan;
  const { mesh, namespace, name } = dataplane;
  return {
    mesh,
    namespace,
    name,
    dryRun,
    services: [...services],
    tokens: [...tokens],
    newBundles: newBundles.map(nameJson),
    otherZones,
    disconnectedZones: [...disconnectedZones],
    kumaZones: [...kumaZones],
  };
}

function nameJson({ namespace, name }: Identity): JsonObject {
  return { namespace, name };
}

/** Rights are looked at before anything else. Throws AccessDenied. */
function checkMayRevoke({ mesh, namespace = 'default' }: JsonObject, rights: CallerRights): void {
  const place = {
    mesh: typeof mesh === 'string' ? mesh : undefined,
    namespace: typeof namespace === 'string' ? namespace : undefined,
  };
  rights.check('revoke', { kind: 'Workload', ...place });
}

/** Reads the workload of a request. Throws Invalid. */
function read({ mesh, namespace = 'default', name, dryRun = false }: JsonObject): {
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
  readonly isDryRun: boolean;
} {
  const violations: Violation[] = Object.entries({ mesh, namespace, name }).flatMap(([field, value]) =>
    typeof value === 'string' && value !== '' ? [] : [FieldPath.at(field).violation('must be a name', 'required')],
  );
  if (typeof dryRun !== 'boolean') violations.push(FieldPath.at('dryRun').violation('must be true or false'));
  if (typeof mesh !== 'string' || typeof namespace !== 'string' || typeof name !== 'string' || violations.length > 0)
    throw new Invalid(violations);
  return { mesh, namespace, name, isDryRun: dryRun === true };
}
