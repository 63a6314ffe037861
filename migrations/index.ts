/**
 * The schema of a store, step by step: numbered, forward only, listed by class. A step that has run anywhere is never
 * edited; schema.sql is what they make together.
 */
import { Tables0000000000001 } from './0001-tables';
import { Write0000000000002 } from './0002-write';
import { LeaderAndLife0000000000003 } from './0003-leader-and-life';
import { WriteInOrder0000000000004 } from './0004-write-in-order';
import { WriteTogether0000000000005 } from './0005-write-together';
import { TellParts0000000000006 } from './0006-tell-parts';
import { PointsAndEpochs0000000000007 } from './0007-points-and-epochs';

/** All steps, in the order in which they run. */
export const migrations = [
  Tables0000000000001,
  Write0000000000002,
  LeaderAndLife0000000000003,
  WriteInOrder0000000000004,
  WriteTogether0000000000005,
  TellParts0000000000006,
  PointsAndEpochs0000000000007,
];
