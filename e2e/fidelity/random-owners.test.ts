import type { Arbitrary } from 'fast-check';
import { array, assert, asyncProperty, constantFrom, nat, record } from 'fast-check';
import { minimalObject } from '../../apiserver/testing/minimal-objects';
import { collectionOf } from '../../apiserver/testing/stored-rows';
import { isJsonObject } from '../../shared/object/clone';
import { MEDIA_TYPE } from '../../shared/names';
import type { ResourceRow } from '../../shared/api/resources';
import type { Edit } from './edited-object';
import { editedObject } from './edited-object';
import type { Answered, RandomServer } from './testing/random-server';
import { edit, RANDOM_ROWS, RUN_OPTIONS, startRandomServer } from './testing/random-server';

/**
 * Several managers write one object in all its versions: by applies with changing field sets, by patches and by PUT. Each write starts from the
 * nulls, empty lists and owners in other versions that the previous one left.
 */
let server: RandomServer;
beforeAll(async () => {
  server = await startRandomServer();
});
afterAll(async () => {
  await server.api.close();
});

type Way = 'apply' | 'merge patch' | 'strategic merge patch' | 'put';

interface Write {
  readonly way: Way;
  readonly manager: string;
  readonly version: number;
  readonly ofStatus: boolean;
  readonly changes: Edit[];
  /** The metadata that it writes. */
  readonly marks: object;
  /** Paths to fields that are left out, or null in patches. */
  readonly dropped: number[][];
}

const MARKS: readonly object[] = [
  { annotations: { note: 'x' } },
  { labels: { tier: 'y' } },
  { labels: { tier: 'z' }, finalizers: ['example.com/hold'] },
];

const anyWrite: Arbitrary<Write> = record({
  way: constantFrom<Way[]>('apply', 'apply', 'apply', 'merge patch', 'strategic merge patch', 'put'),
  manager: constantFrom('a', 'b'),
  version: nat(5),
  ofStatus: constantFrom(false, false, false, true),
  changes: array(edit, { maxLength: 1 }),
  marks: constantFrom<object[]>({}, ...MARKS),
  dropped: array(array(nat(30), { minLength: 1, maxLength: 5 }), { maxLength: 1 }),
});

const writable = RANDOM_ROWS.filter(({ verbs }) => verbs.includes('update') && verbs.includes('patch'));
const nameOfHub = ({ hub, resource }: ResourceRow): string => `${hub.group}/${resource}`;
/** The rows of each kind: its versions in all groups. */
const KINDS: readonly (readonly ResourceRow[])[] = [...new Set(writable.map(nameOfHub))].map((name) =>
  writable.filter((row) => nameOfHub(row) === name),
);

test('writes of several managers in any version are readable in every version, and no change when applied again', async () => {
  let accepted = 0;
  let refused = 0;
  await assert(
    asyncProperty(
      constantFrom(...KINDS),
      array(anyWrite, { minLength: 2, maxLength: 6 }),
      async (rows, writes) => {
        const urls = rows.map((row) => `${collectionOf(row)}/${minimalObject(row, 'default').metadata.name}`);
        try {
          for (const each of writes) {
            const at = each.version % rows.length;
            const answer = await send(rows[at]!, urls[at]!, each);
            if (answer.code < 400) accepted += 1;
            else refused += 1;
            const codes = await Promise.all(urls.map(async (url) => (await server.call('GET', url)).code));
            expect(new Set(codes).size).toBe(1);
          }
        } finally {
          await server.remove(urls[0]!);
        }
      },
    ),
    RUN_OPTIONS,
  );
  // A server that refused every write would satisfy the other assertions.
  expect(accepted).toBeGreaterThan(refused / 2);
  process.stdout.write(
    `random writes of several managers: ${String(accepted)} accepted, ${String(refused)} refused\n`,
  );
});

const TYPES: Readonly<Record<Exclude<Way, 'put'>, string>> = {
  apply: MEDIA_TYPE.applyPatch,
  'merge patch': MEDIA_TYPE.mergePatch,
  'strategic merge patch': MEDIA_TYPE.strategicMergePatch,
};

async function send(row: ResourceRow, object: string, write: Write): Promise<Answered> {
  const { way, manager, dropped } = write;
  const hasStatus = row.subresources.some(({ name }) => name === 'status');
  const place = `${object}${write.ofStatus && hasStatus ? '/status' : ''}?fieldManager=${manager}`;
  const minimal = minimalObject(row, 'default');
  if (way === 'put') {
    const { code, json } = await server.call('GET', object);
    const next = edited(code === 200 ? json : minimal, row, write);
    return server.call('PUT', place, without(next, dropped));
  }
  const body = edited(minimal, row, write);
  if (way !== 'apply') return server.call('PATCH', place, without(body, dropped, null), TYPES[way]);
  const sent = without(body, dropped);
  const applied = await server.call('PATCH', `${place}&force=true`, sent, TYPES.apply);
  if (applied.code >= 400) return applied;
  const again = await server.call('PATCH', `${place}&force=true`, sent, TYPES.apply);
  // A create clears fields that an update refuses or keeps, such as a status. An object may be deleted with its last finalizer.
  const isLast = applied.code === 201 || 'deletionTimestamp' in applied.json.metadata;
  if (isLast || isRefusedNow(again)) return applied;
  expect([again.code, contentOf(again)]).toEqual([200, contentOf(applied)]);
  return applied;
}

/** An empty merge key is not stored, and is missing afterwards. */
function isRefusedNow({ code, json }: Answered): boolean {
  return code === 400 && String(json['message']).startsWith('failed to create typed live object');
}

/** Removes managed fields and generations, which may still change. */
function contentOf({ json }: Answered): unknown {
  const {
    managedFields: _owners,
    resourceVersion: _version,
    generation: _count,
    ...metadata
  } = json.metadata;
  return { ...json, metadata };
}

function edited(object: Answered['json'], row: ResourceRow, { changes, marks }: Write): object {
  return editedObject({ ...object, metadata: { ...object.metadata, ...marks } }, row.schema, changes);
}

/** Returns a copy without the fields at these paths, or with this value there. Identifying fields stay. */
function without(object: object, ways: readonly (readonly number[])[], value?: null): object {
  const copy = structuredClone(object) as Record<string, unknown>;
  for (const way of ways) drop(copy, way, value);
  return copy;
}

const KEPT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'name', 'namespace', 'metadata']);

function drop(from: Record<string, unknown>, [step = 0, ...rest]: readonly number[], value?: null): void {
  const names = Object.keys(from);
  const name = names[step % Math.max(1, names.length)];
  if (name === undefined) return;
  const held = Array.isArray(from[name]) ? (from[name] as readonly unknown[])[0] : from[name];
  if (rest.length > 0 && isJsonObject(held)) drop(held, rest, value);
  else if (KEPT.has(name)) return;
  else if (value === null) from[name] = null;
  else delete from[name];
}
