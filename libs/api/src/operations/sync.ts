import { Type } from 'typebox';
import { operation, type Activity } from '../operation';
import { component, Integer, strict, Text, Time, type Value } from '../schema';

const access = { verb: 'create', kinds: ['SyncDecision'] } as const;
const decision = (activity: string, name?: string): Activity => ({
  kind: 'SyncDecision',
  activity,
  ...(name === undefined ? {} : { name }),
});
const PROBLEMS = [400, 403, 404];

/** Whether a new incarnation was pending and is accepted. */
export const Confirmation = Type.Object(
  {
    confirmed: Type.Boolean({ description: 'False when no new incarnation is pending.' }),
    incarnation: Type.Optional(Text),
    since: Type.Optional(Time),
  },
  component('LifeConfirmation', strict),
);
export type Confirmation = Value<typeof Confirmation>;
const confirmed = { description: 'What the new incarnation lacks is deleted.', schema: Confirmation };

/** Accepts a zone's new incarnation. */
export const confirmZone = operation({
  id: 'confirmZone',
  method: 'POST',
  path: '/zones/{name}/_confirm',
  summary: "Accept a zone's new incarnation (on the global)",
  access,
  answer: confirmed,
  problems: PROBLEMS,
  audit: decision('confirm a zone'),
});

/** The store that the name of a zone is bound to. */
export const ZoneAdoption = Type.Object(
  {
    zone: Text,
    storeId: Type.String({ description: 'Empty: the next store that comes.' }),
    formerly: Type.String({ description: 'Empty where it was bound to none.' }),
  },
  component('ZoneAdoption'),
);
export type ZoneAdoption = Value<typeof ZoneAdoption>;

/** Binds the name of a zone to another store; without a body to the one that was refused last. */
export const adoptZone = operation({
  id: 'adoptZone',
  method: 'POST',
  path: '/zones/{name}/_adopt',
  summary: 'Bind the name of a zone to another store',
  access,
  body: {
    schema: Type.Object(
      {
        storeId: Type.Optional(
          Type.String({ pattern: '^[!-~]{1,200}$', title: 'the id of a store, as a zone shows it' }),
        ),
      },
      component('ZoneAdoptionOrder', {
        description: 'Without an id the store that was refused last, else the next one that comes.',
        ...strict,
      }),
    ),
    example: { storeId: '6f1b2c0e-0000-4000-8000-000000000000' },
    optional: true,
  },
  answer: { description: 'To which store the name is bound.', schema: ZoneAdoption },
  problems: [...PROBLEMS, 413, 415, 422],
  audit: decision('adopt a zone'),
});

/** The epoch that was forgotten. */
export const EpochReset = Type.Object(
  { zone: Text, formerly: Type.Optional(Type.Integer({ description: 'Absent where no epoch stood.' })) },
  component('EpochReset', strict),
);
export type EpochReset = Value<typeof EpochReset>;

/** Forgets the epoch of a zone's leaders. */
export const resetZoneEpoch = operation({
  id: 'resetZoneEpoch',
  method: 'POST',
  path: '/zones/{name}/_reset-epoch',
  summary: "Forget the epoch of a zone's leaders",
  access,
  answer: { description: 'The next leader that asks is taken.', schema: EpochReset },
  problems: PROBLEMS,
  audit: decision('reset the epoch of a zone'),
});

/** Accepts the global's new incarnation. */
export const confirmGlobal = operation({
  id: 'confirmGlobal',
  method: 'POST',
  path: '/global/_confirm',
  summary: "Accept the global's new incarnation (on a zone)",
  access,
  answer: confirmed,
  problems: PROBLEMS,
  audit: decision('confirm the global', 'global'),
});

/** The checks of the doctor. */
const DOCTOR_CHECKS = [
  'rules',
  'references',
  'conditions',
  'claims',
  'stores',
  'incarnations',
  'rejections',
  'lost',
  'quarantine',
  'mesh',
  'leases',
  'names',
  'enrolments',
  'identities',
  'leader',
  'tokens',
  'keys',
  'readiness',
  'copies',
] as const;
export type DoctorCheckName = (typeof DOCTOR_CHECKS)[number];

/** A fault and its remedy; without a resource it concerns the control plane. */
export const Finding = Type.Object({
  resource: Type.Optional(Type.Object({ type: Text, mesh: Text, zone: Text, namespace: Text, name: Text })),
  what: Text,
  advice: Text,
});
export type Finding = Value<typeof Finding>;

/** Findings of all checks. */
export const Diagnosis = Type.Object(
  {
    total: Type.Integer({ description: 'Of all checks.' }),
    checks: Type.Array(
      Type.Object({
        check: Type.Enum([...DOCTOR_CHECKS]),
        total: Integer,
        findings: Type.Array(Finding, { description: 'The first 100.' }),
      }),
    ),
  },
  component('Diagnosis'),
);
export type Diagnosis = Value<typeof Diagnosis>;

/** Faults and their remedies. */
export const diagnose = operation({
  id: 'diagnose',
  method: 'GET',
  path: '/_doctor',
  summary: 'What is not as it should be, and what to do',
  access: { verb: 'get', kinds: ['Diagnosis'] },
  answer: { description: 'What each check found.', schema: Diagnosis },
  problems: [400, 403],
});
