import type { ApiObject } from '../object/object';
import type { MessageType } from '../schema/types';
import { messageType } from '../schema/types';
import type { ReadonlyJson } from '../object/json';
import { isJsonObject } from '../object/clone';
import { ADMISSIONREGISTRATION } from './admissionregistration';
import { APIEXTENSIONS, APIREGISTRATION, FLOWCONTROL } from './api-server';
import { APPS, BATCH, AUTOSCALING, POLICY, SCHEDULING } from './workloads';
import { AUTHENTICATION, RBAC, CERTIFICATES } from './access';
import type { DefaultsTable, IsOn, MessageDefaults } from './contract';
import { CORE_PODS } from './core-pods';
import { CORE_VOLUMES, CORE } from './core';
import { DISCOVERY, NETWORKING } from './networking';
import { RESOURCE } from './resource';
import { STORAGE } from './storage';
import { isOnByDefault } from '../flags/feature-gate-table';
import { ownKeyMap } from '../own-key-map';
import { formatQuantity, parseQuantity } from '../meta/quantity';

/** Returns the object with defaults. The argument is never changed and may be returned itself. */
export type ApplyDefaults = (object: ApiObject, nulls?: NullsOf) => ApiObject;

/** What becomes of nulls in a custom resource that are not allowed and have no default. */
export type NullsOf = 'dropped' | 'kept';

const TABLE: DefaultsTable = {
  ...CORE,
  ...CORE_PODS,
  ...CORE_VOLUMES,
  ...ADMISSIONREGISTRATION,
  ...APIEXTENSIONS,
  ...APIREGISTRATION,
  ...APPS,
  ...AUTHENTICATION,
  ...AUTOSCALING,
  ...BATCH,
  ...CERTIFICATES,
  ...DISCOVERY,
  ...FLOWCONTROL,
  ...NETWORKING,
  ...POLICY,
  ...RBAC,
  ...RESOURCE,
  ...SCHEDULING,
  ...STORAGE,
};

/** Messages of the table, for the test that they exist. */
export const MESSAGES_WITH_DEFAULTS: readonly string[] = Object.keys(TABLE);

/**
 * Returns the defaults of a kind's message (`core/v1.Pod`) and of all nested messages, for objects in canonical form. They are compiled at
 * their first use, because a process uses few of all kinds.
 */
export function getDefaults(schema: string, isOn: IsOn = isOnByDefault): ApplyDefaults {
  const type = messageType(schema);
  return (object) => {
    const plan = createPlan(type);
    return plan === undefined ? object : (fill(plan, object, isOn) as ApiObject);
  };
}

/** Compiled defaults of one message. */
interface Plan {
  readonly own: MessageDefaults | undefined;
  readonly values: readonly Value[];
  readonly children: readonly Child[];
  /** Fields that hold resource lists. */
  readonly resourceLists: readonly string[];
}

interface Value {
  readonly name: string;
  readonly value: unknown;
  /** The field distinguishes an empty string from an absent one. */
  readonly keepsEmpty: boolean;
}

interface Child {
  readonly name: string;
  readonly shape: 'one' | 'list' | 'map';
  readonly plan: Plan;
}

function fill(plan: Plan, object: ReadonlyJson, isOn: IsOn): ReadonlyJson {
  let filled = fillOwn(plan, object, isOn);
  for (const child of plan.children) {
    const value = filled[child.name];
    if (value === undefined || value === null) continue;
    const next = fillChild(child, value, isOn);
    if (next !== value) filled = withMember(object, filled, { name: child.name, value: next });
  }
  for (const name of plan.resourceLists) {
    const value = filled[name];
    if (!isJsonObject(value)) continue;
    const next = roundUpToMilli(value);
    if (next !== value) filled = withMember(object, filled, { name, value: next });
  }
  return filled;
}

function fillOwn({ own, values }: Plan, object: ReadonlyJson, isOn: IsOn): ReadonlyJson {
  let filled = object;
  for (const { name, value, keepsEmpty } of values) {
    const given = filled[name];
    if (given === undefined || given === null || (given === '' && !keepsEmpty))
      filled = withMember(object, filled, { name, value });
  }
  const derived = own?.derive?.(filled, isOn);
  return derived === undefined ? filled : { ...filled, ...derived };
}

/** Sets a field of `filled`, which is copied only while it is still the original. */
function withMember(
  original: ReadonlyJson,
  filled: ReadonlyJson,
  member: { readonly name: string; readonly value: unknown },
): ReadonlyJson {
  const copy: Record<string, unknown> = filled === original ? { ...filled } : filled;
  copy[member.name] = member.value;
  return copy;
}

function fillChild({ shape, plan }: Child, value: unknown, isOn: IsOn): unknown {
  if (shape === 'one') return isJsonObject(value) ? fill(plan, value, isOn) : value;
  if (shape === 'list') return Array.isArray(value) ? fillList(plan, value, isOn) : value;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, isJsonObject(each) ? fill(plan, each, isOn) : each]),
  );
}

function fillList(plan: Plan, list: readonly unknown[], isOn: IsOn): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (const [index, each] of list.entries()) {
    const next = isJsonObject(each) ? fill(plan, each, isOn) : each;
    if (next === each) continue;
    changed ??= [...list];
    changed[index] = next;
  }
  return changed ?? list;
}

const DEFAULTS = ownKeyMap(TABLE as Readonly<Record<string, MessageDefaults | undefined>>);
const plans = new Map<string, Plan | undefined>();

/**
 * Returns undefined when neither the message nor a nested one has defaults. A recursive message counts as
 * having none inside itself.
 */
function createPlan(type: MessageType, above: readonly string[] = []): Plan | undefined {
  if (plans.has(type.name)) return plans.get(type.name);
  if (above.includes(type.name)) return undefined;
  const own = DEFAULTS.get(type.name);
  const children = type.fields.flatMap((field): readonly Child[] => {
    if (field.kind !== 'message' || field.message === undefined) return [];
    const plan = createPlan(field.message, [...above, type.name]);
    const shape = field.list ? 'list' : field.map ? 'map' : 'one';
    return plan === undefined ? [] : [{ name: field.name, shape, plan }];
  });
  const resourceLists = type.fields
    .filter((field) => field.map && field.kind === 'quantity' && !isAsGiven(type))
    .map((field) => field.name);
  const isEmpty = own === undefined && children.length === 0 && resourceLists.length === 0;
  const plan = isEmpty ? undefined : { own, values: valuesOf(type, own), children, resourceLists };
  plans.set(type.name, plan);
  return plan;
}

/** The overhead of a RuntimeClass is rounded in pods only. */
function isAsGiven({ name }: MessageType): boolean {
  return name.startsWith('node/');
}

function valuesOf({ byName }: MessageType, own: MessageDefaults | undefined): readonly Value[] {
  // Fields that the API level does not have get no default.
  return Object.entries(own?.values ?? {}).flatMap(([name, value]) => {
    const field = byName.get(name);
    return field === undefined ? [] : [{ name, value, keepsEmpty: field.pointer }];
  });
}

/** Matches canonical text that may be finer than a thousandth: nano, micro, or a negative exponent. */
const MAY_BE_FINER = /[nu]$|[eE]-/;
const MILLI = -3;

/** Rounds quantities up to thousandths, the finest unit of the scheduler. */
function roundUpToMilli(amounts: ReadonlyJson): ReadonlyJson {
  let rounded: Record<string, unknown> | undefined;
  for (const name in amounts) {
    const text = amounts[name];
    if (typeof text !== 'string' || !MAY_BE_FINER.test(text)) continue;
    const next = roundUp(text);
    if (next === text) continue;
    rounded ??= { ...amounts };
    rounded[name] = next;
  }
  return rounded ?? amounts;
}

function roundUp(text: string): string {
  const quantity = parseQuantity(text);
  if (quantity === undefined || quantity.scale >= MILLI) return text;
  const divisor = 10n ** BigInt(MILLI - quantity.scale);
  const { unscaled } = quantity;
  const whole = unscaled / divisor;
  const isExact = whole * divisor === unscaled;
  const away = isExact ? 0n : unscaled < 0n ? -1n : 1n;
  return formatQuantity({ ...quantity, unscaled: whole + away, scale: MILLI });
}
