import { GROUP } from '../names';
import { ONE } from './amounts';
import { persistentVolumeClaims } from './persistent-volume-claims';
import type { Evaluator, Measured } from './measure';
import { pods } from './pods';
import { services } from './services';

interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

/** Each evaluator gets objects of its own resource only. */
const SPECIAL = [pods, services, persistentVolumeClaims] as readonly unknown[] as readonly Evaluator[];
/** Resources of the core group that quotas also name without `count/`. */
const BARE_NAMES: ReadonlySet<string> = new Set([
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
]);
/** Resources that are not counted: those that are not stored, and short-lived events. */
const UNCOUNTED: ReadonlySet<string> = new Set([
  keyOf({ group: GROUP.core, resource: 'bindings' }),
  keyOf({ group: GROUP.core, resource: 'componentstatuses' }),
  keyOf({ group: GROUP.core, resource: 'events' }),
  keyOf({ group: GROUP.events, resource: 'events' }),
  keyOf({ group: GROUP.authentication, resource: 'tokenreviews' }),
  ...['', 'self', 'local'].map((whose) =>
    keyOf({ group: GROUP.authorization, resource: `${whose}subjectaccessreviews` }),
  ),
  keyOf({ group: GROUP.authorization, resource: 'selfsubjectrulesreviews' }),
]);

/** Returns the evaluator of a namespaced resource; undefined where quotas do not count it. */
export function getEvaluator(name: ResourceName): Evaluator | undefined {
  const { group, resource } = name;
  if (UNCOUNTED.has(keyOf(name))) return undefined;
  return SPECIAL.find((each) => each.group === group && each.resource === resource) ?? objectCount(name);
}

/** Returns an evaluator that only counts objects. */
function objectCount({ group, resource }: ResourceName): Evaluator {
  const count = group === '' ? `count/${resource}` : `count/${resource}.${group}`;
  const names = group === GROUP.core && BARE_NAMES.has(resource) ? [count, resource] : [count];
  const each: Measured = { usage: new Map(names.map((name) => [name, ONE])) };
  return {
    group,
    resource,
    chargesUpdates: false,
    countsOnly: true,
    measures: (name) => names.includes(name),
    measure: () => each,
    missing: () => [],
  };
}

function keyOf({ group, resource }: ResourceName): string {
  return `${group}/${resource}`;
}
