import { admissionregistration } from './admissionregistration/kinds';
import { apiextensions } from './apiextensions/kinds';
import { apiregistration } from './apiregistration/kinds';
import { apiserverinternal } from './apiserverinternal/kinds';
import { apps } from './apps/kinds';
import { authentication } from './authentication/kinds';
import { authorization } from './authorization/kinds';
import { autoscaling } from './autoscaling/kinds';
import { batch } from './batch/kinds';
import { certificates } from './certificates/kinds';
import { coordination } from './coordination/kinds';
import { core } from './core/kinds';
import { discovery } from './discovery/kinds';
import { flowcontrol } from './flowcontrol/kinds';
import { networking } from './networking/kinds';
import { node } from './node/kinds';
import { policy } from './policy/kinds';
import { rbac } from './rbac/kinds';
import { scheduling } from './scheduling/kinds';
import { storage } from './storage/kinds';
import type { Kind, KindGroup } from './kind';

/** Every kind with something of its own, by the group it is stored in. A kind that is served under a second name is found under its first. */
export const KINDS: readonly KindGroup[] = [
  admissionregistration,
  apiextensions,
  apiregistration,
  apiserverinternal,
  apps,
  authentication,
  authorization,
  autoscaling,
  batch,
  certificates,
  coordination,
  core,
  discovery,
  flowcontrol,
  networking,
  node,
  policy,
  rbac,
  scheduling,
  storage,
];

const NO_BEHAVIOUR: Kind = {};

const KINDS_OF_GROUP: ReadonlyMap<string, ReadonlyMap<string, Kind>> = new Map(
  KINDS.map(({ group, kinds }) => [group, new Map(Object.entries(kinds))]),
);

/** What is particular to the kind of a resource; `group` is the one in which it is stored. */
export function kindOf(group: string, resource: string): Kind {
  return KINDS_OF_GROUP.get(group)?.get(resource) ?? NO_BEHAVIOUR;
}
