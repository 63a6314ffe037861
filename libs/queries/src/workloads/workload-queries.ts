import type { CallerRights } from '@causeway/access';
import type { AnswerOf, BodyOf, confirmWorkload, revokeWorkload, Workload, WorkloadRevocation } from '@causeway/api';
import type { RevocationPlan } from '@causeway/controllers';
import { enrolledDataplane } from '@causeway/identity';
import { Enrolment, type EnrolmentSpec } from '@causeway/kinds';
import { compareText, isJsonObject, NotFound, type Identity, type Resource } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';

/** Ends enrolments in a zone. Methods throw DomainErrors. */
export interface WorkloadAccess {
  readonly zone: string;
  /** Returns the consequences of a revocation. */
  plan(dataplane: Identity): Promise<RevocationPlan>;
  revoke(dataplane: Identity, by: string): Promise<RevocationPlan>;
  /** Accepts an enrolment that came back with its certificate after an import. */
  confirm(dataplane: Identity): Promise<void>;
}

/** The enrolled hosts of a zone, for callers on any interface: checks their input and rights, and throws NotFound on a global. */
export class WorkloadQueries {
  constructor(
    private readonly access: WorkloadAccess | undefined,
    private readonly index: Pick<IndexReader, 'get' | 'ofKind'>,
  ) {}

  /** Returns the enrolments that the caller may see, by mesh, namespace and name. Throws NotFound on a global. */
  list({ offset, size }: PageRange, rights: CallerRights): SortedPage<Workload> {
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
    found.sort((a, b) => compareText(sortKey(a.id), sortKey(b.id)));
    return { total: found.length, items: found.slice(offset, offset + size).map((one) => this.json(one)) };
  }

  /** Ends an enrolment, or with `dryRun` returns the consequences. Rejects with NotFound, Conflict, Unavailable. */
  async revoke(
    { mesh, namespace = 'default', name, dryRun = false }: BodyOf<typeof revokeWorkload>,
    rights: CallerRights,
  ): Promise<WorkloadRevocation> {
    const access = this.here();
    const dataplane = { kind: 'Dataplane', mesh, zone: access.zone, namespace, name };
    const plan = dryRun ? await access.plan(dataplane) : await access.revoke(dataplane, rights.caller.user);
    return planJson(plan, dryRun);
  }

  /** Accepts an enrolment. Rejects as `revoke` does. */
  async confirm({
    mesh,
    namespace = 'default',
    name,
  }: BodyOf<typeof confirmWorkload>): Promise<AnswerOf<typeof confirmWorkload>> {
    const access = this.here();
    await access.confirm({ kind: 'Dataplane', mesh, zone: access.zone, namespace, name });
    return { mesh, namespace, name };
  }

  /** Throws AccessDenied unless the caller may revoke the workload in a body; runs before the rest of the body is validated. */
  checkMayRevoke(body: unknown, rights: CallerRights): void {
    const { mesh, namespace = 'default' } = isJsonObject(body) ? body : {};
    const place = {
      mesh: typeof mesh === 'string' ? mesh : undefined,
      namespace: typeof namespace === 'string' ? namespace : undefined,
    };
    rights.check('revoke', { kind: 'Workload', ...place });
  }

  private here(): WorkloadAccess {
    if (this.access) return this.access;
    throw new NotFound('machines join zones; ask the control plane of the zone of the machine');
  }

  private json({ id, uid, spec, createdAt }: Resource<EnrolmentSpec>): Workload {
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

function sortKey({ mesh, namespace, name }: Identity): string {
  return `${mesh}/${namespace}/${name}`;
}

function planJson(plan: RevocationPlan, dryRun: boolean): WorkloadRevocation {
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

function nameJson({ namespace, name }: Identity): WorkloadRevocation['newBundles'][number] {
  return { namespace, name };
}
