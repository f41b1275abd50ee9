import * as fc from 'fast-check';
import { StatusError } from '../../../../shared/errors/status-error';
import type { ApiObject } from '../../../../shared/object/object';
import { listPaths } from '../../../../shared/fieldset/field-set';
import { parseFieldSet } from '../../../../shared/fieldset/parse';
import { rootShape } from '../../../../shared/fieldset/shape';
import { decodeObject } from '../../../../shared/schema/decode';
import { UNSTRUCTURED } from '../../../../shared/schema/types';
import { applyConfiguration } from './apply';
import { managedKind } from './built-in-kind';
import type { ManagedKind } from './managed-kind';
import { trackUpdate } from './track-update';

type Version = 'g/v1' | 'g/v2';
type Data = Readonly<Record<string, string>>;

interface Step {
  readonly verb: 'apply' | 'force' | 'update' | 'patch';
  readonly manager: string;
  readonly version: Version;
  readonly data: Data;
}

/** The one field of the object, which has another name in each version. */
const FIELD: Readonly<Record<Version, string>> = { 'g/v1': 'spec', 'g/v2': 'config' };

function inVersion(object: ApiObject, to: Version): ApiObject {
  const from: Version = to === 'g/v1' ? 'g/v2' : 'g/v1';
  const { [FIELD[from]]: moved, ...rest } = object;
  const { metadata } = object;
  return { ...rest, metadata, apiVersion: to, ...(moved === undefined ? {} : { [FIELD[to]]: moved }) };
}

const KINDS: Readonly<Record<Version, ManagedKind>> = {
  'g/v1': kindIn('g/v1', 'g/v2'),
  'g/v2': kindIn('g/v2', 'g/v1'),
};

function kindIn(apiVersion: Version, other: Version): ManagedKind {
  const versioned = {
    apiVersion: other,
    shape: rootShape(UNSTRUCTURED),
    ignored: {},
    convert: (object: ApiObject) => inVersion(object, other),
    convertBack: (object: ApiObject) => inVersion(object, apiVersion),
  };
  return managedKind({
    apiVersion,
    type: UNSTRUCTURED,
    hasStatus: false,
    subresource: '',
    otherVersion: (name) => (name === other ? versioned : undefined),
  });
}

/** The object as it is stored, in the first version; written through either. */
class Stored {
  object: ApiObject | undefined;
  #nowMs = Date.UTC(2021, 3, 8);

  /** False for a conflict. */
  write({ verb, manager, version, data }: Step): boolean {
    this.#nowMs += 1000;
    const kind = KINDS[version];
    const live = this.object && inVersion(this.object, version);
    const writer = { manager, subresource: '', nowMs: this.#nowMs };
    const read = (value: object): ApiObject => decodeObject(UNSTRUCTURED, value).object;
    const body = { metadata: { name: 'o' }, [FIELD[version]]: data };
    if (verb === 'update' || verb === 'patch') {
      const before = (live?.[FIELD[version]] ?? {}) as Data;
      const next = verb === 'update' ? body : { ...body, [FIELD[version]]: { ...before, ...data } };
      this.object = inVersion(trackUpdate(kind, live, read(next), writer), 'g/v1');
      return true;
    }
    try {
      const applied = applyConfiguration({
        kind,
        live,
        config: body,
        writer,
        force: verb === 'force',
        read,
      });
      this.object = inVersion(applied, 'g/v1');
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.status.reason === 'Conflict') return false;
      throw error;
    }
  }

  get data(): Data {
    return (this.object?.['spec'] ?? {}) as Data;
  }

  /** The keys of everybody; an updater is another one in each version. */
  get owned(): Record<string, readonly string[]> {
    const owned: Record<string, readonly string[]> = {};
    for (const { operation = '', manager = '', apiVersion = '', fieldsV1 } of this.object?.metadata
      .managedFields ?? []) {
      const set = parseFieldSet(fieldsV1) ?? {};
      const field = `f:${FIELD[apiVersion as Version]}`;
      const keys = listPaths(set).filter((path) => path.length === 2 && path[0] === field);
      const name = operation === 'Apply' ? `Apply ${manager}` : `Update ${manager} ${apiVersion}`;
      if (keys.length > 0) owned[name] = keys.map((path) => (path[1] ?? '').slice(2)).sort();
    }
    return owned;
  }

  get isUntracked(): boolean {
    return this.object !== undefined && (this.object.metadata.managedFields ?? []).length === 0;
  }
}

/** The rules of ownership for keys of one map, whatever version they are written through. */
class Model {
  data: Data = {};
  readonly #owners = new Map<string, Set<string>>();

  take({ verb, manager, version, data }: Step, isUntracked: boolean): boolean {
    const isApply = verb === 'apply' || verb === 'force';
    const name = isApply ? `Apply ${manager}` : `Update ${manager} ${version}`;
    const first = `Update before-first-apply ${version}`;
    if (isApply && isUntracked) this.#owners.set(first, new Set(Object.keys(this.data)));
    const changed = Object.keys(data).filter((key) => data[key] !== this.data[key]);
    const others = [...this.#owners].filter(([each]) => each !== name).map(([, keys]) => keys);
    if (verb === 'apply' && changed.some((key) => others.some((keys) => keys.has(key)))) {
      if (isUntracked) this.#owners.delete(first);
      return false;
    }
    const own = this.#owners.get(name) ?? new Set();
    const removed = Object.keys(this.data).filter((key) => {
      if (data[key] !== undefined || verb === 'patch') return false;
      return verb === 'update' || (own.has(key) && others.every((keys) => !keys.has(key)));
    });
    for (const keys of this.#owners.values()) for (const key of [...changed, ...removed]) keys.delete(key);
    if (isApply) this.#owners.set(name, new Set(Object.keys(data)));
    else if (!isUntracked) this.#owners.set(name, new Set([...own, ...changed]));
    const kept = Object.entries({ ...this.data, ...data }).filter(([key]) => !removed.includes(key));
    this.data = Object.fromEntries(kept);
    return true;
  }

  get owned(): Record<string, readonly string[]> {
    const entries = [...this.#owners].filter(([, keys]) => keys.size > 0);
    return Object.fromEntries(entries.map(([name, keys]) => [name, [...keys].sort()]));
  }
}

const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom('apply', 'force', 'update', 'patch'),
  manager: fc.constantFrom('a', 'b', 'c'),
  version: fc.constantFrom('g/v1', 'g/v2'),
  data: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.constantFrom('1', '2'), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
});

test('random writes through two versions match the reference model', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
      const stored = new Stored();
      const model = new Model();
      for (const each of steps) {
        const { object: before, isUntracked } = stored;
        const accepted = stored.write(each);
        expect(accepted).toBe(model.take(each, isUntracked));
        expect(accepted || stored.object === before).toBe(true);
        expect(stored.data).toEqual(model.data);
        expect(stored.owned).toEqual(model.owned);
      }
    }),
    { numRuns: 500 },
  );
});

test('an owned key changes only by its owner, by force, by an update or when it is dropped', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 14 }), (steps) => {
      const stored = new Stored();
      for (const each of steps) {
        const { data: before, owned } = stored;
        stored.write(each);
        if (each.verb !== 'apply') continue;
        for (const [owner, keys] of Object.entries(owned)) {
          if (owner === `Apply ${each.manager}`) continue;
          for (const key of keys) expect(stored.data[key]).toBe(before[key]);
        }
      }
    }),
    { numRuns: 500 },
  );
});
