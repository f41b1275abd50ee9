import * as fc from 'fast-check';
import { StatusError } from '../../../../shared/errors/status-error';
import type { KindType } from '../../../../shared/schema/types';
import { kindType, UNSTRUCTURED } from '../../../../shared/schema/types';
import { listPaths } from '../../../../shared/fieldset/field-set';
import { parseFieldSet } from '../../../../shared/fieldset/parse';
import { ManagedObject } from './testing/managed-object';

type Data = Readonly<Record<string, string>>;

/** One write to an object that is a map of texts. */
interface Step {
  readonly verb: 'apply' | 'force' | 'update' | 'patch';
  readonly manager: string;
  readonly data: Data;
}

/** Stands among the keys for the map itself, which belongs to the updater that made it, and to who applies it empty. */
const WHOLE = '';

/** Who owns which key, by the rules in their plainest form: a set of keys for every manager and way of writing. */
class Model {
  data: Data = {};
  owners = new Map<string, Set<string>>();
  /** The applier of an empty map owns it. As it is not stored then, a manager that fills it changes it. */
  readonly #ownsEmpty: boolean;
  /** An apply has emptied the map, which stands there all the same: who fills it changes only keys. */
  #isLeftEmpty = false;

  constructor(ownsEmpty = false) {
    this.#ownsEmpty = ownsEmpty;
  }

  /** False when the write is refused. `isUntracked`: the object is there and has no managedFields. */
  take({ verb, manager, data }: Step, isUntracked = false): boolean {
    if (verb === 'update' || verb === 'patch') {
      const next = verb === 'update' ? data : { ...this.data, ...data };
      if (isUntracked) this.data = next;
      else this.#update(manager, next);
      return true;
    }
    // The first apply books what was written before it on a manager of that name.
    if (isUntracked && !isEmpty(this.data)) {
      this.#own('Update before-first-apply', [WHOLE, ...Object.keys(this.data)]);
    }
    const accepted = this.#apply(manager, data, verb === 'force');
    if (isUntracked && !accepted) this.owners.delete('Update before-first-apply');
    return accepted;
  }

  #update(manager: string, next: Data): void {
    const changed = Object.keys(next).filter((key) => next[key] !== this.data[key]);
    const removed = Object.keys(this.data).filter((key) => next[key] === undefined);
    if (changed.length + removed.length === 0) return;
    this.#isLeftEmpty = false;
    const [was, is] = [isEmpty(this.data), isEmpty(next)];
    this.#takeAway([...changed, ...removed, ...(was === is ? [] : [WHOLE])]);
    this.#own(`Update ${manager}`, [...changed, ...(was && !is ? [WHOLE] : [])]);
    this.data = next;
  }

  #own(owner: string, keys: readonly string[]): void {
    this.owners.set(owner, new Set([...(this.owners.get(owner) ?? []), ...keys]));
  }

  #apply(manager: string, config: Data, force: boolean): boolean {
    const name = `Apply ${manager}`;
    const before = this.owners.get(name) ?? new Set();
    const others = [...this.owners].filter(([each]) => each !== name);
    const changed = Object.keys(config).filter((key) => config[key] !== this.data[key]);
    const isOwnedEmpty = this.#ownsEmpty && isEmpty(config);
    const isNew = isEmpty(this.data) && !this.#isLeftEmpty && (changed.length > 0 || isOwnedEmpty);
    const touched = [...changed, ...(isNew ? [WHOLE] : [])];
    if (!force && others.some(([, keys]) => touched.some((key) => keys.has(key)))) return false;
    const isFree = (key: string): boolean => others.every(([, keys]) => !keys.has(key));
    const gone = [...before].filter((key) => config[key] === undefined && isFree(key));
    this.#takeAway(touched);
    this.owners.set(name, new Set(isOwnedEmpty ? [WHOLE] : Object.keys(config)));
    const kept = Object.entries({ ...this.data, ...config }).filter(([key]) => !gone.includes(key));
    this.data = Object.fromEntries(kept);
    this.#isLeftEmpty = !this.#ownsEmpty && isEmpty(this.data);
    return true;
  }

  #takeAway(keys: readonly string[]): void {
    for (const owned of this.owners.values()) for (const key of keys) owned.delete(key);
  }

  get owned(): Record<string, readonly string[]> {
    const entries = [...this.owners].map(
      ([name, keys]) => [name, [...keys].filter((key) => key !== WHOLE).sort()] as const,
    );
    return Object.fromEntries(entries.filter(([, keys]) => keys.length > 0));
  }
}

function isEmpty(data: Data): boolean {
  return Object.keys(data).length === 0;
}

const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom('apply', 'force', 'update', 'patch'),
  manager: fc.constantFrom('a', 'b', 'c'),
  data: fc.dictionary(fc.constantFrom('x', 'y', 'z', 'w'), fc.constantFrom('1', '2'), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
});

/** The keys that each owner has below one field. */
function keysOwned(object: ManagedObject, field: string): Record<string, readonly string[]> {
  const owned: [string, readonly string[]][] = [];
  for (const { operation = '', manager = '', fieldsV1 } of object.entries) {
    const paths = listPaths(parseFieldSet(fieldsV1) ?? {});
    const keys = paths.filter((path) => path.length === 2 && path[0] === `f:${field}`);
    if (keys.length > 0) {
      owned.push([`${operation} ${manager}`, keys.map((path) => (path[1] ?? '').slice(2)).sort()]);
    }
  }
  return Object.fromEntries(owned);
}

function write(object: ManagedObject, { verb, manager, data }: Step, field: string): boolean {
  const body = { metadata: { name: 'o' }, [field]: data };
  try {
    if (verb === 'update') object.update(manager, body);
    else if (verb === 'patch') object.patch(manager, body);
    else object.apply(manager, body, { force: verb === 'force' });
    return true;
  } catch (error) {
    if (error instanceof StatusError && error.status.reason === 'Conflict') return false;
    throw error;
  }
}

test.each<[string, KindType, string, boolean]>([
  ['a config map', kindType('core/v1.ConfigMap'), 'data', true],
  ['an object without schema', UNSTRUCTURED, 'spec', false],
])('random writes to %s match the reference model', (_what, type, field, ownsEmpty) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
      const object = new ManagedObject(type, 'v1');
      const model = new Model(ownsEmpty);
      for (const each of steps) {
        const before = object.object;
        const isUntracked = before !== undefined && object.entries.length === 0;
        const accepted = write(object, each, field);
        expect(accepted).toBe(model.take(each, isUntracked));
        expect(accepted || object.object === before).toBe(true);
        expect(object.data(field) ?? {}).toEqual(model.data);
        expect(keysOwned(object, field)).toEqual(model.owned);
        // Everything that is there and that somebody wrote is owned, and the entries are canonical.
        for (const { fieldsV1 } of object.entries) expect(parseFieldSet(fieldsV1)).toBe(fieldsV1);
      }
    }),
    { numRuns: 300 },
  );
});

test('random writes of keyed items: only owned items are removed, and a repeated apply changes nothing', () => {
  const type = kindType('core/v1.Service');
  const ports = (data: Data): object[] =>
    Object.entries(data).map(([key, value]) => ({ port: key.charCodeAt(0), protocol: 'TCP', name: value }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), (steps) => {
      const object = new ManagedObject(type, 'v1');
      const model = new Model();
      for (const { verb, manager, data } of steps) {
        if (verb === 'update' || verb === 'patch') continue;
        const body = { metadata: { name: 's' }, spec: { ports: ports(data) } };
        let accepted = true;
        try {
          object.apply(manager, body, { force: verb === 'force' });
          const { object: once } = object;
          expect(object.apply(manager, body)).toEqual(once);
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          accepted = false;
        }
        expect(accepted).toBe(model.take({ verb, manager, data }));
        const spec = object.data('spec') as { ports?: { port: number; name: string }[] } | undefined;
        const found = (spec?.ports ?? []).map(({ port, name }) => [String.fromCharCode(port), name]);
        expect(Object.fromEntries(found)).toEqual(model.data);
      }
    }),
    { numRuns: 200 },
  );
});
